"""Backends of the RPC dialects that end their answers wrongly, and what callers of each dialect are told."""

import base64
import gzip
import struct

import pytest

from support.echo import SERVICE
from support.echo_clients import CLIENTS
from support.gateway import wait_until
from support.http2 import HTTP2Client, HTTP2Upstream

# A caller of each dialect. The text client is the strictest reader.
CALLERS = ["connect", "grpc", "grpc-web-text"]
GRPC = [("content-type", "application/grpc+proto")]
WEB = [("content-type", "application/grpc-web+proto")]
STREAM = [("content-type", "application/connect+proto")]
UNARY = [("content-type", "application/proto")]
OK = [("grpc-status", "0")]
ONE = struct.pack(">BI", 0, 4) + b"\x0a\x02hi"


def frame(flags, payload):
    return struct.pack(">BI", flags, len(payload)) + payload


@pytest.fixture
def before(start, echo_gateways):
    """A gateway before a scripted HTTP/2 upstream that answers with these."""
    made = []

    def make(protocol, *answer, **more):
        def whole(exchange):
            if callable(answer[0]):
                answer[0](exchange)
            else:
                exchange.answer(*answer, **more)

        made.append(HTTP2Upstream(whole))
        setup = echo_gateways.configuration("grpc")
        setup["upstreams"]["echo"] = {"protocol": protocol, "http": "2", "endpoints": [made[-1].url]}
        setup["fallback"] = "echo"
        return start(setup)

    yield make
    for one in made:
        one.close()


UNARY_ANSWERS = {
    # The protocol, the answer, the code; for unary calls.
    "no message": ("grpc", (200, GRPC, b"", OK), "unimplemented"),
    "no message, the status in the head": ("grpc", (200, GRPC + OK), "unimplemented"),
    "two messages": ("grpc", (200, GRPC, ONE + ONE, OK), "unimplemented"),
    "a message and an error": ("grpc", (200, GRPC, ONE, [("grpc-status", "5")]), "not_found"),
    "no status": ("grpc", (200, GRPC, ONE), "unknown"),
    "no status, other trailers": ("grpc", (200, GRPC, ONE, [("x-tail", "t")]), "unknown"),
    "a status that is no number": ("grpc", (200, GRPC, ONE, [("grpc-status", "five")]), "unknown"),
    "a status that is none": ("grpc", (200, GRPC, b"", [("grpc-status", "42")]), "unknown"),
    "HTTP 503": ("grpc", (503, [("content-type", "text/html")], b"<html>"), "unavailable"),
    "HTTP 404": ("grpc", (404, [], b"no"), "unimplemented"),
    "HTTP 401": ("grpc", (401, [], b"no"), "unauthenticated"),
    "HTTP 431": ("grpc", (431, [], b"no"), "internal"),
    "HTTP 400 with a status": ("grpc", (400, GRPC + [("grpc-status", "9")]), "failed_precondition"),
    "another content type": ("grpc", (200, [("content-type", "text/html")], b"<html>"), "unknown"),
    "another codec": ("grpc", (200, [("content-type", "application/grpc+json")], ONE, OK), "internal"),
    "half a message": ("grpc", (200, GRPC, ONE[:-1], OK), "internal"),
    "half a head": ("grpc", (200, GRPC, ONE[:3], OK), "internal"),
    "half a message and an error": ("grpc", (200, GRPC, ONE[:-1], [("grpc-status", "8")]), "resource_exhausted"),
    "unknown flags": ("grpc", (200, GRPC, frame(4, b"x"), OK), "internal"),
    "compressed with nothing": ("grpc", (200, GRPC, frame(1, b"x"), OK), "internal"),
    "an unknown compression": ("grpc", (200, GRPC + [("grpc-encoding", "lz99")], frame(1, b"x"), OK), "internal"),
    "broken gzip": ("grpc", (200, GRPC + [("grpc-encoding", "gzip")], frame(1, b"no gzip"), OK), None),
    "a status in the head and other trailers": (
        "grpc", (200, GRPC + [("grpc-status", "0")], b"", [("grpc-status", "10")]), "aborted"),
    "web without trailers": ("grpc-web", (200, WEB, ONE), "internal"),
    "web with an error in its trailers": (
        "grpc-web", (200, WEB, ONE + frame(0x80, b"GRPC-Status: 6\r\nGrpc-Message: a%20b")), "already_exists"),
    "web with trailers that are none": ("grpc-web", (200, WEB, ONE + frame(0x80, b"no field")), "internal"),
    "web with bytes behind the trailers": (
        "grpc-web", (200, WEB, ONE + frame(0x80, b"grpc-status: 0\r\n") + ONE), "internal"),
    "web with two messages": ("grpc-web", (200, WEB, ONE + ONE + frame(0x80, b"grpc-status:0\n")), "unimplemented"),
    "web with the status in the head": ("grpc-web", (200, WEB + [("grpc-status", "7")]), "permission_denied"),
    "Connect with another content type": ("connect", (200, [("content-type", "text/html")], b"<html>"), "unknown"),
    "Connect without a content type": ("connect", (200, [], b"\n\1x"), "unknown"),
    "Connect in another codec": ("connect", (200, [("content-type", "application/json")], b"{}"), "internal"),
    "Connect with an error": (
        "connect", (409, [("content-type", "application/json")], b'{"code":"aborted","message":"no"}'), "aborted"),
}


