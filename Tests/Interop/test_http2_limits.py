"""HTTP/2 clients that are slow, leave, send too much or nothing at all: what it costs them, and nobody else."""

import json
import signal
import threading

import h2.errors
import h2.events
import pytest

from support.gateway import wait_until
from support.http2 import HTTP2Client
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.scripted import read_all
from support.wire import Wire


@pytest.fixture
def client(gateway_on_rest):
    with HTTP2Client(gateway_on_rest.address) as client:
        yield client


def test_a_slow_reader_stops_its_stream_alone(start, configuration, rest):
    """A download that nobody reads waits at the backend, and small calls on the same connection go on."""
    size = 64 << 20

    def script(request):
        if request.path != "/big":
            return Reply.json({})
        request.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size >> 20):
            request.send(b"x" * (1 << 20))

    rest.answers(script)
    gateway = start(configuration(fallback="legacy"))
    with HTTP2Client(gateway.address, window=1 << 20) as client:
        assert client.ask("GET", "/small").status == 200
        before = gateway.resident_bytes()
        slow = client.start("GET", "/big")
        client.reads = lambda stream: stream != slow
        client.wait_for(lambda: len(client.answers[slow].body) == 1 << 20)
        for _ in range(50):
            assert client.ask("GET", "/small").status == 200
        assert len(client.answers[slow].body) == 1 << 20
        assert gateway.resident_bytes() - before < 16 << 20
        client.reads = True
        client.take(slow)
        client.flush()
        assert len(client.finish(slow).body) == size


def test_a_slow_backend_stops_its_upload_alone(start, configuration, rest):
    release = threading.Event()

    def script(request):
        return Reply.json({})

    def slow(connection):
        connection.head()
        release.wait(60)
        connection.take(20 << 20)
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    from support.raw_upstream import RawUpstream
    upstream = RawUpstream(slow, receive_buffer=1 << 16)
    rest.answers(script)
    setup = configuration(fallback="content")
    setup["upstreams"]["content"] = {"protocol": "rest", "endpoints": [upstream.url]}
    setup["services"][SERVICE].pop("rpc")
    gateway = start(setup)
    with HTTP2Client(gateway.address) as client:
        stream = client.start("PUT", "/upload", [("content-length", str(20 << 20))], end=False)
        sent = client.push(stream, 20 << 20)
        assert sent < 8 << 20
        assert client.ask("GET", "/v1/books/b1").status == 200
        release.set()
        client.data(stream, b"x" * ((20 << 20) - sent), end=True)
        assert client.finish(stream).status == 200
    upstream.close()


def test_a_reset_cancels_the_request(client, rest):
    from support.rest_service import hang
    rest.answers(hang)
    stream = client.start("GET", "/other")
    request = rest.wait_for(1)[0]
    client.reset(stream)
    assert request.gone.wait(30)
    rest.answers(Reply.json({}))
    assert client.ask("GET", "/other").status == 200


def test_a_cut_answer_is_seen_as_cut(client, rest):
    rest.answers(Reply(200, [], b"x" * 1000, cut=500))
    answer = client.ask("GET", "/other")
    assert answer.status == 200 and not answer.ended and answer.reset == h2.errors.ErrorCodes.INTERNAL_ERROR
    rest.answers(Reply.json({}))
    assert client.ask("GET", "/other").status == 200


def test_deadlines_are_per_stream(client, rest):
    release = threading.Event()

    def script(request):
        release.wait(60)
        return Reply.json(book("b"))

    rest.answers(script)
    fields = [("content-type", "application/json"), ("connect-protocol-version", "1")]
    patient = client.start("POST", f"/{SERVICE}/GetBook", fields, b'{"id":"b"}')
    hasty = client.start("POST", f"/{SERVICE}/GetBook", [*fields, ("connect-timeout-ms", "200")], b'{"id":"b"}')
    answer = client.finish(hasty)
    assert answer.status == 504 and answer.json()["code"] == "deadline_exceeded"
    release.set()
    assert client.finish(patient).status == 200


