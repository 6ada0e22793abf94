"""Upstreams that take connections and do not let go, tunnels, and how many there may be."""

import socket
import threading
import time

import pytest

from support.gateway import wait_until
from support.raw_before import answering, before, upstream
from support.schema import SERVICE
from support.wire import request_bytes

JSON = [("Content-Type", "application/json")]

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


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
        assert gateway.resident_bytes() < 100 << 20
        go.set()
        time.sleep(1)
        assert gateway.resident_bytes() < 100 << 20
        assert len(wire.exactly(size)) == size
        sender.join(20)
        assert wire.is_closed()
    assert counts["upstream"] == size


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
