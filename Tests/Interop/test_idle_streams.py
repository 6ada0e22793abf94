"""What streams cost that are open and say nothing."""

import pytest

from support.echo import SERVICE as ECHO
from support.gateway import wait_until
from support.http2 import HTTP2Client, HTTP2Upstream

STREAMS, CLIENTS = 1000, 10


@pytest.mark.parametrize("upstream_protocol", ["grpc", "connect"], ids=["passing", "translated"])
def test_a_thousand_idle_streams_stay_small(start, echo_gateways, upstream_protocol):
    """In both directions, each after one message: nothing of it is kept. Generous: a buffer for each would not fit."""
    def begun(exchange):
        exchange.head(200, [("content-type", "application/grpc" if upstream_protocol == "grpc" else "application/connect+proto")])
        exchange.data(b"\0\0\0\0\2\x0a\0")

    upstream = HTTP2Upstream(begun=begun, settings={3: 10_000})
    setup = echo_gateways.configuration("grpc")
    setup["upstreams"]["echo"] = {"protocol": upstream_protocol, "http": "2", "endpoints": [upstream.url]}
    gateway = start(setup)
    clients = [HTTP2Client(gateway.address) for _ in range(CLIENTS)]

    def open_streams(count):
        opened = []
        for client in clients:
            for _ in range(count):
                opened.append((client, client.start("POST", f"/{ECHO}/Talk", [
                    ("content-type", "application/grpc"), ("te", "trailers")], b"\0\0\0\0\2\x0a\0", end=False)))
            for of, stream in opened:
                assert of.wait_for(lambda: bytes(of.answers[stream].body) == b"\0\0\0\0\2\x0a\0")
        return opened

    # What the process needs once is there then.
    open_streams(1)
    before = gateway.resident_bytes()
    open_streams(STREAMS // CLIENTS)
    assert len(upstream.exchanges) == STREAMS + CLIENTS
    taken = gateway.resident_bytes() - before
    print(f"{taken / STREAMS:.0f} bytes a stream")
    assert taken < STREAMS * 24 * 1024
    for client in clients:
        client.close()
    wait_until(lambda: gateway.metric("turnout_connections") == 0, what="the end of the clients")
    assert gateway.metric("turnout_buffered_bytes") == 0
    upstream.close()