def test_an_early_refusal_does_not_wait_for_the_body(client, rest):
    fields = [("content-type", "application/json"), ("content-length", str(5 << 20))]
    stream = client.start("POST", f"/{SERVICE}/CreateBook", fields, end=False)
    answer = client.finish(stream)
    assert answer.status == 429 and answer.json()["code"] == "resource_exhausted"
    assert client.ask("GET", "/v1/books/b1").status == 200


def test_how_calls_are_counted_and_logged(start, configuration, rest):
    setup = configuration(fallback="legacy", via=True)
    rest.answers(Reply(200, [], b"ok"))
    gateway = start(setup)
    with HTTP2Client(gateway.address) as client:
        answer = client.ask("GET", "/other", [("user-agent", "tests")])
        assert answer["via"] == "1.1 turnout"
        assert rest.only()["via"] == "2 turnout"
        line = json.loads(gateway.access_log()[0])
        assert line["protocol"] == "HTTP/2" and line["status"] == 200 and line["user_agent"] == "tests"
        assert gateway.metric("turnout_connections", protocol="http2") == 1
        assert gateway.metric("turnout_connections", protocol="http1") == 0
    wait_until(lambda: gateway.metric("turnout_connections", protocol="http2") == 0)


def test_draining_says_so_at_once(start, configuration, rest):
    release = threading.Event()

    def script(request):
        release.wait(60)
        return Reply.json({})

    rest.answers(script)
    gateway = start(configuration(fallback="legacy"))
    with HTTP2Client(gateway.address) as idle, HTTP2Client(gateway.address) as busy:
        idle.wait_for(lambda: idle.settings)
        stream = busy.start("GET", "/other")
        rest.wait_for(1)
        gateway.signal(signal.SIGTERM)
        assert idle.wait_for(lambda: idle.goaway is not None) and idle.goaway == 0
        assert idle.wait_for_end()
        assert busy.wait_for(lambda: busy.goaway is not None) and busy.goaway == 0
        assert not busy.answers[stream].over
        release.set()
        assert busy.finish(stream).status == 200
        assert busy.wait_for_end()
    assert gateway.process.wait(60) == 0


@pytest.mark.parametrize("more", [
    dict(timeouts={"connection_age": "500ms"}), dict(limits={"requests_per_connection": 3}),
    dict(timeouts={"idle": "500ms"})], ids=["age", "requests", "idle"])
def test_connections_end_by_themselves(start, configuration, rest, more):
    gateway = start(configuration(**more))
    with HTTP2Client(gateway.address) as client:
        for _ in range(3):
            assert client.ask("GET", "/v1/books/b1").status == 200
        assert client.wait_for(lambda: client.goaway is not None) and client.goaway == 0
        assert client.wait_for_end()


def test_an_unread_head_does_not_stay(start, configuration):
    gateway = start(configuration(timeouts={"request_head": "300ms"}))
    with Wire(gateway.address) as wire:
        wire.send(b"PRI * HTTP/2.0\r\n")
        assert read_all(wire.socket) == b""
    with HTTP2Client(gateway.address) as client:
        client.wait_for(lambda: client.settings)
        client.send(b"\0\0\x01\x01\x01\0\0\0\x01\x82")
        assert client.wait_for_end()
    assert gateway.metric("turnout_slow_clients_total") >= 1


def test_a_stream_that_stands_still_ends_alone(start, configuration, rest):
    """Without a window for its answer, or without an answer."""
    from support.rest_service import hang
    rest.answers(lambda request: hang(request) if request.path == "/hang" else Reply(200, [], b"answer"))
    gateway = start(configuration(fallback="legacy", timeouts={"stream_idle": "500ms"}))
    with HTTP2Client(gateway.address, window=0) as client:
        answer = client.ask("GET", "/other")
        assert answer.status == 200 and answer.reset == h2.errors.ErrorCodes.CANCEL and not answer.body
        assert client.ask("HEAD", "/other").ended
        hanging = client.start("GET", "/hang")
        client.wait_for(lambda: client.answers[hanging].fields)
        assert client.answers[hanging].status == 504
        assert client.goaway is None


