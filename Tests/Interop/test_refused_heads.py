"""Requests whose heads are refused pass the interceptors like any other: CORS, request ids, logs and metrics see them."""

import json

import pytest

from support.http2 import HTTP2Client

ORIGIN = "https://app.example"
CHAIN = [
    {"access_log": {"format": "json"}}, {"request_id": {}}, {"cors": {"origins": [ORIGIN]}},
    {"headers": {"response": {"set": {"x-here": "yes"}}}},
]
FIELDS = [("origin", ORIGIN), ("x-request-id", "the-id")]


@pytest.fixture
def gateway(start, configuration, rest):
    return start(configuration(interceptors=CHAIN, limits={"target": 1024, "header": 4096}))


def check_line(gateway, status, **more):
    line = json.loads(gateway.access_log(1)[0])
    assert line["status"] == status and line["route"] == "(none)" and line["code"] == "invalid_argument", line
    assert more.items() <= line.items(), line
    assert gateway.metric("turnout_requests_total", route="(none)", code="invalid_argument") == 1


HEADS = {
    "large": (431, "GET", b"GET /v1/books/b1 HTTP/1.1\r\nHost: a\r\n%sX-Large: " + b"x" * 5000),
    "length": (400, "POST", b"POST /v1/books/b1 HTTP/1.1\r\nHost: a\r\n%sContent-Length: +1\r\n\r\n"),
    "field": (400, "GET", b"GET /v1/books/b1 HTTP/1.1\r\nHost: a\r\n%sBad Name: 1\r\n\r\n"),
    "no host": (400, "GET", b"GET /v1/books/b1 HTTP/1.1\r\n%s\r\n"),
    "two hosts": (400, "GET", b"GET /v1/books/b1 HTTP/1.1\r\nHost: a\r\n%sHost: b\r\n\r\n"),
}


@pytest.mark.parametrize("shape", HEADS)
def test_http1(gateway, rest, shape):
    status, method, head = HEADS[shape]
    fields = b"".join(b"%s: %s\r\n" % (name.encode(), value.encode()) for name, value in FIELDS)
    with gateway.connect() as wire:
        wire.send(head % fields)
        answer = wire.answer()
        assert answer.status == status and answer.closes and answer.json()["code"] == 3
        assert answer["access-control-allow-origin"] == ORIGIN and answer["vary"] == "Origin"
        assert answer["x-request-id"] == "the-id" and answer["x-here"] == "yes"
    check_line(gateway, status, method=method, path="/v1/books/b1", protocol="HTTP/1.1", request_id="the-id")
    assert not rest.requests


def test_a_request_line_that_cannot_be_read(gateway, rest):
    """Nothing is known of it, but that there was something."""
    with gateway.connect() as wire:
        wire.send(b"GET /#x HTTP/1.1\r\n")
        answer = wire.answer()
        assert answer.status == 400 and answer.closes and answer["x-here"] == "yes"
    check_line(gateway, 400, method="GET", path="")
    assert not rest.requests


def test_the_head_that_does_not_end(start, configuration):
    gateway = start(configuration(interceptors=CHAIN, timeouts={"request_head": "300ms"}))
    with gateway.connect() as wire:
        wire.send(b"GET /v1/books/b1 HTTP/1.1\r\nOrigin: %s\r\nX-Re" % ORIGIN.encode())
        answer = wire.answer()
        assert answer.status == 408 and answer.closes
        assert answer["access-control-allow-origin"] == ORIGIN and answer["x-request-id"]
    assert json.loads(gateway.access_log(1)[0])["status"] == 408


@pytest.mark.parametrize("status, path, more", [(414, "/" + "a" * 2000, []), (431, "/v1/books/b1", [("x", "b" * 5000)])])
def test_http2(gateway, rest, status, path, more):
    with HTTP2Client(gateway.address) as client:
        answer = client.ask("GET", path, [*FIELDS, *more])
        assert answer.status == status and answer.json()["code"] == 3
        assert answer["access-control-allow-origin"] == ORIGIN and answer["x-here"] == "yes"
        assert answer["x-request-id"] == "the-id"
        check_line(gateway, status, method="GET", protocol="HTTP/2", request_id="the-id")
        assert client.ask("GET", "/v1/books/b1").status == 200
    assert len(rest.requests) == 1


def test_who_would_refuse_it_for_another_reason(start, configuration, rest):
    """The head is what is wrong, whatever it would be lacking besides; who stands behind the refusal is not asked."""
    chain = [*CHAIN, {"api_key": {"keys": ["k"]}}, {"headers": {"response": {"set": {"x-inner": "no"}}}}]
    gateway = start(configuration(interceptors=chain, limits={"target": 1024}))
    with HTTP2Client(gateway.address) as client:
        answer = client.ask("GET", "/" + "a" * 2000, FIELDS)
        assert answer.status == 414 and answer["x-here"] == "yes" and answer["x-inner"] is None
        assert client.ask("GET", "/v1/books/b1").status == 401
    with gateway.connect() as wire:
        wire.send(b"GET / HTTP/1.1\r\n\r\n")
        answer = wire.answer()
        assert answer.status == 400 and answer["x-here"] == "yes" and answer["x-inner"] is None
    assert not rest.requests


def test_a_connect_client_is_told_in_connect(gateway, rpc):
    with HTTP2Client(gateway.address) as client:
        fields = [("connect-protocol-version", "1"), ("content-type", "application/json"), ("x", "b" * 5000)]
        answer = client.ask("POST", "/any.Service/Method", fields, b"{}")
        assert answer.status == 431 and answer.json()["code"] == "invalid_argument"
        assert "larger than the limit" in answer.json()["message"]


def test_the_answer_to_a_head_request_has_no_body(gateway):
    with gateway.connect() as wire:
        wire.send(b"HEAD /v1/books/b1 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        answer = wire.answer("HEAD")
        assert answer.status == 400 and not answer.body
        assert wire.is_closed()
