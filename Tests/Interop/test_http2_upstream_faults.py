"""Upstreams that speak HTTP/2 badly: refusals, resets, ends, malformed answers, and who is slow."""

import json
import threading
import time

import h2.errors
import h2.settings
import pytest

from support.gateway import wait_until
from support.http2 import HTTP2Client
from support.http2_before import before, echo, upstream
from support.raw_upstream import RawUpstream
from support.schema import SERVICE
from support.wire import NotWhole

Codes = h2.errors.ErrorCodes

JSON = [("content-type", "application/json")]

UNARY = [("Content-Type", "application/json"), ("Connect-Protocol-Version", "1")]


def test_a_refused_request_is_sent_once_more(start, configuration, upstream):
    def whole(exchange):
        echo(exchange) if len(one.exchanges) == 2 else exchange.refuse()

    one = upstream(whole)
    gateway = start(before(configuration, one))
    assert gateway.fetch("GET", "/a").status == 200
    assert len(one.exchanges) == 2 and len(one.connections) == 1


def test_a_translated_call_is_sent_once_more(start, configuration, upstream):
    def whole(exchange):
        exchange.answer(200, JSON, b"{}") if len(one.exchanges) == 2 else exchange.refuse()

    one = upstream(whole)
    gateway = start(before(configuration, one, "rpc"))
    answer = gateway.fetch("POST", "/v1/books/b1:move", JSON, b'{"shelf":"s"}')
    assert answer.status == 200
    assert [json.loads(exchange.body) for exchange in one.exchanges] == [{"id": "b1", "shelf": "s"}] * 2


def test_twice_refused_is_refused(start, configuration, upstream):
    one = upstream(lambda exchange: exchange.refuse())
    gateway = start(before(configuration, one))
    answer = gateway.fetch("GET", "/a")
    assert answer.status == 503 and answer["retry-after"] == "1" and len(one.exchanges) == 2
    assert gateway.metric("turnout_upstream_failures_total", upstream="legacy", kind="refused") == 1


def test_a_streamed_body_is_not_sent_twice(start, configuration, upstream):
    one = upstream(lambda exchange: exchange.refuse())
    gateway = start(before(configuration, one))
    assert gateway.fetch("POST", "/a", body=b"x" * 100).status == 503
    assert len(one.exchanges) == 1


def test_streams_above_a_goaway_go_elsewhere(start, configuration, upstream):
    held = []

    def whole(exchange):
        if exchange.connection.number > 0:
            return echo(exchange)
        held.append(exchange)
        if len(held) == 3:
            exchange.connection.go_away(last=held[0].stream)
            echo(held[0])

    one = upstream(whole)
    gateway = start(before(configuration, one))
    with HTTP2Client(gateway.address) as client:
        streams = []
        for number in range(3):
            streams.append(client.start("GET", f"/{number}"))
            one.wait_for(number + 1)
        for number, stream in enumerate(streams):
            assert client.finish(stream)["x-path"] == f"/{number}"
    assert [exchange.connection.number for exchange in one.exchanges] == [0, 0, 0, 1, 1]
    wait_until(lambda: gateway.metric("turnout_upstream_connections", upstream="legacy", state="idle") == 1)


def test_a_goaway_lets_running_answers_finish(start, configuration, upstream):
    def whole(exchange):
        if exchange[":path"] == "/slow":
            exchange.head(200)
            # Before the bytes: who has seen them knows that the connection takes no more.
            exchange.connection.go_away()
            exchange.data(b"begun ")
        else:
            echo(exchange)
            if one.exchanges[0].stream in one.connections[0].h2.streams:
                one.exchanges[0].data(b"done", end=True)

    one = upstream(whole)
    gateway = start(before(configuration, one))
    with HTTP2Client(gateway.address) as client:
        slow = client.start("GET", "/slow")
        client.wait_for(lambda: client.answers[slow].body)
        quick = client.ask("GET", "/quick")
        assert quick.status == 200
        assert bytes(client.finish(slow).body) == b"begun done"
    assert [exchange.connection.number for exchange in one.exchanges] == [0, 1]


