"""Relayed streams with a side that does not read: the other side stops, and the gateway holds little."""

import base64
import struct
import threading
import time

import pytest
from google.protobuf import json_format
from h2.settings import SettingCodes

from support.echo import SERVICE
from support.gateway import settled, wait_until
from support.http2 import HTTP2Client, HTTP2Upstream
from support.rest_streams import RULES, RESTStreams

BLOCK = 64 << 10
MESSAGES = 1500
LINE = b"\x12" + b"\x80\x80\x04" + b"d" * BLOCK
MESSAGE = struct.pack(">BI", 0, len(LINE)) + LINE
# What kernels, windows and buffers of the way may take; all messages are five times as much.
ALLOWED = 20 << 20
TYPES = {
    "connect": "application/connect+proto", "connect-json": "application/connect+json", "grpc": "application/grpc",
    "grpc-web": "application/grpc-web+proto", "grpc-web-text": "application/grpc-web-text"}


@pytest.fixture
def before(start, echo_gateways):
    made = []

    def make(protocol, settings=None, limits=None, shut=False, **more):
        if shut:
            more["settings"] = {SettingCodes.INITIAL_WINDOW_SIZE: 0}
        made.append(HTTP2Upstream(**more))
        setup = echo_gateways.configuration("grpc", limits=limits or {})
        setup["upstreams"]["echo"] = {
            "protocol": protocol, "http": "2", "endpoints": [made[-1].url], **(settings or {})}
        return start(setup), made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("caller, backend", [
    ("connect", "grpc"), ("connect-json", "grpc"), ("grpc", "grpc-web"), ("grpc", "grpc"), ("grpc-web-text", "connect"),
])
def test_a_caller_that_does_not_read(before, caller, backend):
    sent = []

    def whole(exchange):
        def send():
            head = {"grpc": "application/grpc+proto", "grpc-web": "application/grpc-web+proto",
                    "connect": "application/connect+proto"}[backend]
            exchange.head(200, [("content-type", head)])
            for _ in range(MESSAGES):
                end = time.monotonic() + 60
                while exchange.connection.h2.local_flow_control_window(exchange.stream) < len(MESSAGE):
                    if time.monotonic() > end or exchange.reset is not None:
                        return
                    time.sleep(0.002)
                with exchange.connection.lock:
                    exchange.data(MESSAGE)
                sent.append(1)
            end = {"grpc": b"", "grpc-web": struct.pack(">BI", 0x80, 16) + b"grpc-status: 0\r\n",
                   "connect": struct.pack(">BI", 2, 2) + b"{}"}[backend]
            with exchange.connection.lock:
                if end:
                    exchange.data(end, end=True)
                else:
                    exchange.connection.h2.send_headers(
                        exchange.stream, [("grpc-status", "0")], end_stream=True)
                    exchange.connection.flush()

        threading.Thread(target=send, daemon=True).start()

    gateway, upstream = before(backend, whole=whole)
    memory = gateway.resident_bytes()
    body = b'\0\0\0\0\2{}' if caller == "connect-json" else b"\0\0\0\0\0"
    if caller == "grpc-web-text":
        body = b"AAAAAAA="
    with HTTP2Client(gateway.address, window=1 << 16, connection_window=1 << 20) as client:
        client.reads = False
        stream = client.start("POST", f"/{SERVICE}/Hear", [("content-type", TYPES[caller]), ("te", "trailers")], body)
        assert client.wait_for(lambda: len(client.answers[stream].body) > 50_000)
        seen = settled(lambda: len(sent), what="what the upstream sends")
        assert 0 < seen * len(MESSAGE) < ALLOWED
        assert gateway.resident_bytes() - memory < ALLOWED
        # Another stream of the same connection is not held up.
        other = client.start("POST", f"/{SERVICE}/Nothing", [("content-type", TYPES[caller])], body)
        client.reads = lambda number: number == other
        assert client.finish(other).status in (200, 404)
        # All comes when it is read again.
        client.reads = True
        client.take(stream)
        client.flush()
        answer = client.finish(stream, 120)
    assert answer.ended and len(sent) == MESSAGES
    assert len(answer.body) >= MESSAGES * BLOCK
    if caller == "grpc":
        assert dict(answer.trailers)["grpc-status"] == "0"


