"""Upstreams that answer too early, too much, too often, or die at any byte: a client gets one whole answer or sees that there is none."""

import contextlib
import threading
import time

import pytest

from support.raw_before import answering, before, upstream
from support.schema import SERVICE
from support.wire import NotWhole, chunked, request_bytes

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

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
                assert answer.status in (500 if SERVICE in target else 502, 503), (cut, whole[:cut], answer)
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
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(gateway.connect(receive_buffer=16384)) for _ in range(3)]
        for wire in wires:
            wire.send(request_bytes("POST", "/anything", body=b"b" * 50_000))
        time.sleep(1)
        for wire in wires:
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
