"""What a peer can make the gateway hold, and how long it can keep it waiting."""

import threading

import pytest

from support.echo import SERVICE as ECHO
from support.echo_clients import CLIENTS
from support.gateway import wait_until
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.wire import NotWhole, Wire, request_bytes

JSON = [("Content-Type", "application/json")]


@pytest.fixture
def gateway(start, configuration):
    return start(configuration(
        stage="rpc", fallback="legacy", limits={"message": "64KiB", "header": "4KiB", "fields": 20, "target": "1KiB"}))


def message(size):
    """A JSON body of exactly this size."""
    return b'{"title":"' + b"x" * (size - 12) + b'"}'


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("size, fits", [(64 << 10, True), ((64 << 10) + 1, False)])
def test_a_message_of_exactly_the_limit_fits(gateway, rpc, framing, size, fits):
    from support.wire import chunked

    rpc.script = lambda call, context: rpc.pb.Book(id="fits")

    def ask(target):
        body = message(size)
        assert len(body) == size
        if framing == "length":
            return gateway.fetch("POST", target, JSON, body)
        with gateway.connect() as wire:
            wire.send(request_bytes("POST", target, [*JSON, ("Transfer-Encoding", "chunked")]))
            parts = [body[i : i + 5000] for i in range(0, size, 5000)]
            wire.send(chunked(parts))
            return wire.answer()

    answer = ask("/v1/shelves/s1/books")
    assert answer.status == (200 if fits else 413), answer
    body = b'{"book":' + message(size - 9) + b"}"
    assert len(body) == size
    answer = gateway.fetch("POST", f"/{SERVICE}/CreateBook", JSON, body)
    assert (answer.status == 200) == fits
    if not fits:
        assert (answer.status, answer.json()["code"]) == (429, "resource_exhausted")
        assert not rpc.calls


def test_an_answer_beyond_the_limit(gateway, rest):
    answer = gateway.fetch("GET", "/v1/books/b1?titleSize=70000")
    assert answer.status in (429, 500, 502), answer
    assert "xxxx" not in answer.body.decode()


def test_what_passes_through_has_no_such_limit(gateway, rest):
    rest.answers(lambda request: Reply(200, body=request.body))
    assert gateway.fetch("POST", "/upload", [], b"x" * (1 << 20)).body == b"x" * (1 << 20)


@pytest.mark.parametrize("data, status", [
    (request_bytes("GET", "/" + "a" * 2000), 414),
    (request_bytes("GET", "/a", [("X-Long", "a" * 5000)]), 431),
    (request_bytes("GET", "/a", [(f"X-{number}", "a") for number in range(30)]), 431),
])
def test_a_head_beyond_its_limits(gateway, rest, data, status):
    with gateway.connect() as wire:
        wire.send(data + request_bytes("GET", "/a"))
        answer = wire.answer()
        assert answer.status == status and answer.closes
        assert wire.is_closed()
    assert not rest.requests


def test_a_head_of_the_upstream_beyond_its_limits(gateway, rest):
    rest.answers(Reply(200, [("X-Long", "a" * 5000)], b"ok"))
    assert gateway.fetch("GET", "/healthy").status == 502


@pytest.fixture
def hasty(start, configuration):
    return start(configuration(
        stage="rpc", fallback="legacy", timeouts={"request_head": "500ms", "idle": "700ms", "request_body": "1s"}))


def test_a_slow_head(hasty, rest):
    with hasty.connect() as wire:
        wire.send(b"GET / HTTP/1.1\r\nHost:")
        answer = wire.answer()
        assert answer.status == 408 and answer.closes
        assert wire.is_closed()
    with hasty.connect() as wire:
        with pytest.raises((ConnectionError, AssertionError)):
            for _ in range(100):
                wire.send(b"a")
                threading.Event().wait(0.1)
                if wire.socket.recv(1, 0x40 | 0x02) if _readable(wire) else False:
                    raise ConnectionError
            raise AssertionError("ten seconds for a head")
    assert not rest.requests


def _readable(wire):
    import select

    return bool(select.select([wire.socket], [], [], 0)[0])


def test_a_slow_body(hasty, rpc):
    with hasty.connect() as wire:
        wire.send(request_bytes("POST", "/v1/shelves/s1/books", [*JSON, ("Content-Length", "100")]) + b"{")
        answer = wire.answer()
        assert answer.status in (408, 504) and answer.closes
    assert not rpc.calls