@pytest.mark.parametrize("caller, backend", [("connect", "grpc"), ("grpc", "connect"), ("grpc", "grpc")])
def test_an_upstream_that_does_not_read(before, caller, backend):
    gateway, upstream = before(backend, reads=False, begun=lambda exchange: None)
    memory = gateway.resident_bytes()
    with HTTP2Client(gateway.address) as client:
        stream = client.start(
            "POST", f"/{SERVICE}/Talk", [("content-type", TYPES[caller]), ("te", "trailers")], b"\0\0\0\0\0",
            end=False)
        sent = 0
        while sent < MESSAGES * len(MESSAGE):
            room = min(
                client.h2.local_flow_control_window(stream), client.h2.max_outbound_frame_size,
                len(MESSAGE) - sent % len(MESSAGE))
            if room <= 0:
                if not client.pump(1):
                    break
                continue
            start = sent % len(MESSAGE)
            client.h2.send_data(stream, MESSAGE[start:start + room])
            client.flush()
            sent += room
        assert 0 < sent < ALLOWED
        assert gateway.resident_bytes() - memory < ALLOWED
        client.reset(stream)
    wait_until(lambda: upstream.exchanges[0].reset is not None)


def budget(start, echo_schema, url):
    return start({
        "listeners": [{"address": "127.0.0.1:0"}],
        "admin": {"address": "127.0.0.1:0"},
        "workers": 1,
        "schema": [{"descriptor_set": str(echo_schema.descriptors)}],
        "upstreams": {"old": {"protocol": "rest", "endpoints": [url]}},
        "services": {SERVICE: {"rest": "old", "stage": "rest", "methods": RULES}},
        "limits": {"message": "1MiB", "buffers": "2MiB"},
    })


@pytest.mark.parametrize("caller", ["connect", "connect-json", "grpc", "grpc-web", "grpc-web-text"])
def test_messages_that_wait_for_callers_have_the_budget_of_all_buffers(start, echo_schema, line, caller):
    """Each stream that is not read holds a message; all together hold no more than `limits.buffers`."""
    old = RESTStreams()
    gateway = budget(start, echo_schema, old.url)
    wish = line("a", count=1, size=450_000, delay=60)
    data = json_format.MessageToJson(wish).encode() if caller == "connect-json" else wish.SerializeToString()
    body = struct.pack(">BI", 0, len(data)) + data
    fields = [("content-type", TYPES[caller]), ("te", "trailers")]
    if caller == "grpc-web-text":
        body = base64.b64encode(body)

    def refused():
        return gateway.metric("turnout_requests_total", method="Hear", code="unavailable")

    with HTTP2Client(gateway.address, window=1) as client:
        for _ in range(8):
            client.start("POST", f"/{SERVICE}/Hear", fields, body)
        # Four messages of 450 kB have room, in base64 two or three: what each took while it came in pieces is given back
        # but for 256 KiB. All of them are seen, or the count would go on.
        wait_until(lambda: refused() >= 4)
        settled(refused, quiet=1)
        held = gateway.metric("turnout_buffered_bytes")
        assert 1_500_000 < held <= 2 << 20
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="free buffers")
    with HTTP2Client(gateway.address) as client:
        stream = client.start("POST", f"/{SERVICE}/Hear", fields, body)
        assert client.wait_for(lambda: len(client.answers[stream].body) > 450_000)
        # The stream goes on, and has nothing that waits.
        wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="free buffers")
        assert not client.answers[stream].over
    old.go_on.set()


def test_messages_that_wait_for_an_upstream_have_it_too(before):
    gateway, upstream = before(
        "connect", settings={"codec": "json"}, limits={"message": "1MiB", "buffers": "2MiB"}, shut=True, reads=False,
        begun=lambda exchange: None)
    line = b"\x12\xd0\xbb\x1b" + b"d" * 450_000
    with HTTP2Client(gateway.address) as client:
        for _ in range(8):
            client.start(
                "POST", f"/{SERVICE}/Talk", [("content-type", "application/grpc"), ("te", "trailers")],
                struct.pack(">BI", 0, len(line)) + line, end=False)
        wait_until(lambda: gateway.metric("turnout_requests_total", method="Talk", code="unavailable") >= 4)
        assert 1 << 20 < gateway.metric("turnout_buffered_bytes") <= 2 << 20
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="free buffers")
