"""Deadlines are passed on and enforced; a caller who leaves takes the upstream call along."""

import asyncio
import json

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.rest_service import hang
from support.schema import SERVICE
from support.wire import request_bytes

BODY = b'{"id": "b1"}'


def connect_request(timeout=None, kind="application/json", method="GetBook", body=BODY):
    fields = [("Content-Type", kind)]
    if timeout is not None:
        fields.append(("Connect-Timeout-Ms", str(timeout)))
    return request_bytes("POST", f"/{SERVICE}/{method}", fields, body)


async def sleep_long(call):
    await asyncio.sleep(60)


@pytest.mark.parametrize("codec", ["proto", "json"])
def test_the_remaining_time_is_passed_on(gateway_on_rpc, rpc, client_of, pb, codec):
    client_of(gateway_on_rpc, codec).get_book(pb.GetBookRequest(id="b1"), timeout_ms=9000)
    assert 0 < int(rpc.only().headers["connect-timeout-ms"]) <= 9000


def test_the_routes_own_time_is_passed_on_where_it_is_shorter(start, configuration, rpc, client_of, pb):
    gateway = start(configuration(stage="rpc", service={"timeout": "20s"}))
    gateway.fetch("GET", "/v1/books/b1")
    client_of(gateway).get_book(pb.GetBookRequest(id="b1"), timeout_ms=600_000)
    for call in rpc.calls:
        assert 10_000 < int(call.headers["connect-timeout-ms"]) <= 20_000


def test_a_callers_deadline_ends_a_rest_call(gateway_on_rest, rest):
    rest.answers(hang)
    with gateway_on_rest.connect() as wire:
        wire.send(connect_request(timeout=1000))
        answer = wire.answer()
    assert (answer.status, answer.json()["code"]) == (504, "deadline_exceeded")
    assert answer["content-type"] == "application/json"
    assert rest.only().gone.wait(30)


def test_a_callers_deadline_ends_an_rpc(gateway_on_rpc, rpc):
    rpc.script = lambda call, context: sleep_long(call)
    with gateway_on_rpc.connect() as wire:
        wire.send(connect_request(timeout=1000))
        answer = wire.answer()
    assert (answer.status, answer.json()["code"]) == (504, "deadline_exceeded")
    assert rpc.wait_for(1)[0].was_cancelled.wait(20)


def test_the_routes_timeout_ends_a_call_of_either_face(start, configuration, rest, rpc):
    gateway = start(configuration(stage="rpc", service={"timeout": "300ms"}))
    rpc.script = lambda call, context: sleep_long(call)
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer.json()["code"]) == (504, 4)
    gateway.set_stage(f"{SERVICE}/GetBook", "rest")
    rest.answers(hang)
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer.json()["code"]) == (504, 4)
    assert rest.only().gone.wait(30)


def test_the_official_clients_timeout(gateway_on_rest, rest, client_of, pb):
    rest.answers(hang)
    with pytest.raises(ConnectError) as error:
        client_of(gateway_on_rest).get_book(pb.GetBookRequest(id="b1"), timeout_ms=300)
    assert error.value.code == Code.DEADLINE_EXCEEDED
    assert rest.wait_for(1)[0].gone.wait(30)


def test_no_time_at_all(gateway_on_rest, rest):
    with gateway_on_rest.connect() as wire:
        wire.send(connect_request(timeout=0))
        answer = wire.answer()
    assert (answer.status, answer.json()["code"]) == (504, "deadline_exceeded")
    assert not rest.requests


@pytest.mark.parametrize("timeout", ["-1", "1.5", "99999999999", "1s", "+1"])
def test_timeouts_that_are_none(gateway_on_rest, rest, timeout):
    with gateway_on_rest.connect() as wire:
        wire.send(connect_request(timeout=timeout))
        answer = wire.answer()
    assert (answer.status, answer.json()["code"]) == (400, "invalid_argument")
    assert not rest.requests


@pytest.mark.parametrize("data", [
    request_bytes("GET", "/anything"), request_bytes("GET", "/v1/books/b1"), connect_request(),
    request_bytes("POST", "/upload", [("Transfer-Encoding", "chunked")]) + b"3\r\nabc\r\n0\r\n\r\n",
])
def test_a_client_that_leaves_a_rest_call(gateway_on_rest, rest, data):
    rest.answers(hang)
    with gateway_on_rest.connect() as wire:
        wire.send(data)
        request = rest.wait_for(1)[0]
    assert request.gone.wait(30)


@pytest.mark.parametrize("data", [
    request_bytes("GET", "/v1/books/b1"), connect_request(),
    connect_request(kind="application/proto", body=b"\x0a\x02b1"),
])
def test_a_client_that_leaves_an_rpc(gateway_on_rpc, rpc, data):
    rpc.script = lambda call, context: sleep_long(call)
    with gateway_on_rpc.connect() as wire:
        wire.send(data)
        call = rpc.wait_for(1)[0]
    assert call.was_cancelled.wait(20)


def test_a_client_that_leaves_is_counted_as_canceled(start, configuration, rest):
    from support.gateway import wait_until

    gateway = start(configuration())
    rest.answers(hang)
    with gateway.connect() as wire:
        wire.send(connect_request())
        rest.wait_for(1)
    wait_until(
        lambda: gateway.metric("turnout_requests_total", method="GetBook", face="connect", code="canceled") == 1)
    assert json.loads(gateway.access_log()[0])["code"] == "canceled"
