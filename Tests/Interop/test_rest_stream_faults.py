"""Streams of upstreams that go wrong in their middle, and what REST callers read of them: the messages before, then one
error in the caller's form. Nothing that went wrong looks like a stream that is whole."""

import gzip
import signal
import struct

import pytest

from support.echo import SERVICE
from support.http2 import HTTP2Client, HTTP2Upstream
from support.wire import request_bytes
from test_rest_streams import TYPES, messages

GRPC = [("content-type", "application/grpc+proto")]
ZIPPED = [*GRPC, ("grpc-encoding", "gzip")]
WEB = [("content-type", "application/grpc-web+proto")]
STREAM = [("content-type", "application/connect+proto")]
OK = [("grpc-status", "0")]


def frame(flags, payload):
    return struct.pack(">BI", flags, len(payload)) + payload


ONE = frame(0, b"\x0a\x02hi")


def reset(code):
    def answer(exchange):
        exchange.head(200, GRPC)
        exchange.data(ONE)
        exchange.refuse(code)
    return answer


def dies(exchange):
    exchange.head(200, GRPC)
    exchange.data(ONE)
    exchange.connection.socket.close()


FAULTS = {
    # The protocol, the answer, the code.
    "an error": ("grpc", (200, GRPC, ONE, [("grpc-status", "10"), ("grpc-message", "a%0Ab%20%e2%9c%93%")]), 10),
    "no status": ("grpc", (200, GRPC, ONE), 2),
    "a status that is none": ("grpc", (200, GRPC, ONE, [("grpc-status", "x")]), 2),
    "half a message": ("grpc", (200, GRPC, ONE + ONE[:-1], OK), 13),
    "half a head": ("grpc", (200, GRPC, ONE + ONE[:4], OK), 13),
    "bytes that are no message": ("grpc", (200, GRPC, ONE + frame(0, b"\xff\xff"), OK), 13),
    "text that is no UTF-8": ("grpc", (200, GRPC, ONE + frame(0, b"\x0a\x02\xff\xfe"), OK), 13),
    "a message over the limit": ("grpc", (200, GRPC, ONE + frame(0, b"\x12\x80\x10" + bytes(2048)), OK), 8),
    "a length over the limit": ("grpc", (200, GRPC, ONE + b"\0\xff\xff\xff\xff"), 8),
    "a bomb": ("grpc", (200, ZIPPED, ONE + frame(1, gzip.compress(bytes(1 << 22))), OK), 8),
    "no gzip": ("grpc", (200, ZIPPED, ONE + frame(1, b"no gzip"), OK), 13),
    "half of a gzip": ("grpc", (200, ZIPPED, ONE + frame(1, gzip.compress(b"\x0a\x02hi")[:-3]), OK), 13),
    "compressed with nothing": ("grpc", (200, GRPC, ONE + frame(1, b"x"), OK), 13),
    "unknown flags": ("grpc", (200, GRPC, ONE + frame(4, b""), OK), 13),
    "a reset": ("grpc", (reset(2),), 13),
    "a cancelled stream": ("grpc", (reset(8),), 1),
    "a dead connection": ("grpc", (dies,), 14),
    "web without trailers": ("grpc-web", (200, WEB, ONE), 13),
    "web with bytes behind the trailers": ("grpc-web", (200, WEB, ONE + frame(0x80, b"grpc-status: 0\r\n") + ONE), 13),
    "Connect without an end": ("connect", (200, STREAM, ONE), 13),
    "Connect with two ends": ("connect", (200, STREAM, ONE + frame(2, b"{}") + frame(2, b"{}")), 13),
    "Connect with an end that is none": ("connect", (200, STREAM, ONE + frame(2, b"{")), 13),
    "Connect with an error": (
        "connect", (200, STREAM, ONE + frame(2, b'{"error":{"code":"aborted","message":"a\\nb"}}')), 10),
}


@pytest.fixture
def before(start, echo_gateways):
    made = []

    def make(protocol, *answer, **top):
        def whole(exchange):
            if callable(answer[0]):
                answer[0](exchange)
            else:
                exchange.answer(*answer)

        made.append(HTTP2Upstream(whole))
        setup = echo_gateways.configuration("grpc", limits={"message": "1KiB"}, **top)
        setup["upstreams"]["echo"] = {"protocol": protocol, "http": "2", "endpoints": [made[-1].url]}
        setup["services"][SERVICE]["methods"] = {"Hear": {"http": {"get": "/v1/hear/{text}"}}}
        return start(setup)

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("form", TYPES)
def test_the_end_of_a_drain(before, form):
    def begins(exchange):
        exchange.head(200, GRPC)
        exchange.data(ONE)

    gateway = before("grpc", begins, drain="500ms")
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/v1/hear/x", [("Accept", TYPES[form])]))
        answer = wire.head()
        gateway.signal(signal.SIGTERM)
        found, error = messages(form, wire.body_of(answer).body.decode())
    assert ([one["text"] for one in found], error["code"]) == (["hi"], 14)
    assert gateway.process.wait(60) == 0


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_in_mid_stream(before, what):
    protocol, answer, code = FAULTS[what]
    gateway = before(protocol, *answer)
    for form, accept in TYPES.items():
        with HTTP2Client(gateway.address) as client:
            over2 = client.ask("GET", "/v1/hear/x", [("accept", accept)])
            assert over2.ended and over2.reset is None
        over1 = gateway.fetch("GET", "/v1/hear/x", [("Accept", accept)])
        for got in (over1, over2):
            assert (got.status, got["content-type"]) == (200, accept), form
            found, error = messages(form, bytes(got.body).decode())
            assert error is not None, f"{form} looks whole: {bytes(got.body)}"
            assert ([one["text"] for one in found], error["code"]) == (["hi"], code), form
            assert error["message"]