@pytest.mark.parametrize("code, name, status", [
    (Codes.NO_ERROR, "internal", 500), (Codes.PROTOCOL_ERROR, "internal", 500), (Codes.INTERNAL_ERROR, "internal", 500),
    (Codes.FLOW_CONTROL_ERROR, "internal", 500), (Codes.CANCEL, "canceled", 499),
    (Codes.ENHANCE_YOUR_CALM, "resource_exhausted", 429), (Codes.INADEQUATE_SECURITY, "permission_denied", 403),
    (Codes.REFUSED_STREAM, "unavailable", 503),
])
def test_what_resets_mean(start, configuration, upstream, code, name, status):
    one = upstream(lambda exchange: exchange.refuse(code))
    gateway = start(before(configuration, one, "rpc"))
    answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", UNARY, b'{"id":"b1"}')
    assert (answer.status, answer.json()["code"]) == (status, name), answer


def test_a_reset_in_the_middle_is_carried_across(start, configuration, upstream):
    def whole(exchange):
        exchange.head(200, [("content-length", "10")])
        exchange.data(b"12345")
        exchange.refuse(Codes.INTERNAL_ERROR)

    gateway = start(before(configuration, upstream(whole)))
    with HTTP2Client(gateway.address) as client:
        answer = client.ask("GET", "/a")
        assert answer.reset == Codes.INTERNAL_ERROR and not answer.ended
    with pytest.raises((NotWhole, ConnectionError)):
        gateway.fetch("GET", "/a")


@pytest.mark.parametrize("code", [Codes.CANCEL, Codes.ENHANCE_YOUR_CALM, Codes.REFUSED_STREAM])
def test_codes_of_resets_in_the_middle(start, configuration, upstream, code):
    def whole(exchange):
        exchange.head(200)
        exchange.data(b"12345")
        exchange.refuse(code)

    gateway = start(before(configuration, upstream(whole)))
    with HTTP2Client(gateway.address) as client:
        # Something has come already: it is not for the client to send it again.
        assert client.ask("GET", "/a").reset == (Codes.INTERNAL_ERROR if code == Codes.REFUSED_STREAM else code)


