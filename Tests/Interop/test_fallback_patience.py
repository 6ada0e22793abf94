"""`fallback: true`: how long a side that says nothing is waited for, and what the other one gets of the request (decision 0028)."""

import asyncio
import time

import pytest

from support.echo import SERVICE as ECHO
from support.fallback import canary, counted, fallbacks, fails, nothing_is_held, rest_user, route
from support.gateway import wait_until
from support.http2 import HTTP2Client, HTTP2Upstream
from support.rest_service import Reply, book, hang
from support.schema import SERVICE
from support.sides import place
from support.wire import chunked, request_bytes


def forever(rpc):
    async def wait():
        await asyncio.sleep(60)

    rpc.script = lambda call, context: wait()


def connect_request(body=b'{"id":"b1"}', timeout=3000, fields=()):
    return request_bytes("POST", f"/{SERVICE}/GetBook", [
        ("Content-Type", "application/json"), ("Connect-Timeout-Ms", str(timeout)), *fields], body)


# A side that hangs gets half of the time.

def test_a_rest_callers_time_is_for_both_sides(started, rest, rpc):
    """That of the route; translated to the one side, passing to the other."""
    gateway = started(canary(timeout="3s"))
    forever(rpc)
    assert gateway.fetch("GET", "/v1/books/b1").json()["title"] == "rest"
    counted(gateway, "rpc", "answered")
    assert gateway.metric("turnout_upstream_failures_total", upstream="content", kind="timeout") == 1
    wait_until(lambda: (route(gateway)["sides"]["rpc"] or {}).get("failures") == 1, what="the figures")
    # The one that hangs is left.
    assert rpc.wait_for(1)[0].was_cancelled.wait(30)
    nothing_is_held(gateway)


def test_a_connect_callers_own_deadline_is_for_both_sides(started, rest, rpc):
    """Passing to the one side, translated to the other."""
    gateway = started(canary())
    forever(rpc)
    with gateway.connect() as wire:
        wire.send(connect_request())
        answer = wire.answer()
    assert (answer.status, answer.json()["title"]) == (200, "rest")
    counted(gateway, "rpc", "answered")


def test_the_rest_side_may_hang_too(started, rest, rpc):
    gateway = started(canary("50%", timeout="3s"))
    rest.answers(hang)
    assert gateway.fetch("GET", "/v1/books/b1", rest_user()).json()["title"] == "rpc"
    counted(gateway, "rest", "answered")
    assert rest.only().gone.wait(30)


@pytest.mark.parametrize("dialect, backend", [("grpc", "grpc"), ("grpc-web", "grpc-web")])
def test_the_deadline_of_a_grpc_caller_is_for_both_sides(echo_pair, rest, line, dialect, backend):
    client = echo_pair(dialect, backend, {"stage": "canary", "canary": {"percent": "50%", "sticky_by": "header:x-user"}})
    user = next(f"user-{n}" for n in range(100) if place(f"user-{n}", ECHO) >= 5000)
    rest.answers(hang)
    assert client.call("Say", line(data=b"abc"), {"x-user": user}, timeout=3).line.text == "hello"
    counted(client.gateway, "rest", "answered", 1, "Say")


def test_both_hang(started, rest, rpc):
    gateway = started(canary(timeout="800ms"))
    forever(rpc)
    rest.answers(hang)
    assert gateway.fetch("GET", "/v1/books/b1").status == 504
    counted(gateway, "rpc", "failed")


def test_retries_of_the_side_are_in_its_half(started, rest, rpc):
    """A pause that would take more than its half ends with that."""
    gateway = started(canary("50%", timeout="3s"), {"legacy": {"retries": {
        "attempts": 5, "min_per_second": 100, "max_retry_after": "10s"}}})
    rest.answers(Reply(503, [("Retry-After", "2")]))
    assert gateway.fetch("GET", "/v1/books/b1", rest_user()).json()["title"] == "rpc"
    assert len(rest.requests) == 1
    counted(gateway, "rest", "answered")


# Who is not cut.

