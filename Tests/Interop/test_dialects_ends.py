"""How the gateway itself ends a stream that has begun: in the caller's own protocol, or not at all."""

import json
import signal
import socket
import struct
import time

import pytest

from support.echo import SERVICE
from support.http2 import HTTP2Client, HTTP2Upstream

HEADS = {"grpc": "application/grpc+proto", "grpc-web": "application/grpc-web+proto",
         "connect": "application/connect+proto"}
TIMEOUT = {"grpc": "grpc-timeout", "grpc-web": "grpc-timeout", "connect": "connect-timeout-ms"}
ONE = struct.pack(">BI", 0, 4) + b"\x0a\x02hi"
PAIRS = [(caller, backend) for caller in HEADS for backend in HEADS]


@pytest.fixture
def before(start, echo_gateways):
    made = []

    def make(protocol, begun, **top):
        made.append(HTTP2Upstream(begun=begun))
        setup = echo_gateways.configuration("grpc", **top)
        setup["upstreams"]["echo"] = {"protocol": protocol, "http": "2", "endpoints": [made[-1].url]}
        return start(setup), made[-1]

    yield make
    for one in made:
        one.close()


def ask(gateway, caller, fields=(), body=b"\0\0\0\0\0"):
    with HTTP2Client(gateway.address) as client:
        return client.ask(
            "POST", f"/{SERVICE}/Hear", [("content-type", HEADS[caller]), ("te", "trailers"), *fields], body=body)


def code(caller, answer):
    """The code of an end that stands behind the one message."""
    assert answer.status == 200 and answer.ended and answer.reset is None
    body = bytes(answer.body)
    assert body.startswith(ONE)
    if caller == "grpc":
        assert body == ONE
        return int(dict(answer.trailers)["grpc-status"])
    flags, size = struct.unpack(">BI", body[len(ONE):len(ONE) + 5])
    payload = body[len(ONE) + 5:]
    assert len(payload) == size and not answer.trailers
    if caller == "connect":
        assert flags == 2
        return {"canceled": 1, "deadline_exceeded": 4, "unavailable": 14}[json.loads(payload)["error"]["code"]]
    assert flags == 0x80
    return int(dict(line.split(": ", 1) for line in payload.decode().split("\r\n") if line)["grpc-status"])


@pytest.mark.parametrize("caller, backend", PAIRS)
def test_a_deadline(before, caller, backend):
    def begun(exchange):
        exchange.head(200, [("content-type", HEADS[backend])])
        exchange.data(ONE)

    gateway, upstream = before(backend, begun)
    answer = ask(gateway, caller, [(TIMEOUT[caller], "700" if caller == "connect" else "700m")])
    assert code(caller, answer) == 4
    upstream.wait_until(lambda: upstream.exchanges[0].reset == 8)
    # The upstream was told what was left of the time.
    left = upstream.exchanges[0][TIMEOUT[backend]]
    assert 0 < int(left.rstrip("m")) <= 700


@pytest.mark.parametrize("caller", HEADS)
def test_an_upstream_that_keeps_the_deadline(before, caller):
    """By its own clock, up to a millisecond before the gateway's, with a reset as gRPC servers do: no cancellation."""
    def begun(exchange):
        end = time.monotonic() + int(exchange["grpc-timeout"].rstrip("m")) / 1000
        exchange.head(200, [("content-type", HEADS["grpc"])])
        exchange.data(ONE)
        time.sleep(max(0, end - time.monotonic()))
        exchange.refuse(8)

    gateway, _ = before("grpc", begun)
    for _ in range(4):
        answer = ask(gateway, caller, [(TIMEOUT[caller], "500" if caller == "connect" else "500m")])
        assert code(caller, answer) == 4


@pytest.mark.parametrize("caller, backend", PAIRS)
def test_a_standstill(before, caller, backend):
    def begun(exchange):
        exchange.head(200, [("content-type", HEADS[backend])])
        exchange.data(ONE)

    gateway, upstream = before(backend, begun, timeouts={"stream_idle": "1s"})
    assert code(caller, ask(gateway, caller)) == 4
    upstream.wait_until(lambda: upstream.exchanges[0].reset == 8)


@pytest.mark.parametrize("caller, backend", PAIRS)
def test_the_end_of_a_drain(before, caller, backend):
    """What lasts longer than the process is ended as any other error, and not with its connection."""
    def begun(exchange):
        exchange.head(200, [("content-type", HEADS[backend])])
        exchange.data(ONE)

    gateway, upstream = before(backend, begun, drain="500ms")
    with HTTP2Client(gateway.address) as client:
        stream = client.start(
            "POST", f"/{SERVICE}/Hear", [("content-type", HEADS[caller]), ("te", "trailers")], body=b"\0\0\0\0\0")
        client.wait_for(lambda: bytes(client.answers[stream].body) == ONE)
        gateway.signal(signal.SIGTERM)
        assert code(caller, client.finish(stream)) == 14
    assert gateway.process.wait(60) == 0


@pytest.mark.parametrize("caller, backend", PAIRS)
def test_an_upstream_that_dies(before, caller, backend):
    def begun(exchange):
        exchange.head(200, [("content-type", HEADS[backend])])
        exchange.data(ONE)
        exchange.connection.socket.shutdown(socket.SHUT_WR)  # closing could drop what was sent

    gateway, _ = before(backend, begun)
    assert code(caller, ask(gateway, caller)) == 14


@pytest.mark.parametrize("caller, backend", PAIRS)
def test_an_upstream_that_dies_inside_a_message(before, caller, backend):
    """What follows would be read as a part of the message, so only callers whose end is outside the body get one."""
    def begun(exchange):
        exchange.head(200, [("content-type", HEADS[backend])])
        exchange.data(ONE + ONE[:-1])
        exchange.connection.socket.shutdown(socket.SHUT_WR)  # closing could drop what was sent

    gateway, _ = before(backend, begun)
    answer = ask(gateway, caller)
    if caller == "grpc":
        assert dict(answer.trailers)["grpc-status"] == "14"
    else:
        assert answer.reset is not None and not answer.ended


@pytest.mark.parametrize("caller, backend", PAIRS)
def test_a_caller_that_breaks_the_rules(before, caller, backend):
    """Envelopes that mean nothing: the caller is told, the upstream's stream ends."""
    gateway, upstream = before(backend, lambda exchange: None)
    if caller == backend:
        pytest.skip("what passes through is the upstream's to judge")
    answer = ask(gateway, caller, body=b"\xff\0\0\0\0")
    assert answer.status == 200 and answer.ended
    text = bytes(answer.body) if caller != "grpc" else str(answer.fields).encode()
    expected = {"connect": b"invalid_argument", "grpc": b"'grpc-status', '13'", "grpc-web": b"grpc-status: 13"}
    assert expected[caller] in text
