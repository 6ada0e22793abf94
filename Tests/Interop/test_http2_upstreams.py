"""Upstreams that speak HTTP/2: requests and answers, how many at once, trailers, versions."""

import json
import threading
import time

import h2.errors
import h2.settings
import pytest

from support.gateway import wait_until
from support.http2 import HTTP2Client
from support.http2_before import before, echo, upstream
from support.rest_service import book
from support.schema import SERVICE

JSON = [("content-type", "application/json")]


def test_requests_go_on_as_they_are(start, configuration, upstream):
    one = upstream(echo)
    gateway = start(before(configuration, one, via=True))
    answer = gateway.fetch("GET", "/a?b=%20c", [("X-Mixed", "V"), ("TE", "trailers"), ("Connection", "close")])
    assert answer.status == 200 and answer.body == b"none" and answer["x-path"] == "/a?b=%20c"
    fields = one.exchanges[0].fields
    assert fields[:4] == [
        (":method", "GET"), (":scheme", "http"), (":authority", "gateway.test"), (":path", "/a?b=%20c")]
    assert ("x-mixed", "V") in fields and ("te", "trailers") in fields and ("via", "1.1 turnout") in fields
    assert not {"host", "connection"} & {name for name, _ in fields}
    assert answer["via"] == "2 turnout"


@pytest.mark.parametrize("size", [0, 1, 100_000, 3_000_000])
@pytest.mark.parametrize("version", ["1.1", "2"])
def test_bodies(start, configuration, upstream, size, version):
    one = upstream(lambda exchange: exchange.answer(200, [], bytes(exchange.body)))
    gateway = start(before(configuration, one))
    data = bytes(range(251)) * (size // 251 + 1)
    data = data[:size]
    if version == "1.1":
        answer = gateway.fetch("PUT", "/a", body=data)
    else:
        with HTTP2Client(gateway.address) as client:
            answer = client.ask("PUT", "/a", [("content-length", str(size))], body=data)
    assert answer.status == 200 and bytes(answer.body) == data
    if size:
        assert one.exchanges[0]["content-length"] == str(size)


def test_translated_calls(start, configuration, upstream):
    one = upstream(lambda exchange: exchange.answer(200, JSON, json.dumps(book("b1")).encode()))
    gateway = start(before(configuration, one, "rpc"))
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert answer.status == 200 and answer.json()["id"] == "b1"
    assert one.exchanges[0][":path"] == f"/{SERVICE}/GetBook" and one.exchanges[0][":method"] == "POST"
    assert json.loads(one.exchanges[0].body) == {"id": "b1"}


def test_one_connection_for_many(start, configuration, upstream):
    held = []

    def whole(exchange):
        held.append(exchange)
        if len(held) == 50:
            for one in reversed(held):
                echo(one)

    one = upstream(whole)
    gateway = start(before(configuration, one))
    with HTTP2Client(gateway.address) as client:
        streams = [client.start("GET", f"/{number}") for number in range(50)]
        for number, stream in enumerate(streams):
            assert client.finish(stream)["x-path"] == f"/{number}"
    assert len(one.connections) == 1
    assert gateway.metric("turnout_upstream_connections", upstream="legacy", state="idle") == 1
    assert gateway.metric("turnout_upstream_connections", upstream="legacy", state="active") == 0


def test_no_more_at_once_than_the_upstream_allows(start, configuration, upstream):
    def whole(exchange):
        def later():
            time.sleep(0.05)
            with exchange.connection.lock:
                exchange.connection.open -= 1
                echo(exchange)
        threading.Thread(target=later).start()

    one = upstream(whole, settings={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 3})
    gateway = start(before(configuration, one, keys={"max_connections": 1}))
    assert gateway.fetch("GET", "/first").status == 200
    with HTTP2Client(gateway.address) as client:
        streams = [client.start("GET", f"/{number}") for number in range(30)]
        for number, stream in enumerate(streams):
            assert client.finish(stream)["x-path"] == f"/{number}"
    assert len(one.connections) == 1 and one.connections[0].most == 3


def test_another_connection_when_one_is_full(start, configuration, upstream):
    held = []

    def whole(exchange):
        held.append(exchange)
        if len(held) == 4:
            for one in held:
                echo(one)

    one = upstream(whole, settings={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 1})
    gateway = start(before(configuration, one))
    with HTTP2Client(gateway.address) as client:
        streams = []
        for number in range(4):
            streams.append(client.start("GET", f"/{number}"))
            one.wait_for(number + 1)
        assert [client.finish(stream).status for stream in streams] == [200] * 4
    assert len(one.connections) == 4


def test_a_first_burst_keeps_to_the_limit(start, configuration, upstream):
    """Before the upstream has said how many it takes, one is sent; streamed bodies can be sent only once."""
    def whole(exchange):
        exchange.connection.open -= 1
        echo(exchange)

    one = upstream(whole, settings={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 2})
    gateway = start(before(configuration, one, keys={"max_connections": 1}))
    with HTTP2Client(gateway.address) as client:
        streams = [client.start("POST", f"/{number}", body=b"body %d" % number) for number in range(20)]
        for number, stream in enumerate(streams):
            answer = client.finish(stream)
            assert answer.status == 200 and bytes(answer.body) == b"body %d" % number
    assert one.connections[0].most <= 2 and len(one.exchanges) == 20


def test_an_upstream_that_takes_no_streams(start, configuration, upstream):
    one = upstream(echo, settings={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 0})
    gateway = start(before(configuration, one))
    for _ in range(3):
        assert gateway.fetch("GET", "/a").status in (200, 502, 503)
    wait_until(lambda: gateway.metric("turnout_upstream_connections", upstream="legacy") == 0)