def test_an_upgrade_is_no_matter_for_http2(start, configuration, upstream):
    one = upstream(echo)
    gateway = start(before(configuration, one))
    fields = [
        ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")]
    assert gateway.fetch("GET", "/a", fields).status == 200
    assert one.exchanges[0]["upgrade"] is None


@pytest.mark.parametrize("when", ["before", "inside"])
def test_a_connection_that_ends(start, configuration, upstream, when):
    def whole(exchange):
        if when == "inside":
            exchange.head(200)
            exchange.data(b"12345")
        exchange.connection.socket.close()
        raise EOFError

    gateway = start(before(configuration, upstream(whole)))
    with HTTP2Client(gateway.address) as client:
        streams = [client.start("POST", "/a", body=b"x") for _ in range(3)]
        for answer in map(client.finish, streams):
            if when == "before":
                assert answer.status in (502, 503)
            else:
                assert answer.reset is not None or answer.status in (502, 503)


def test_an_ended_idle_connection_is_replaced(start, configuration, upstream):
    one = upstream(echo)
    gateway = start(before(configuration, one))
    for number in range(3):
        assert gateway.fetch("GET", f"/{number}").status == 200
        one.connections[-1].socket.shutdown(2)
        wait_until(lambda: gateway.metric("turnout_upstream_connections", upstream="legacy") == 0)
    assert len(one.connections) == 3


def test_trailers_pass(start, configuration, upstream):
    def whole(exchange):
        body = b"" if exchange[":path"] == "/none" else b"body"
        exchange.answer(200, [], body, [("grpc-status", "0"), ("x-more", "1"), ("age", "7")])

    one = upstream(whole)
    gateway = start(before(configuration, one))
    with HTTP2Client(gateway.address) as client:
        for path, body in [("/some", b"body"), ("/none", b"")]:
            answer = client.ask("GET", path, [("te", "trailers")])
            assert answer.ended and bytes(answer.body) == body
            assert answer.trailers == [("grpc-status", "0"), ("x-more", "1")]
        stream = client.start("POST", "/some", body=b"x", end=False)
        client.trailers(stream, [("x-asked", "1")])
        assert client.finish(stream).status == 200
    assert one.exchanges[-1].trailers == [("x-asked", "1")]


def test_trailers_reach_http1(start, configuration, upstream):
    one = upstream(lambda exchange: exchange.answer(200, [], b"body", [("x-more", "1")]))
    gateway = start(before(configuration, one))
    answer = gateway.fetch("GET", "/a")
    assert answer.body == b"body" and [(name.lower(), value) for name, value in answer.trailers] == [("x-more", "1")]


def test_an_answer_before_the_request_is_whole(start, configuration, upstream):
    def begun(exchange):
        if exchange[":method"] == "POST":
            exchange.answer(413, [], b"too much")

    one = upstream(lambda exchange: echo(exchange) if exchange[":method"] == "GET" else None, begun=begun)
    gateway = start(before(configuration, one))
    with HTTP2Client(gateway.address) as client:
        stream = client.start("POST", "/a", body=b"x" * 1000, end=False)
        answer = client.finish(stream)
        assert answer.status == 413 and bytes(answer.body) == b"too much"
        one.wait_until(lambda: one.exchanges[0].reset is not None)
        assert client.ask("GET", "/b").status == 200
    assert len(one.connections) == 1


BAD = {
    "an upper-case name": [(":status", "200"), ("X-Bad", "1")],
    "a connection field": [(":status", "200"), ("connection", "close")],
    "a value with a line": [(":status", "200"), ("x", "1\r\nset-cookie: a=b")],
    "no status": [("x", "1")],
    "status 101": [(":status", "101")],
    "status 99": [(":status", "99")],
    "two lengths": [(":status", "200"), ("content-length", "1"), ("content-length", "2")],
    "too many fields": [(":status", "200"), *((f"x{number}", "1") for number in range(200))],
}


@pytest.mark.parametrize("fields", BAD.values(), ids=BAD.keys())
def test_malformed_answers(start, configuration, upstream, fields):
    def whole(exchange):
        if exchange[":path"] == "/good":
            return echo(exchange)
        exchange.connection.h2.send_headers(exchange.stream, fields)
        exchange.connection.flush()

    one = upstream(whole)
    gateway = start(before(configuration, one))
    answer = gateway.fetch("GET", "/bad")
    assert answer.status == 502 and answer["x"] is None and answer["set-cookie"] is None
    assert gateway.metric("turnout_http2_faults_total", scope="stream") == 1
    assert gateway.metric("turnout_upstream_failures_total", upstream="legacy", kind="malformed") == 1
    assert gateway.fetch("GET", "/good").status == 200
    assert len(one.connections) == 1


def test_an_answer_of_another_length(start, configuration, upstream):
    def whole(exchange):
        exchange.head(200, [("content-length", "10")])
        exchange.data(b"12345", end=True)

    gateway = start(before(configuration, upstream(whole)))
    with HTTP2Client(gateway.address) as client:
        answer = client.ask("GET", "/a")
        assert not answer.ended and answer.reset is not None
    with pytest.raises((NotWhole, ConnectionError)):
        gateway.fetch("GET", "/a")


def test_no_http2_at_all(start, configuration):
    def handle(connection):
        connection.head()
        connection.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    one = RawUpstream(handle)
    gateway = start(before(configuration, one))
    assert gateway.fetch("GET", "/a").status == 502
    assert gateway.metric("turnout_http2_faults_total", scope="connection") == 1
    one.close()


def test_a_silent_upstream_is_given_up(start, configuration):
    """One that takes connections and never says that it speaks HTTP/2."""
    one = RawUpstream(lambda connection: connection.take(1 << 20))
    gateway = start(before(configuration, one, timeouts={"connect": "300ms"}))
    assert gateway.fetch("GET", "/a").status == 502
    wait_until(lambda: gateway.metric("turnout_upstream_connections", upstream="legacy") == 0)
    one.close()


def test_a_client_that_leaves_cancels_its_stream_alone(start, configuration, upstream):
    one = upstream(lambda exchange: echo(exchange) if exchange[":path"] == "/quick" else None)
    gateway = start(before(configuration, one))
    wire = gateway.connect()
    from support.wire import request_bytes
    wire.send(request_bytes("GET", "/slow"))
    one.wait_for(1)
    wire.close()
    one.wait_until(lambda: one.exchanges[0].reset is not None)
    assert one.exchanges[0].reset == Codes.CANCEL
    assert gateway.fetch("GET", "/quick").status == 200
    assert len(one.connections) == 1


def test_deadlines_cancel_the_stream(start, configuration, upstream):
    one = upstream(lambda exchange: None)
    gateway = start(before(configuration, one, "rpc"))
    answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", [*UNARY, ("Connect-Timeout-Ms", "200")], b'{"id":"b1"}')
    assert answer.json()["code"] == "deadline_exceeded"
    one.wait_until(lambda: one.exchanges[0].reset is not None)
    assert 0 < int(one.exchanges[0]["connect-timeout-ms"]) <= 200


def test_a_slow_client_stops_its_stream_alone(start, configuration, upstream):
    size = 8 << 20
    sent = []

    def whole(exchange):
        if exchange[":path"] != "/big":
            return echo(exchange)

        def send():
            exchange.head(200)
            left = size
            while left:
                with exchange.connection.lock:
                    room = min(exchange.connection.h2.local_flow_control_window(exchange.stream), 16_384, left)
                    if room > 0:
                        exchange.connection.h2.send_data(exchange.stream, b"x" * room, end_stream=room == left)
                        exchange.connection.flush()
                        left -= room
                        sent.append(room)
                if room <= 0:
                    time.sleep(0.01)

        threading.Thread(target=send, daemon=True).start()

    one = upstream(whole)
    gateway = start(before(configuration, one))
    with HTTP2Client(gateway.address, window=100_000) as client:
        slow = client.start("GET", "/big")
        client.reads = lambda stream: stream != slow
        client.wait_for(lambda: len(client.answers[slow].body) == 100_000)
        for number in range(20):
            assert client.ask("GET", f"/{number}").status == 200
        assert sum(sent) < 2 << 20
        client.reads = True
        client.take(slow)
        client.flush()
        assert len(client.finish(slow).body) == size
    assert len(one.connections) == 1


def test_a_slow_upstream_stops_the_upload(start, configuration, upstream):
    one = upstream(None, reads=False)
    gateway = start(before(configuration, one))
    with HTTP2Client(gateway.address) as client:
        stream = client.start("PUT", "/up", end=False)
        assert client.push(stream, 16 << 20) < 4 << 20


def test_idle_connections_are_closed(start, configuration, upstream):
    one = upstream(echo)
    gateway = start(before(configuration, one, timeouts={"upstream_idle": "300ms"}))
    assert gateway.fetch("GET", "/a").status == 200
    wait_until(lambda: gateway.metric("turnout_upstream_connections", upstream="legacy") == 0)
    wait_until(lambda: one.connections[0].goaway == 0, what="the GOAWAY")
    assert gateway.fetch("GET", "/a").status == 200
    assert len(one.connections) == 2


def test_a_reload_changes_the_version(start, configuration, upstream):
    one = upstream(echo)
    setup = before(configuration, one)
    gateway = start(setup)
    assert gateway.fetch("GET", "/a").status == 200
    for other in setup["upstreams"].values():
        other["http"] = "1.1"
    gateway.write(setup)
    assert gateway.admin("POST", "/reload").status == 200
    wait_until(lambda: gateway.metric("turnout_upstream_connections", upstream="legacy") == 0)
    assert gateway.fetch("GET", "/a").status in (502, 503)


@pytest.mark.parametrize("route", ["rest", "rpc"])
def test_a_connection_that_has_gone_silent_is_left(start, configuration, upstream, route):
    """The peer is gone without a word, as behind a router that forgot it: one call fails, not all that follow."""

    def whole(exchange):
        if exchange.connection.number == 0 and len(one.exchanges) > 1:
            return
        exchange.answer(200, JSON, b"{}")

    one = upstream(whole)
    gateway = start(before(configuration, one, route, service={"timeout": "1s"}))
    for status in [200, 504, 200, 200, 200]:
        assert gateway.fetch("GET", "/v1/books/b1").status == status
    assert [exchange.connection.number for exchange in one.exchanges] == [0, 0, 1, 1, 1]