@pytest.mark.parametrize("what", UNARY_ANSWERS)
def test_unary_answers(before, call, what):
    protocol, answer, code = UNARY_ANSWERS[what]
    gateway = before(protocol, *answer)
    for caller in CALLERS:
        # What passes through untouched is its client's to judge.
        if caller == protocol:
            continue
        got = call(caller, gateway)
        if code:
            assert (got.lines, got.code) == ([], code), caller
        elif caller == "grpc-web-text":
            assert got.code == "internal"


def test_an_answer_that_decompresses_beyond_the_limit(before):
    message = frame(1, gzip.compress(bytes(5 << 20)))
    gateway = before("grpc", 200, GRPC + [("grpc-encoding", "gzip")], message, OK)
    answer = gateway.fetch("POST", f"/{SERVICE}/Say", [("Content-Type", "application/json")], b"{}")
    assert answer.json() == {
        "code": "resource_exhausted", "message": "the upstream's answer is larger than limits.message"}


STREAM_ANSWERS = {
    # The protocol, the answer, how many messages arrive, the code.
    "no status": ("grpc", (200, GRPC, ONE + ONE), 2, "unknown"),
    "a status that is none": ("grpc", (200, GRPC, ONE, [("grpc-status", "x")]), 1, "unknown"),
    "an error in the head": ("grpc", (200, GRPC + [("grpc-status", "16")]), 0, "unauthenticated"),
    "messages, though the head has a status": ("grpc", (200, GRPC + [("grpc-status", "3")], ONE, OK), 1, None),
    "HTTP 502": ("grpc", (502, [], b"bad"), 0, "unavailable"),
    "another content type": ("grpc", (200, [("content-type", "text/html")], b"<html>"), 0, "unknown"),
    "unknown flags": ("grpc", (200, GRPC, ONE + frame(2, b"{}"), OK), 1, "internal"),
    "web without trailers": ("grpc-web", (200, WEB, ONE), 1, "internal"),
    "web with compressed trailers without compression": (
        "grpc-web", (200, WEB, ONE + frame(0x81, b"grpc-status: 0")), 1, "internal"),
    "web with bytes behind the trailers": (
        "grpc-web", (200, WEB, ONE + frame(0x80, b"grpc-status: 0\r\n") + b"x"), 1, "internal"),
    "Connect without an end": ("connect", (200, STREAM, ONE), 1, "internal"),
    "Connect with an end that is none": ("connect", (200, STREAM, ONE + frame(2, b"[]")), 1, "internal"),
    "Connect with an error": (
        "connect", (200, STREAM, ONE + frame(2, b'{"error":{"code":"data_loss"}}')), 1, "data_loss"),
    "Connect answered as unary": (
        "connect", (503, [("content-type", "application/json")], b'{"code":"unavailable"}'), 0, "unavailable"),
    "Connect answered with a message": ("connect", (200, UNARY, b""), 0, "unknown"),
    "Connect in another codec": (
        "connect", (200, [("content-type", "application/connect+json")], frame(2, b"{}")), 0, "internal"),
    "half a message": ("grpc", lambda exchange: exchange.answer(200, GRPC, ONE + ONE[:-1], OK), 1, "internal"),
}


@pytest.mark.parametrize("what", STREAM_ANSWERS)
def test_stream_answers(before, call, what):
    protocol, answer, count, code = STREAM_ANSWERS[what]
    gateway = before(protocol, *(answer if isinstance(answer, tuple) else (answer,)))
    for caller in CALLERS:
        if caller == protocol:
            continue
        if what == "half a message" and caller != "grpc":
            continue
        got = call(caller, gateway, "Hear")
        assert (len(got.lines), got.code) == (count, code), caller


