"""Upstreams that answer too early, too much, too often, or die at any byte: a client gets one whole answer or sees that there is none."""

import select
import socket
import threading
import time

import pytest

from support.gateway import wait_until
from support.raw_upstream import RawUpstream
from support.schema import SERVICE
from support.wire import NotWhole, chunked, request_bytes

JSON = [("Content-Type", "application/json")]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
def upstream():
    """Makes raw upstreams and closes them."""
    made = []

    def make(handle, **more):
        made.append(RawUpstream(handle, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


def before(configuration, url, stage="rest", **more):
    """A configuration in which all upstreams, the fallback's too, are this one."""
    setup = configuration(stage, fallback="legacy", **more)
    for one in setup["upstreams"].values():
        one["endpoints"] = [url]
    return setup


def answering(*answers):
    """A handler that sends these one after the other, the last one again and again."""
    def handle(connection):
        turn = 0
        while connection.head() is not None:
            connection.send(answers[min(turn, len(answers) - 1)])
            turn += 1
    return handle


EARLY = {
    "an error that closes": (b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!", 413, True),
    "an error that stays": (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!", 403, False),
    "a success that closes": (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nyes", 200, True),
    "a success that stays": (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes", 200, False),
}


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("answer, status, closes", EARLY.values(), ids=EARLY.keys())
def test_an_answer_in_the_middle_of_a_large_body(start, configuration, upstream, answer, status, closes, framing):
    """The caller gets it, whether it reads while it sends or only afterwards, and the next one gets his own."""
    def handle(connection):
        while (head := connection.head()) is not None:
            if b"POST" not in head:
                connection.send(OK)
                continue
            while len(connection.unread) < 10_000:
                # Without an end to it, a loop at the end of a connection would take the time of all other threads.
                if not connection.more(1000):
                    return
            connection.send(answer)
            if closes:
                return
            time.sleep(0.3)
            if framing == "length":
                connection.take(size)
            else:
                while b"\r\n0\r\n\r\n" not in connection.unread:
                    if not connection.more():
                        return
                # The next request may be there already.
                connection.unread = connection.unread.split(b"\r\n0\r\n\r\n", 1)[1]

    gateway = start(before(configuration, upstream(handle).url))
    size = 3_000_000
    body = b"b" * size if framing == "length" else chunked([b"b" * 1000] * (size // 1000))
    fields = [] if framing == "length" else [("Transfer-Encoding", "chunked")]
    for reads_meanwhile in (True, False):
        with gateway.connect() as wire:
            data = request_bytes("POST", "/anything", fields, body)
            if reads_meanwhile:
                threading.Thread(target=lambda: quietly(wire.send, data), daemon=True).start()
            else:
                quietly(wire.send, data)
            found = wire.answer()
            assert (found.status, len(found.body)) == (status, 3)
        assert gateway.fetch("GET", "/next").body == b"ok"


def quietly(function, *arguments):
    try:
        function(*arguments)
    except OSError:
        pass


WHOLE = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"id\":\"b1\"}",
    "chunked": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"5\r\n{\"id\"\r\n6;x=y\r\n:\"b1\"}\r\n0\r\nX-T: 1\r\n\r\n",
    "interim": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
               b"Content-Length: 11\r\n\r\n{\"id\":\"b1\"}",
}


@pytest.mark.parametrize("how", ["closes", "resets"])
@pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE.keys())
def test_an_end_at_every_byte(start, configuration, upstream, whole, how):
    """Passed on and translated: an error or a broken connection, and never half an answer that looks whole."""
    cut = 0

    def handle(connection):
        if connection.head() is None:
            return
        connection.send(whole[:cut])
        if how == "resets":
            time.sleep(0.005)
            connection.reset()

    gateway = start(before(configuration, upstream(handle).url))
    for target in ("/anything", "/v1/books/b1", f"/{SERVICE}/GetBook?connect=v1&encoding=json&message=%7B%22id%22%3A%22b1%22%7D"):
        for cut in range(len(whole)):
            with gateway.connect() as wire:
                wire.send(request_bytes("GET", target))
                try:
                    answer = wire.answer()
                except (NotWhole, ConnectionError):
                    assert "SERVICE" not in target
                    continue
                assert answer.status in (502, 503), (cut, whole[:cut], answer)
        cut = len(whole)
        assert gateway.fetch("GET", target).json() == {"id": "b1"}


BODYLESS = {
    "204": (b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil", "GET"),
    "304": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil", "GET"),
    "HEAD": (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "HEAD"),
    "chunked 204": (b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n", "GET"),
    "a second answer": (OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "GET"),
    "too long": (OK + b"evil", "GET"),
    "chunks and more": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nevil", "GET"),
}


@pytest.mark.parametrize("delayed", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize("answer, method", BODYLESS.values(), ids=BODYLESS.keys())
def test_bytes_behind_an_answer_are_nobodys(start, configuration, upstream, answer, method, delayed):
    def handle(connection):
        head = connection.head()
        while head is not None:
            if b"/next" in head:
                connection.send(OK)
            elif delayed:
                end = answer.index(b"evil" if b"HTTP/1.1 200 OK\r\nContent-Length: 4" not in answer[10:] else answer[-42:])
                connection.send(answer[:end])
                time.sleep(0.02)
                connection.send(answer[end:])
            else:
                connection.send(answer)
            head = connection.head()

    gateway = start(before(configuration, upstream(handle).url, workers=1))
    for _ in range(5):
        with gateway.connect() as wire:
            wire.send(request_bytes(method, "/anything"))
            found = wire.answer(method)
            assert found.status < 400 and b"evil" not in found.body
            if delayed:
                time.sleep(0.1)
            for _ in range(3):
                assert wire.request("GET", "/next").body == b"ok"
                time.sleep(0.01)


def test_a_flood_of_interim_answers(start, configuration, upstream):
    """No window holds them back, so their number is bounded."""
    def handle(connection):
        connection.head()
        for _ in range(100_000):
            connection.send(b"HTTP/1.1 103 Early Hints\r\nLink: <" + b"a" * 1000 + b">\r\n\r\n")
        connection.send(OK)

    gateway = start(before(configuration, upstream(handle).url))
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/anything"))
        assert wire.answer().status == 502
    assert gateway.fetch("GET", "/v1/books/b1").status == 502


@pytest.mark.parametrize("size", [100_000, 1_000_000, 8_000_000])
def test_a_reset_behind_a_whole_answer(start, configuration, upstream, size):
    """The upstream has closed over our unread body: what it said before is still the answer, for slow clients too."""
    def handle(connection):
        connection.head()
        connection.send(
            b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % size + b"r" * size)
        # Closing with unread bytes is a reset.
        time.sleep(0.5)

    gateway = start(before(configuration, upstream(handle).url))
    for _ in range(3):
        with gateway.connect(receive_buffer=16384) as wire:
            wire.send(request_bytes("POST", "/anything", body=b"b" * 50_000))
            time.sleep(1)
            answer = wire.answer()
            assert (answer.status, len(answer.body)) == (403, size)


def test_a_slow_client_before_a_dead_upstream_costs_nothing(start, configuration, upstream):
    """While an answer waits for its reader, the upstream's end is not reported again and again."""
    def handle(connection):
        connection.head()
        connection.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 9000000\r\n\r\n" + b"r" * 6_000_000)
        connection.reset()

    gateway = start(before(configuration, upstream(handle).url))
    with gateway.connect(receive_buffer=4096) as wire:
        wire.send(request_bytes("GET", "/anything"))
        time.sleep(1)
        spent = cpu_seconds(gateway)
        time.sleep(2)
        assert cpu_seconds(gateway) - spent < 0.5
        with pytest.raises((NotWhole, ConnectionError)):
            wire.answer()


def cpu_seconds(gateway):
    with open(f"/proc/{gateway.process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_a_reload_takes_the_upstream_out_while_it_answers(start, configuration, upstream):
    """The last call ends on an endpoint that nothing else knows any more."""
    go = threading.Event()

    def handle(connection):
        while connection.head() is not None:
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
            go.wait(30)
            connection.send(b"def")

    old, new = upstream(handle), upstream(answering(OK))
    gateway = start(before(configuration, old.url, workers=1))
    for number in range(3):
        go.clear()
        with gateway.connect() as wire, gateway.connect() as leaving:
            wire.send(request_bytes("GET", "/anything"))
            leaving.send(request_bytes("GET", "/anything"))
            assert wire.head().status == 200
            gateway.write(before(configuration, new.url, workers=1))
            assert gateway.admin("POST", "/reload").status == 200
            assert gateway.fetch("GET", "/v1/anything").body == b"ok"
            gateway.write(before(configuration, new.url, workers=1, drain="9s"))
            assert gateway.admin("POST", "/reload").status == 200
            leaving.close()
            go.set()
            assert wire.exactly(6) == b"abcdef"
            assert wire.request("GET", "/anything").body == b"ok"
            gateway.write(before(configuration, old.url, workers=1))
            assert gateway.admin("POST", "/reload").status == 200
    assert gateway.process.poll() is None


@pytest.fixture
def blackhole():
    """An address at which connecting takes forever: its backlog is full."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    fillers = []
    for _ in range(4):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(listener.getsockname())
        fillers.append(filler)
    time.sleep(0.1)
    yield "http://127.0.0.1:%d" % listener.getsockname()[1]
    for filler in fillers:
        filler.close()
    listener.close()


def test_nobody_answers_the_connect(start, configuration, blackhole):
    gateway = start(before(configuration, blackhole, timeouts={"connect": "400ms"}))
    for target in ("/anything", "/v1/books/b1"):
        assert gateway.fetch("GET", target).status == 503
    answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", [*JSON, ("Connect-Timeout-Ms", "100")], b"{\"id\": \"b\"}")
    assert (answer.status, answer.json()["code"]) == (504, "deadline_exceeded")
    # Who leaves while the connection is opened leaves nothing behind.
    count = gateway.descriptors()
    for _ in range(20):
        with gateway.connect() as wire:
            wire.send(request_bytes("POST", "/anything", body=b"x" * 1000))
            time.sleep(0.01)
    wait_until(lambda: gateway.descriptors() <= count, what="all descriptors closed")
    assert gateway.metric("turnout_upstream_connections") == 0


def test_tunnels_hold_back_both_ways(start, configuration, upstream):
    """Neither side can make the gateway hold what the other does not read; at the end nothing is lost."""
    go = threading.Event()
    counts = {}
    size = 40_000_000

    def handle(connection):
        connection.head()
        connection.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        go.wait(30)
        sender = threading.Thread(target=connection.send, args=(b"u" * size,))
        sender.start()
        count = len(connection.unread)
        while count < size:
            connection.unread = connection.received = b""
            if not connection.more(1 << 20):
                break
            count += len(connection.unread)
        counts["upstream"] = count
        sender.join()

    gateway = start(before(configuration, upstream(handle).url))
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/socket", [("Connection", "Upgrade"), ("Upgrade", "websocket")]))
        assert wire.head().status == 101
        sender = threading.Thread(target=wire.send, args=(b"c" * size,))
        sender.start()
        time.sleep(1)
        assert sender.is_alive(), "all was taken though nobody reads"
        assert resident(gateway) < 100 << 20
        go.set()
        time.sleep(1)
        assert resident(gateway) < 100 << 20
        assert len(wire.exactly(size)) == size
        sender.join(20)
        assert wire.is_closed()
    assert counts["upstream"] == size


def resident(gateway):
    with open(f"/proc/{gateway.process.pid}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS"))


@pytest.mark.parametrize("side", ["client", "upstream"])
def test_a_tunnel_ends_with_either_side(start, configuration, upstream, side):
    ended = threading.Event()

    def handle(connection):
        connection.head()
        connection.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
        if side == "upstream":
            connection.send(b"t" * 1_000_000)
            return
        while connection.more():
            pass
        ended.set()

    gateway = start(before(configuration, upstream(handle).url))
    with gateway.connect(receive_buffer=8192) as wire:
        wire.send(request_bytes("GET", "/socket", [("Connection", "Upgrade"), ("Upgrade", "websocket")]))
        assert wire.head().status == 101
        assert wire.exactly(5) == b"hello"
        if side == "upstream":
            time.sleep(3)
            assert len(wire.exactly(1_000_000)) == 1_000_000
            assert wire.is_closed()
    if side == "client":
        assert ended.wait(10)


@pytest.mark.parametrize("odd", [b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
                                 b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"])
def test_a_switch_to_something_else_is_refused(start, configuration, upstream, odd):
    gateway = start(before(configuration, upstream(answering(odd)).url))
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/socket", [("Connection", "Upgrade"), ("Upgrade", "websocket")]))
        assert wire.answer().status == 502


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_never_more_connections_than_allowed(start, configuration, upstream, host):
    """Those that came while the name was looked up count as well, and nobody is forgotten."""
    lock = threading.Lock()
    counts = {"now": 0, "most": 0}

    def handle(connection):
        with lock:
            counts["now"] += 1
            counts["most"] = max(counts["most"], counts["now"])
        while connection.head() is not None:
            time.sleep(0.02)
            connection.send(OK)
        with lock:
            counts["now"] -= 1

    setup = before(configuration, upstream(handle).url.replace("127.0.0.1", host), workers=1)
    setup["upstreams"]["legacy"]["max_connections"] = 2
    gateway = start(setup)
    wires = [gateway.connect() for _ in range(20)]
    for wire in wires:
        wire.send(request_bytes("GET", "/anything"))
    assert [wire.answer().body for wire in wires] == [b"ok"] * 20
    assert counts["most"] <= 2


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1", "http://does-not-exist.invalid:80"])
def test_all_who_wait_hear_that_nobody_is_there(start, configuration, endpoint):
    setup = before(configuration, endpoint, workers=1, timeouts={"connect": "2s"})
    setup["upstreams"]["legacy"]["max_connections"] = 1
    gateway = start(setup)
    wires = [gateway.connect(timeout=20) for _ in range(20)]
    for wire in wires:
        wire.send(request_bytes("GET", "/anything"))
    assert [wire.answer().status for wire in wires] == [503] * 20
