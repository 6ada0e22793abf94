"""Clients that speak HTTP/2 from the first byte, before backends that do not."""

import json
import re
import shutil
import signal
import subprocess
import threading
import time

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


def curl(*arguments, body=None):
    done = subprocess.run(
        ["curl", "-sS", "-i", "--http2-prior-knowledge", "--max-time", "60", *map(str, arguments)], input=body,
        capture_output=True)
    assert done.returncode == 0, done.stderr
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    return head.decode(), body


def test_curl(gateway_on_rest, rest):
    head, body = curl(gateway_on_rest.url + "/v1/books/b1")
    assert head.startswith("HTTP/2 200")
    assert json.loads(body) == book("b1")
    assert rest.only()["host"] == "%s:%d" % gateway_on_rest.address


def test_curl_sends_a_body(gateway_on_rest, rest):
    value = {"title": "x" * 200_000}
    head, body = curl(
        "-X", "POST", "-H", "content-type: application/json", "--data-binary", "@-",
        gateway_on_rest.url + "/v1/shelves/s/books", body=json.dumps(value).encode())
    assert head.startswith("HTTP/2 201")
    assert json.loads(body) == {**value, "id": "new", "shelf": "s"}
    assert rest.only().json() == value


def test_both_versions_on_one_port(gateway_on_rest, client):
    assert client.ask("GET", "/v1/books/b1").json() == book("b1")
    assert gateway_on_rest.fetch("GET", "/v1/books/b1").json() == book("b1")


