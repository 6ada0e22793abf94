"""Clients that read nothing, send too much, leave, or ask for what nobody should: the gateway stays whole and bounded."""

import contextlib
import select
import signal
import threading
import time

import pytest

from support.gateway import Gateway, settled, wait_until
from support.raw_before import before, upstream
from support.rest_service import Reply
from support.wire import request_bytes

MEBIBYTE = 1 << 20


def push(plain, data, at_most, quiet=2.0):
    """Sends the data again and again until nobody takes it any more, or so many bytes were taken."""
    plain.setblocking(False)
    taken = 0
    while taken < at_most:
        if not select.select([], [plain], [], quiet)[1]:
            break
        try:
            taken += plain.send(data[taken % len(data):] if taken % len(data) else data)
        except BlockingIOError:
            pass
        except ConnectionError:
            break
    plain.setblocking(True)
    return taken


def test_pipelining_without_reading_is_bounded(start, configuration, rest):
    """Who reads no answers is not asked for: an upstream hears of few of the requests."""
    gateway = start(configuration(fallback="legacy"))
    rest.answers(Reply(200, body=b"x" * 200_000))
    with gateway.connect(receive_buffer=4096) as wire:
        wire.send(request_bytes("GET", "/anything") * 400)
        wait_until(lambda: len(rest.requests) >= 2)
        assert settled(lambda: len(rest.requests), quiet=1) < 60
        # It may still have its answers.
        for _ in range(5):
            assert len(wire.answer().body) == 200_000