def test_an_idle_connection_is_closed(hasty):
    with hasty.connect() as unused, hasty.connect() as used:
        assert used.request("GET", "/v1/books/b1").status == 200
        assert unused.is_closed() and used.is_closed()


def test_requests_per_connection(start, configuration):
    gateway = start(configuration(limits={"requests_per_connection": 3}))
    with gateway.connect() as wire:
        assert [wire.request("GET", "/v1/books/b1").closes for _ in range(3)] == [False, False, True]
        assert wire.is_closed()


def test_more_connections_than_allowed_wait(start, configuration, rest):
    gateway = start(configuration(limits={"connections": 10}))
    held = [Wire(gateway.address) for _ in range(10)]
    for wire in held:
        assert wire.request("GET", "/v1/books/b1").status == 200
    late = Wire(gateway.address)
    late.send(request_bytes("GET", "/v1/books/late"))
    assert not _soon(late), "one connection too many was served"
    held.pop().close()
    assert late.answer().json() == book("late")
    for wire in [*held, late]:
        wire.close()
    wait_until(lambda: gateway.metric("turnout_connections") == 0, what="closed connections")


def _soon(wire):
    import select

    return bool(select.select([wire.socket], [], [], 0.5)[0])


def test_a_budget_for_all_buffers(start, configuration, rpc):
    gateway = start(configuration(stage="rpc", limits={"message": "1MiB", "buffers": "1MiB"}))
    # Three bodies that are held half read.
    held = [Wire(gateway.address) for _ in range(3)]
    for wire in held:
        wire.send(request_bytes("POST", "/v1/shelves/s1/books", [*JSON, ("Content-Length", "600000")]))
        wire.send(b"x" * 500_000)
    refused = wait_until(lambda: [wire for wire in held if _within(wire, 0)], what="a refusal at 1 MiB of 1.5 MB")
    for wire in refused:
        assert wire.answer().status == 503
    for wire in held:
        wire.close()
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="free buffers")
    assert gateway.fetch("POST", "/v1/shelves/s1/books", JSON, message(100_000)).status == 200
    assert len(rpc.calls) == 1


def _within(wire, seconds):
    import select

    return bool(select.select([wire.socket], [], [], seconds)[0])


@pytest.mark.parametrize("dialect", ["connect", "grpc", "grpc-web"])
def test_of_a_stream_that_passes_each_message_is_measured(start, echo_gateways, echo_schema, line, dialect):
    """Not their sum: a stream may be as long as it likes. Translated for another dialect, it is the same."""
    setup = echo_gateways.configuration(dialect if dialect != "connect" else "connect-h2")
    setup["services"][ECHO]["limits"] = {"request": "4KiB", "response": "4KiB"}
    gateway = start(setup)
    for spoken in (dialect, "grpc-runtime" if dialect == "connect" else "connect-h2"):
        client = CLIENTS[spoken](echo_schema, gateway.address)
        answer = client.call("Hear", line(count=20, size=2000))
        assert answer.code is None and len(answer.lines) == 20, answer
        answer = client.call("Hear", line(count=3, size=5000))
        assert (answer.code, len(answer.lines)) == ("resource_exhausted", 0), answer
        answer = client.call("Hear", line(text="x" * 5000))
        assert answer.code == "resource_exhausted", answer
        client.close()


def test_of_a_raw_body_that_passes_the_whole_is_measured(start, configuration, rest):
    """Of a described route and of the fallback, with a length and without."""
    limits = {"request": "1KiB", "response": "1KiB"}
    gateway = start(configuration(service={"limits": limits}, fallback={"upstream": "legacy", "limits": limits}))
    for target in ("/v1/books/b1", "/elsewhere"):
        for size, status in ((1024, 200), (1025, 502)):
            rest.answers(lambda request: Reply(200, body=b"x" * size))
            assert gateway.fetch("GET", target).status == status
        rest.answers(lambda request: Reply(200, chunks=[b"x" * 1000, b"x" * 1000]))
        with gateway.connect() as wire, pytest.raises((NotWhole, OSError)):
            wire.send(request_bytes("GET", target))
            wire.answer()
