"""Clients that speak HTTP/2 from the first byte, before backends that do not."""

import json
import re
import shutil
import subprocess
import threading

import h2.errors
import h2.events
import pytest

from support.http2 import HTTP2Client
from support.rest_service import Reply, book
from support.schema import SERVICE


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

# GET / on gateway.test, from the static table and one literal.
HEAD = b"\x82\x86\x84\x01\x0cgateway.test"