def test_refused_pipelining_without_reading_is_bounded(start, configuration):
    gateway = start(configuration())
    with gateway.connect(receive_buffer=4096) as wire:
        taken = push(wire.socket, b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n" * 2000, 64 * MEBIBYTE)
        assert taken < 32 * MEBIBYTE, "everything was taken from a client that reads nothing"
        assert gateway.resident_bytes() < 200 * MEBIBYTE
        for _ in range(1000):
            assert wire.answer().status == 404


@pytest.mark.parametrize("version, fields", [("HTTP/1.0", []), ("HTTP/1.1", [("Connection", "close")])])
def test_a_late_reader_gets_the_last_answer_whole(gateway_on_rpc, version, fields):
    """The connection ends with its answer and not before, however late that is read."""
    with gateway_on_rpc.connect(receive_buffer=4096) as wire:
        wire.send(request_bytes("GET", "/v1/books/b?title_size=4000000", fields, version=version))
        time.sleep(4)
        answer = wire.answer()
        assert len(answer.json()["title"]) == 4_000_000
        assert wire.is_closed()


@pytest.mark.parametrize("size", [300_000, 600_000, 1_000_000])
def test_the_end_of_an_answer_to_a_congested_client(start, configuration, rest, size):
    """The end comes at the moment when the congestion ends."""
    gateway = start(configuration(fallback="legacy"))
    rest.answers(Reply(200, chunks=[b"z" * 10_000] * (size // 10_000)))
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(gateway.connect(receive_buffer=16384)) for _ in range(10)]
        for wire in wires:
            wire.send(request_bytes("GET", "/anything", [("Connection", "close")]))
        time.sleep(0.2)
        for wire in wires:
            assert len(wire.answer().body) == size


@pytest.mark.parametrize("size", [MEBIBYTE, 4 * MEBIBYTE])
def test_a_large_body_before_the_connection_is_there(start, configuration, upstream, size):
    """The upstream has one connection, which is busy: what was read meanwhile must not be all that is ever read."""
    go = threading.Event()

    def handle(connection):
        while head := connection.head():
            if b"POST" in head:
                connection.take(size)
            else:
                go.wait(30)
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    setup = before(configuration, upstream(handle).url, workers=1)
    setup["upstreams"]["legacy"]["max_connections"] = 1
    gateway = start(setup)
    with gateway.connect() as first, gateway.connect() as second:
        first.send(request_bytes("GET", "/slow"))
        time.sleep(0.3)
        sender = threading.Thread(target=second.send, args=(request_bytes("POST", "/large", body=b"b" * size),), daemon=True)
        sender.start()
        time.sleep(1)
        go.set()
        assert first.answer().body == b"ok"
        second.socket.settimeout(15)
        assert second.answer().body == b"ok"
        sender.join(5)


REFUSED = {
    "a head too large": (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X-A: %s\r\n" % (b"a" * 8000) * 100 + b"\r\n", 431),
    "a target too long": (b"GET /" + b"a" * 400_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    "no HTTP": (b"\x16\x03\x01" + b"\0" * 400_000, 400),
    "two lengths": (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n" + b"x" * 400_000, 400),
}


@pytest.mark.parametrize("data, status", REFUSED.values(), ids=REFUSED.keys())
def test_a_refusal_reaches_who_is_still_sending(gateway_on_rest, data, status):
    """Closing over unread bytes would reset the connection and take the answer away."""
    for _ in range(5):
        with gateway_on_rest.connect() as wire:
            try:
                wire.send(data)
            except ConnectionError:
                pass
            assert wire.answer().status == status
            # In order, and not by a reset, which on some systems takes the answer away.
            assert wire.socket.recv(1) == b""


def test_http_1_0_never_hears_of_100(gateway_on_rest, rest):
    """RFC 9110 section 10.1.1."""
    with gateway_on_rest.connect() as wire:
        wire.send(request_bytes("POST", "/anything", [("Expect", "100-continue")], b"abc", version="HTTP/1.0"))
        assert wire.head().status == 404


def websocket(body=(), **more):
    return request_bytes("GET", "/socket", [("Connection", "Upgrade"), ("Upgrade", "websocket"), *body], **more)


def accept_upgrades(connection):
    """Answers 101 when asked, else 200, then echoes."""
    while (head := connection.head()) is not None:
        if b"websocket" not in head.lower():
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain")
            continue
        connection.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        while True:
            if connection.unread:
                connection.send(connection.unread)
                connection.unread = b""
            if not connection.more():
                return


def test_http_1_0_is_never_upgraded(start, configuration, upstream):
    """RFC 9110 section 7.8: a server ignores Upgrade in an HTTP/1.0 request."""
    gateway = start(before(configuration, upstream(accept_upgrades).url))
    with gateway.connect() as wire:
        wire.send(websocket(version="HTTP/1.0"))
        assert wire.answer().status == 200


def test_what_comes_before_the_101_is_the_tunnels(start, configuration, upstream):
    """More of it than is read ahead."""
    def handle(connection):
        connection.head()
        time.sleep(1)
        connection.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        count = len(connection.unread)
        while count < 300_000:
            connection.unread = b""
            connection.more()
            count += len(connection.unread)
        connection.send(b"%d" % count)

    gateway = start(before(configuration, upstream(handle).url))
    with gateway.connect() as wire:
        wire.send(websocket())
        threading.Thread(target=wire.send, args=(b"t" * 300_000,), daemon=True).start()
        wire.socket.settimeout(15)
        answer = wire.head()
        assert answer.status == 101
        assert not answer.closes
        assert wire.exactly(6) == b"300000"


def test_a_101_names_its_protocol_once_and_never_closes(start, configuration, upstream):
    gateway = start(before(configuration, upstream(accept_upgrades).url, limits={"requests_per_connection": 1}))
    with gateway.connect() as wire:
        wire.send(websocket())
        answer = wire.head()
        assert answer.status == 101
        assert [value.lower() for value in answer.all("connection")] == ["upgrade"]
        assert [value.lower() for value in answer.all("upgrade")] == ["websocket"]
        wire.send(b"hello")
        assert wire.exactly(5) == b"hello"


@pytest.mark.parametrize("framing", [[("Transfer-Encoding", "chunked")], [("Content-Length", "3")]])
def test_an_upgrade_with_a_body_is_no_upgrade(start, configuration, upstream, framing):
    """The bytes of the tunnel must never be taken for those of the body, nor framed like them."""
    seen = []

    def handle(connection):
        seen.append(connection)
        while (head := connection.head()) is not None:
            connection.take(3 if b"content-length" in head else 13)
            if b"websocket" in head:
                connection.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
                return
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain")

    gateway = start(before(configuration, upstream(handle).url))
    with gateway.connect() as wire:
        wire.send(websocket(framing) + (b"3\r\nabc\r\n0\r\n\r\n" if "Tr" in framing[0][0] else b"abc"))
        assert wire.answer().body == b"plain"


@pytest.mark.parametrize("then", ["the answer is read late", "the head was out before"])
def test_draining_forgets_no_connection(start, configuration, upstream, then):
    """A connection that was busy when the drain began ends with its answer, and the process with it."""
    go = threading.Event()

    def handle(connection):
        while connection.head() is not None:
            if "late" in then:
                connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + b"d" * 4_000_000)
                continue
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
            go.wait(30)
            connection.send(b"def")

    gateway = start(before(configuration, upstream(handle).url, drain="25s"))
    with gateway.connect(receive_buffer=4096) as wire:
        wire.send(request_bytes("GET", "/anything"))
        time.sleep(0.5)
        gateway.signal(signal.SIGTERM)
        time.sleep(0.5)
        go.set()
        assert wire.answer().body == (b"d" * 4_000_000 if "late" in then else b"abcdef")
        assert gateway.process.wait(10) == 0


def test_answers_that_nobody_reads_count_against_the_budget(start, configuration, rpc):
    """A translated answer is held whole until its client takes it: so many may be held, and no more."""
    gateway = start(configuration("rpc", limits={"message": "4MiB", "buffers": "24MiB"}))
    readers = [gateway.connect(receive_buffer=4096) for _ in range(8)]
    for reader in readers:
        reader.send(request_bytes("GET", "/v1/books/b?title_size=4000000"))
    assert settled(lambda: gateway.metric("turnout_buffered_bytes"), quiet=1) <= 24 << 20
    statuses = sorted(reader.head().status for reader in readers)
    assert statuses[0] == 200 and statuses[-1] == 503
    for reader in readers:
        reader.close()
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="an empty budget")
    assert gateway.fetch("GET", "/v1/books/b?title_size=4000000").status == 200
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="an empty budget again")


def test_out_of_descriptors(tmp_path, configuration, rest, rpc):
    """Accepting waits and upstreams are refused; nothing dies, and all works again afterwards."""
    gateway = Gateway(tmp_path / "few", configuration(fallback="legacy"), descriptors=64)
    try:
        wires = [gateway.connect(timeout=5) for _ in range(100)]
        for wire in wires:
            wire.send(request_bytes("GET", "/anything"))
        statuses = []
        for wire in wires:
            try:
                statuses.append(wire.answer().status)
            except TimeoutError:
                break
            # Those who have their answer make room.
            wire.close()
        assert len(statuses) == 100 and set(statuses) <= {200, 404, 503}, statuses
        wait_until(lambda: gateway.descriptors() < 50)
        for _ in range(20):
            assert gateway.fetch("GET", "/v1/books/b1").status == 200
        assert gateway.stop() == 0
    finally:
        gateway.discard()


def test_a_drain_loses_no_request_that_the_kernel_has(start, configuration, rest):
    """The process is stopped for a moment: requests come on old and new connections, and then the order to end."""
    gateway = start(configuration(fallback="legacy", workers=1))
    rest.answers(Reply(200, body=b"served"))
    old, new = [gateway.connect() for _ in range(5)], []
    for wire in old:
        assert wire.request("GET", "/anything").body == b"served"
    gateway.signal(signal.SIGSTOP)
    new = [gateway.connect() for _ in range(5)]
    for wire in [*old, *new]:
        wire.send(request_bytes("GET", "/anything"))
    gateway.signal(signal.SIGTERM)
    gateway.signal(signal.SIGCONT)
    assert [wire.answer().body for wire in [*old, *new]] == [b"served"] * 10
    assert gateway.process.wait(20) == 0