@pytest.mark.parametrize("code, expected", [
    (0x0, "internal"), (0x2, "internal"), (0x7, "unavailable"), (0x8, "canceled"), (0xB, "resource_exhausted"),
    (0xC, "permission_denied")])
@pytest.mark.parametrize("method", ["Say", "Hear"])
def test_resets(before, call, code, expected, method):
    def reset(exchange):
        if method == "Hear":
            exchange.head(200, GRPC)
            exchange.data(ONE)
        exchange.refuse(code)

    gateway = before("grpc", reset)
    for caller in ("connect", "grpc-web-text"):
        got = call(caller, gateway, method)
        assert (len(got.lines), got.code) == (int(method == "Hear"), expected), caller


def test_a_client_stream_answered_twice(before, echo_schema):
    gateway = before("grpc", 200, GRPC, ONE + ONE, OK)
    client = CLIENTS["grpc-web-text"](echo_schema, gateway.address)
    got = client.call("Tell", iter([echo_schema.pb.Line(text="a")]))
    assert got.code == "unimplemented"
    gateway = before("grpc", 200, GRPC, b"", OK)
    got = CLIENTS["grpc-web-text"](echo_schema, gateway.address).call("Tell", iter([echo_schema.pb.Line()]))
    assert (got.lines, got.code) == ([], "unimplemented")


REFUSALS = {
    "no such method": (f"/{SERVICE}/Nothing", [], "12"),
    "a timeout that is none": (f"/{SERVICE}/Say", [("grpc-timeout", "soon")], "3"),
    "no codec that is known": (f"/{SERVICE}/Say", [("content-type", "application/grpc+thrift")], "12"),
    "an unknown compression": (f"/{SERVICE}/Say", [("grpc-encoding", "lz99")], "12"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refusals_of_grpc_callers(echo, what):
    path, fields, status = REFUSALS[what]
    gateway = echo("connect", "connect").gateway
    names = {name for name, _ in fields}
    fields = fields + [(n, v) for n, v in [("content-type", "application/grpc"), ("te", "trailers")] if n not in names]
    with HTTP2Client(gateway.address) as client:
        answer = client.ask("POST", path, fields, body=frame(1 if "grpc-encoding" in names else 0, b""))
    assert answer.status == 200 and answer["grpc-status"] == status
    assert answer["content-type"].startswith("application/grpc") and not answer.body


def test_a_message_over_the_limit(start, echo_gateways):
    gateway = start(echo_gateways.configuration("connect", limits={"message": "1KiB"}))
    # A small answer is wished for.
    exact = frame(0, b"\x22\x02\x10\x01\x12\xf9\x07" + b"d" * 1017)
    assert len(exact) == 5 + 1024
    with HTTP2Client(gateway.address) as client:
        head = [("content-type", "application/grpc"), ("te", "trailers")]
        assert dict(client.ask("POST", f"/{SERVICE}/Say", head, body=exact).trailers)["grpc-status"] == "0"
        answer = client.ask("POST", f"/{SERVICE}/Say", head, body=frame(0, exact[5:] + b"\x0a\x00"))
        assert answer.status == 200 and answer["grpc-status"] == "8"
    text = base64.b64encode(exact)
    answer = gateway.fetch(
        "POST", f"/{SERVICE}/Say", [("Content-Type", "application/grpc-web-text")], text)
    assert b"grpc-status: 0" in base64.b64decode(answer.body)


def test_a_fallback_passes_grpc_through(before):
    """What no route has (health, reflection) goes to a gRPC upstream as it is, and its outcome is known."""
    gateway = before("grpc", 200, GRPC, ONE, [("grpc-status", "0"), ("x-tail", "t")])
    head = [("content-type", "application/grpc"), ("te", "trailers"), ("grpc-encoding", "odd")]
    with HTTP2Client(gateway.address) as client:
        answer = client.ask("POST", "/grpc.health.v1.Health/Check", head, body=frame(0, b""))
        assert answer.status == 200 and bytes(answer.body) == ONE
        assert dict(answer.trailers) == {"grpc-status": "0", "x-tail": "t"}
    line = wait_until(lambda: gateway.access_log())[0]
    assert '"face":"grpc"' in line and '"code":"ok"' in line