def test_a_client_that_takes_nothing_is_let_go(start, configuration, rest):
    rest.answers(lambda request: Reply(200, [], b"x" * (32 << 20)))
    gateway = start(configuration(fallback="legacy", timeouts={"stream_idle": "500ms"}))
    with HTTP2Client(gateway.address, window=1 << 30, connection_window=1 << 30) as client:
        client.start("GET", "/big")
        wait_until(lambda: gateway.metric("turnout_connections", protocol="http2") == 1)
        wait_until(lambda: gateway.metric("turnout_connections", protocol="http2") == 0)


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


FLOODS = {
    "resetFlood": lambda n: frame(1, 5, 2 * n + 1, HEAD) + frame(3, 0, 2 * n + 1, b"\0\0\0\x08"),
    "settingsFlood": lambda n: frame(4),
    "pingFlood": lambda n: frame(6, 0, 0, b"12345678"),
    "emptyFrameFlood": lambda n: frame(2, 0, 1, b"\0\0\0\0\x0f"),
    "windowUpdateFlood": lambda n: frame(8, 0, 0, b"\0\0\0\x01"),
    "continuationFlood": lambda n: frame(1, 1, 1, HEAD) if n == 0 else frame(9, 0, 1),
}

# GET / on gateway.test, from the static table and one literal.
HEAD = b"\x82\x86\x84\x01\x0cgateway.test"


@pytest.mark.parametrize("kind", FLOODS)
def test_floods_end_their_connection(start, configuration, rest, kind):
    gateway = start(configuration(fallback="legacy"))
    with HTTP2Client(gateway.address) as client, HTTP2Client(gateway.address) as other:
        client.wait_for(lambda: client.settings)
        try:
            for number in range(3000):
                client.send(FLOODS[kind](number))
        except ConnectionError:
            pass
        wait_until(lambda: gateway.metric("turnout_http2_faults_total", scope="connection", kind=kind) == 1)
        assert other.ask("GET", "/v1/books/b1").status == 200
    wait_until(lambda: gateway.metric("turnout_connections", protocol="http2") == 0)
    assert len(rest.requests) <= 501


def test_garbage_after_the_preface(gateway_on_rest):
    with Wire(gateway_on_rest.address) as wire:
        wire.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        # GOAWAY with PROTOCOL_ERROR.
        assert b"\x07" + 5 * b"\0" + b"\0\0\0\0" + b"\0\0\0\x01" in read_all(wire.socket)
    assert gateway_on_rest.fetch("GET", "/v1/books/b1").status == 200


def test_upgrade_to_h2c_is_ignored(gateway_on_rest, rest):
    answer = gateway_on_rest.fetch(
        "GET", "/v1/books/b1",
        [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQAoAAAAAIAAAAA")])
    assert answer.status == 200 and answer.json() == book("b1")


def test_idle_connections_cost_little(start, configuration):
    gateway = start(configuration(workers=1))
    clients = [HTTP2Client(gateway.address) for _ in range(10)]
    for client in clients:
        assert client.ask("GET", "/v1/books/b1").status == 200
    before = gateway.resident_bytes()
    more = [HTTP2Client(gateway.address) for _ in range(300)]
    for client in more:
        assert client.ask("GET", "/v1/books/b1").status == 200
    # A session with its two tables is some 10 KB; a buffer of its own would be 64 KB.
    assert (gateway.resident_bytes() - before) / len(more) < 32 << 10
    for client in clients + more:
        client.close()
    wait_until(lambda: gateway.metric("turnout_connections", protocol="http2") == 0)


def test_a_short_request_may_end_after_its_answer(client, rest):
    """Some clients take a reset for a failure, although the whole answer came before."""
    stream = client.start("POST", f"/{SERVICE}/GetBook", [("content-type", "text/plain")], end=False)
    client.wait_for(lambda: client.answers[stream].ended)
    assert client.answers[stream].status == 415
    client.data(stream, b"late", end=True)
    assert client.ask("GET", "/v1/books/b1").status == 200
    assert client.answers[stream].reset is None
    # One that does not end is stopped.
    resets = []
    handle = client._handle
    client._handle = lambda event: (resets.append(event) if isinstance(event, h2.events.StreamReset) else None, handle(event))
    stream = client.start("POST", f"/{SERVICE}/GetBook", [("content-type", "text/plain")], end=False)
    client.wait_for(lambda: resets)
    assert client.answers[stream].ended and [reset.error_code for reset in resets] == [0]