@pytest.mark.skipif(not shutil.which("h2load"), reason="h2load is not installed")
def test_h2load(gateway_on_rpc):
    done = subprocess.run(
        [
            "h2load", "-n", "2000", "-c", "4", "-m", "16", "-H", "content-type: application/json",
            gateway_on_rpc.url + "/v1/books/b1",
        ], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(r"2000 succeeded, 0 failed, 0 errored, 0 timeout", done.stdout), done.stdout
    assert "2000 2xx" in done.stdout


def test_connect_over_http2(gateway_on_rest, client):
    fields = [("content-type", "application/json"), ("connect-protocol-version", "1")]
    answer = client.ask("POST", f"/{SERVICE}/GetBook", fields, b'{"id":"b7"}')
    assert answer.status == 200 and answer["content-type"] == "application/json"
    assert answer.json()["id"] == "b7"
    answer = client.ask("POST", f"/{SERVICE}/GetBook", fields, b"{")
    assert answer.status == 400 and answer.json()["code"] == "invalid_argument"


def test_many_streams_on_one_connection(gateway_on_rest, client, rest):
    """All are under way at the same time: each waits for the others."""
    meeting = threading.Barrier(40)

    def script(request):
        meeting.wait(60)
        return Reply.json({"path": request.path})

    rest.answers(script)
    streams = [client.start("GET", f"/other/{number}") for number in range(40)]
    for number, stream in enumerate(streams):
        answer = client.finish(stream)
        assert answer.status == 200 and answer.json() == {"path": f"/other/{number}"}


def test_no_more_streams_than_announced(gateway_on_rest, client):
    client.wait_for(lambda: client.settings)
    assert client.settings[3] == 128
    assert client.settings[6] == 32 << 10


def test_head_and_what_has_no_body(client, rest):
    answer = client.ask("HEAD", "/v1/books/b1")
    assert answer.status == 200 and not answer.body and int(answer["content-length"]) > 0
    rest.answers(Reply(204))
    answer = client.ask("DELETE", "/v1/books/b1")
    assert answer.status == 204 and answer["content-length"] is None and not answer.body
    assert [request.method for request in rest.requests] == ["HEAD", "DELETE"]
    assert rest.requests[1]["content-length"] is None


def test_fields_become_those_of_http1(client, rest):
    client.ask(
        "GET", "/other?q=1", [
            ("cookie", "a=1"), ("x-one", "1"), ("cookie", "b=2"), ("te", "trailers"), ("host", "Gateway.test"),
            ("x-one", "2"), ("cookie", "c=3"),
        ])
    request = rest.only()
    assert request.target == "/other?q=1"
    assert request.all("cookie") == ["a=1; b=2; c=3"]
    assert request.all("x-one") == ["1", "2"]
    assert request.all("host") == ["gateway.test"]
    assert request["te"] is None and request["content-length"] is None and request["transfer-encoding"] is None


def test_bodies_of_unknown_length_and_trailers(client, rest):
    rest.answers(lambda request: Reply(
        200, [("Trailer", "X-Sum")], chunks=[b"an", b"swer"], trailers=[("X-Sum", "6"), ("Content-Length", "99")]))
    stream = client.start("POST", "/other", [("content-type", "text/plain")], b"ques", end=False)
    client.data(stream, b"tion")
    client.trailers(stream, [("x-asked", "8")])
    answer = client.finish(stream)
    assert bytes(answer.body) == b"answer" and answer.trailers == [("x-sum", "6")]
    request = rest.only()
    assert request.body == b"question" and request["transfer-encoding"] == "chunked"
    assert request.trailers == [("x-asked", "8")]


def test_interim_answers(client, rest):
    def script(request):
        request.send(b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n")
        return Reply.json({})

    rest.answers(script)
    answer = client.ask("GET", "/other")
    assert answer.interim == [[(":status", "103"), ("link", "</s.css>")]]
    assert answer.status == 200


def test_a_client_that_waits_to_go_on(client, rest):
    stream = client.start("POST", "/other", [("expect", "100-continue"), ("content-length", "4")], end=False)
    assert client.wait_for(lambda: client.answers[stream].interim)
    assert client.answers[stream].interim == [[(":status", "100")]]
    client.data(stream, b"body", end=True)
    assert client.finish(stream).status == 404
    assert rest.only().body == b"body" and rest.only()["expect"] is None


SHAPES = {
    "a path with a blank": dict(path="/v1/books/b 1"),
    "a path with a fragment": dict(path="/v1/books/b1#x"),
    "a path with a line": dict(path="/v1/books/b1 HTTP/1.1\r\nX: 1"),
    "an absolute path": dict(path="http://evil.test/"),
    "a method with a blank": dict(method="GET /x HTTP/1.1\r\nhost: a"),
    "another host": dict(fields=[("host", "evil.test")]),
    "two hosts": dict(fields=[("host", "gateway.test"), ("host", "gateway.test")]),
    "user information": dict(authority="u@gateway.test"),
    "transfer-encoding": dict(fields=[("transfer-encoding", "chunked")]),
    "connection": dict(fields=[("connection", "x-one"), ("x-one", "1")]),
    "upgrade": dict(fields=[("upgrade", "websocket")]),
    "te": dict(fields=[("te", "gzip")]),
    "a value with a line": dict(fields=[("x", "1\r\ny: 2")]),
    "a value with NUL": dict(fields=[("x", "1\0")]),
    "a name with a colon": dict(fields=[("x:y", "1")]),
    "an upper-case name": dict(fields=[("X-Y", "1")]),
    "content-length with zeros": dict(fields=[("content-length", "00")]),
    "two content-lengths": dict(fields=[("content-length", "0"), ("content-length", "1")]),
    "a length without a body": dict(fields=[("content-length", "5")]),
    "extended CONNECT": dict(pseudo=[
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", "/x"),
        (":authority", "gateway.test")]),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_malformed_requests_reach_nobody(gateway_on_rest, client, rest, shape):
    shape = {"method": "GET", "path": "/other", **shape}
    before = gateway_on_rest.metric("turnout_http2_faults_total", scope="stream")
    answer = client.ask(shape.pop("method"), shape.pop("path"), **shape)
    assert answer.reset == h2.errors.ErrorCodes.PROTOCOL_ERROR and not answer.fields
    assert gateway_on_rest.metric("turnout_http2_faults_total", scope="stream") == before + 1
    assert client.ask("GET", "/v1/books/b1").status == 200
    assert [request.target for request in rest.requests] == ["/v1/books/b1"]


@pytest.mark.parametrize("shape, status", [
    (dict(path="/" + "x" * 9000), 414), (dict(fields=[("x", "y" * 40_000)]), 431),
    (dict(fields=[(f"x{number}", "") for number in range(200)]), 431),
    (dict(pseudo=[(":method", "CONNECT"), (":authority", "gateway.test:443")]), 501),
], ids=["path", "field", "fields", "CONNECT"])
def test_what_is_too_much_is_answered(client, rest, shape, status):
    answer = client.ask("GET", **{"path": "/other", **shape})
    assert answer.status == status and answer.ended and answer.json()
    assert client.ask("GET", "/v1/books/b1").status == 200
    assert len(rest.requests) == 1


@pytest.mark.parametrize("sent", [b"123", b"1234567"])
def test_a_body_of_another_length_is_never_whole(gateway_on_rest, client, rest, sent):
    stream = client.start("POST", "/other", [("content-length", "5")], end=False)
    try:
        client.data(stream, sent, end=True)
    except BrokenPipeError:
        pass
    answer = client.finish(stream)
    assert answer.reset == h2.errors.ErrorCodes.PROTOCOL_ERROR
    assert client.ask("GET", "/v1/books/b1").status == 200
    assert [request.target for request in rest.requests] == ["/v1/books/b1"]


@pytest.mark.parametrize("size", [0, 1, 16_384, 65_535, 5_000_000])
def test_sizes(client, rest, size):
    data = bytes(range(251)) * (size // 251 + 1)
    rest.answers(lambda request: Reply(200, [], request.body))
    answer = client.ask("PUT", "/other", body=data[:size])
    assert answer.status == 200 and bytes(answer.body) == data[:size]


def memory(gateway):
    text = open(f"/proc/{gateway.process.pid}/status").read()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) << 10


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
        before = memory(gateway)
        slow = client.start("GET", "/big")
        client.reads = lambda stream: stream != slow
        client.wait_for(lambda: len(client.answers[slow].body) == 1 << 20)
        for _ in range(50):
            assert client.ask("GET", "/small").status == 200
        assert len(client.answers[slow].body) == 1 << 20
        assert memory(gateway) - before < 16 << 20
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
        sent = 0
        while sent < 20 << 20:
            room = min(client.h2.local_flow_control_window(stream), 16_384, (20 << 20) - sent)
            if room <= 0:
                if not client.pump(1):
                    break
                continue
            client.h2.send_data(stream, b"x" * room)
            client.flush()
            sent += room
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
    before = memory(gateway)
    more = [HTTP2Client(gateway.address) for _ in range(300)]
    for client in more:
        assert client.ask("GET", "/v1/books/b1").status == 200
    # A session with its two tables is some 10 KB; a buffer of its own would be 64 KB.
    assert (memory(gateway) - before) / len(more) < 32 << 10
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
