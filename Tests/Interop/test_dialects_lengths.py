"""gRPC answers whose heads say a length though trailers follow, as Go's server sends small ones: the end stands in the
trailers, whoever asks."""

import json
import struct
import time

import pytest

from support.echo import SERVICE
from support.http2 import HTTP2Upstream

HEAD = [("content-type", "application/grpc+proto"), ("x-head", "h")]
ONE = struct.pack(">BI", 0, 4) + b"\x0a\x02hi"
OK = [("grpc-status", "0"), ("x-tail", "t")]
GONE = [("grpc-status", "5"), ("grpc-message", "it%20is%20gone"), ("x-tail", "t")]
CALLERS = ["connect", "connect-h2", "grpc", "grpc-runtime", "grpc-web", "grpc-web-h2", "grpc-web-text"]
METHODS = {
    "Say": {"http": {"post": "/v1/say", "body": "*"}},
    "Hear": {"http": {"get": "/v1/hear/{text}"}},
    "Tell": {"http": {"post": "/v1/tell/{number}", "body": "*"}},
}


def apart(exchange, body, trailers):
    """The head is long there when the rest comes."""
    exchange.head(200, [*HEAD, ("content-length", str(len(body)))])
    time.sleep(0.05)
    exchange.data(body)
    exchange.connection.h2.send_headers(exchange.stream, trailers, end_stream=True)
    exchange.connection.flush()


def together(exchange, body, trailers):
    h2 = exchange.connection.h2
    h2.send_headers(exchange.stream, [(":status", "200"), *HEAD, ("content-length", str(len(body)))])
    # An empty frame is no message either.
    h2.send_data(exchange.stream, body)
    h2.send_headers(exchange.stream, trailers, end_stream=True)
    exchange.connection.flush()


@pytest.fixture(params=[apart, together], ids=["apart", "together"])
def before(request, start, echo_gateways):
    """A gateway before an upstream that answers with this body and these trailers."""
    made = []

    def make(body, trailers):
        made.append(HTTP2Upstream(lambda exchange: request.param(exchange, body, trailers)))
        setup = echo_gateways.configuration("grpc")
        setup["upstreams"]["echo"] = {"protocol": "grpc", "http": "2", "endpoints": [made[-1].url]}
        setup["services"][SERVICE]["methods"] = METHODS
        return start(setup)

    yield make
    for one in made:
        one.close()


def test_an_error_of_no_message(before, call):
    gateway = before(b"", GONE)
    for caller in CALLERS:
        for method in METHODS:
            got = call(caller, gateway, method)
            assert (got.lines, got.code, got.message) == ([], "not_found", "it is gone"), (caller, method)
            assert got.trailers["x-tail"] == "t", (caller, method)


def test_a_stream_of_no_message(before, call):
    gateway = before(b"", OK)
    for caller in CALLERS:
        got = call(caller, gateway, "Hear")
        assert (got.lines, got.code, got.trailers.get("x-tail")) == ([], None, "t"), caller
        assert got.headers["x-head"] == "h", caller


@pytest.mark.parametrize("trailers, code", [(OK, None), (GONE, "not_found")])
def test_one_message(before, call, trailers, code):
    gateway = before(ONE, trailers)
    for caller in CALLERS:
        got = call(caller, gateway, "Hear")
        assert ([line.text for line in got.lines], got.code) == (["hi"], code), caller
        assert (got.headers["x-head"], got.trailers["x-tail"]) == ("h", "t"), caller
        for method in ("Say", "Tell"):
            got = call(caller, gateway, method)
            assert (got.code, got.trailers["x-tail"]) == (code, "t"), (caller, method)


@pytest.mark.parametrize("method, target, body", [
    ("POST", "/v1/say", b"{}"), ("GET", "/v1/hear/x", b""), ("POST", "/v1/tell/1", b'{"text":"a"}\n')])
def test_rest_callers(before, method, target, body):
    gateway = before(b"", GONE)
    fields = [("Content-Type", "application/json")] if body else []
    answer = gateway.fetch(method, target, fields, body)
    assert (answer.status, answer["x-head"], answer["trailer-x-tail"]) == (404, "h", "t")
    assert json.loads(answer.body) == {"code": 5, "message": "it is gone", "details": []}