def test_an_answer_that_has_begun_is_waited_for(start, echo_gateways, rest):
    """Held back for its end, for a gRPC caller."""
    def whole(exchange):
        exchange.head(200, [("content-type", "application/grpc")])
        time.sleep(1.6)
        exchange.data(b"\0\0\0\0\x02\x0a\0")
        exchange.connection.h2.send_headers(exchange.stream, [("grpc-status", "0")], end_stream=True)
        exchange.connection.flush()

    upstream = HTTP2Upstream(whole)
    setup = echo_gateways.configuration("grpc")
    setup["upstreams"]["echo"] = {"protocol": "grpc", "endpoints": [upstream.url]}
    setup["upstreams"]["legacy"] = {"protocol": "rest", "endpoints": [rest.url]}
    setup["services"][ECHO] |= {"rest": "legacy", "methods": {"Say": {
        "http": {"post": "/v1/say", "body": "*"}, "fallback": True}}}
    gateway = start(setup)
    with HTTP2Client(gateway.address) as client:
        stream = client.start("POST", f"/{ECHO}/Say", [
            ("content-type", "application/grpc"), ("te", "trailers"), ("grpc-timeout", "2500m")], b"\0\0\0\0\0")
        answer = client.finish(stream)
    assert (bytes(answer.body), dict(answer.trailers)["grpc-status"]) == (b"\0\0\0\0\x02\x0a\0", "0")
    assert not rest.requests
    upstream.close()


def test_a_caller_who_sends_slowly_is_not_the_sides_fault(started, rest, rpc):
    gateway = started(canary())
    message = connect_request(timeout=3000)
    with gateway.connect() as wire:
        wire.send(message[:-4])
        time.sleep(1.8)
        wire.send(message[-4:])
        answer = wire.answer()
    assert (answer.status, answer.json()["title"]) == (200, "rpc")
    assert fallbacks(gateway) == 0


def test_where_the_other_side_cannot_be_asked_the_first_has_all_of_the_time(started, rest, rpc):
    gateway = started(canary(fallback={"max_body": "1KiB"}), {"content": {"codec": "json"}})

    async def slow():
        await asyncio.sleep(1.6)
        return rpc.book("b1", title="rpc")

    rpc.script = lambda call, context: slow()
    with gateway.connect() as wire:
        wire.send(connect_request(b'{"id":"%s"}' % (b"b" * 5000), timeout=2500))
        answer = wire.answer()
    assert (answer.status, answer.json()["title"]) == (200, "rpc")
    assert not rest.requests


# Trailers.

@pytest.mark.parametrize("body", [[b'{"shelf"', b': "s"}'], []])
def test_request_trailers_go_to_the_other_side(started, rest, rpc, body):
    """Where the request passes as it came."""
    gateway = started({}, service={"stage": "rpc"}, methods={"MoveBook": {"fallback": {"unsafe": True}}})
    fails(rpc)
    rest.answers(Reply.json(book("moved")))
    with gateway.connect() as wire:
        wire.send(request_bytes("POST", "/v1/books/b1:move", [
            ("Content-Type", "application/json"), ("Transfer-Encoding", "chunked"), ("Trailer", "X-Check")])
            + chunked(body, [("X-Check", "sum"), ("Content-Length", "3")]))
        answer = wire.answer()
    assert answer.json()["id"] == "moved"
    request = rest.only()
    assert (request.body, request.trailers) == (b"".join(body), [("X-Check", "sum")])
    counted(gateway, "rpc", "answered", method="MoveBook")
    nothing_is_held(gateway)


def test_request_trailers_go_to_the_other_side_over_http2(start, configuration, rpc):
    upstream = HTTP2Upstream(lambda exchange: exchange.answer(200, [("content-type", "application/json")], b'{"id":"moved"}'))
    setup = configuration(stage="rpc", methods={"MoveBook": {"fallback": {"unsafe": True}}})
    setup["upstreams"]["legacy"] |= {"endpoints": [upstream.url], "http": "2"}
    gateway = start(setup)
    fails(rpc)
    with HTTP2Client(gateway.address) as client:
        stream = client.start("POST", "/v1/books/b1:move", [("content-type", "application/json")], b'{"shelf": "s"}', end=False)
        client.trailers(stream, [("x-check", "sum")])
        answer = client.finish(stream)
    assert answer.status == 200
    [exchange] = upstream.exchanges
    assert (bytes(exchange.body), exchange.trailers) == (b'{"shelf": "s"}', [("x-check", "sum")])
    upstream.close()
