"""`fallback: true`: a call that fails on its side is asked once more on the other, in stages canary and rpc (decision 0028)."""

import asyncio
import threading

import pytest
from connectrpc.code import Code

from support.fallback import NOWHERE, QUICK, canary, counted, fails, fallbacks, rest_user, route
from support.gateway import wait_until
from support.rest_service import Reply
from support.sides import place, side

# From the rpc side to the rest side: a REST caller's call was translated, and passes now.

@pytest.mark.parametrize("code", [
    Code.INTERNAL, Code.UNKNOWN, Code.UNAVAILABLE, Code.DATA_LOSS, Code.UNIMPLEMENTED, Code.DEADLINE_EXCEEDED])
@pytest.mark.parametrize("stage", ["canary", "rpc"])
def test_what_fails_on_the_rpc_side_is_answered_by_the_rest_side(started, rest, rpc, code, stage):
    gateway = started(canary(stage=stage))
    fails(rpc, code)
    with gateway.connect() as wire:
        assert [side(wire, [("X-Word", "w")], "/v1/books/b1?title_size=3") for _ in range(3)] == ["rest"] * 3
    assert len(rpc.calls) == len(rest.requests) == 3
    request = rest.requests[0]
    # As it came, and nothing of what the other side was sent.
    assert (request.method, request.target, request["x-word"], request.body) == (
        "GET", "/v1/books/b1?title_size=3", "w", b"")
    assert request["connect-protocol-version"] is None and request["content-type"] is None
    counted(gateway, "rpc", "answered", 3)
    assert gateway.metric("turnout_requests_total", method="GetBook", side="rest", code="ok") == 3
    assert gateway.metric("turnout_requests_total", method="GetBook") == 3
    # The guard's figures say what the side did, not what the caller saw.
    wait_until(lambda: route(gateway)["sides"]["rpc"], what="the figures")
    now = route(gateway)
    assert (now["sides"]["rpc"]["requests"], now["sides"]["rpc"]["failures"], now["sides"]["rest"]) == (3, 3, None)


@pytest.mark.parametrize("code", [Code.NOT_FOUND, Code.INVALID_ARGUMENT, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED])
def test_the_callers_own_faults_are_the_answer(started, rest, rpc, code):
    gateway = started(canary())
    fails(rpc, code)
    assert gateway.fetch("GET", "/v1/books/b1").status in (400, 403, 404, 429)
    assert (len(rpc.calls), len(rest.requests), fallbacks(gateway)) == (1, 0, 0)


def test_a_side_that_is_not_there(started, rest):
    gateway = started(canary(stage="rpc"), {"content": {"endpoints": [NOWHERE]}})
    assert gateway.fetch("GET", "/v1/books/b1").json()["title"] == "rest"
    counted(gateway, "rpc", "answered")
    line = next(line for line in gateway.access_log())
    for part in ('"side":"rest"', '"fallback_from":"rpc"', '"fallback_code":"unavailable"', '"upstream":"legacy"', '"code":"ok"'):
        assert part in line


def test_a_line_of_text(started):
    gateway = started(canary(), {"content": {"endpoints": [NOWHERE]}}, interceptors=[{"access_log": {"format": "text"}}])
    assert gateway.fetch("GET", "/v1/books/b1").status == 200
    assert " canary/rpc>rest legacy 200 ok " in gateway.access_log()[0]


def test_a_side_that_hangs_leaves_time_by_its_try(started, rest, rpc):
    gateway = started(canary(), {"content": {"retries": QUICK}})

    async def forever(call):
        await asyncio.sleep(60)

    rpc.script = lambda call, context: forever(call)
    assert gateway.fetch("GET", "/v1/books/b1").json()["title"] == "rest"
    counted(gateway, "rpc", "answered")
    # A longer one takes what it says, and here that is all.
    gateway = started(canary(timeout="500ms"), {"content": {"retries": {"attempts": 0, "per_try_timeout": "30s"}}})
    assert gateway.fetch("GET", "/v1/books/b1").status == 504
    counted(gateway, "rpc", "late")
    assert len(rest.requests) == 1


def test_a_side_that_is_over_its_limit(started, rest, rpc):
    gateway = started(canary(), {"content": {"limits": {"max_requests": 1}}})
    free = threading.Event()

    async def waits(call):
        while not free.is_set():
            await asyncio.sleep(0.01)
        return rpc.book("b1", title="rpc")

    rpc.script = lambda call, context: waits(call)
    with gateway.connect() as one, gateway.connect() as other:
        one.send(b"GET /v1/books/b1 HTTP/1.1\r\nHost: x\r\n\r\n")
        rpc.wait_for(1)
        assert side(other) == "rest"
        free.set()
        assert one.answer().json()["title"] == "rpc"


def test_an_answer_that_does_not_fit_the_schema(started, rest, rpc, client_of, pb):
    """Of the rest side, for an RPC caller of a canary."""
    gateway = started(canary("50%"))
    caller = next(f"user-{n}" for n in range(100) if place(f"user-{n}") >= 5000)
    rest.answers(Reply.json({"title": 7}))
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b1"), headers={"x-user": caller}).title == "rpc"
    counted(gateway, "rest", "answered")


def test_a_request_that_translation_refuses_is_drift_of_the_rpc_side(started, rest, rpc):
    """The rest side takes it as it is; it counts as a failure, so that the move hears of it."""
    gateway = started(canary())
    assert gateway.fetch("GET", "/v1/books/b1?colour=red").json()["title"] == "rest"
    assert rest.only().target == "/v1/books/b1?colour=red" and not rpc.calls
    counted(gateway, "rpc", "answered")
    wait_until(lambda: (route(gateway)["sides"]["rpc"] or {}).get("failures") == 1, what="the figures")


def test_an_answer_that_is_too_large_to_be_translated(started, rest, rpc):
    gateway = started(canary(), limits={"message": "64KiB"})
    rpc.script = lambda call, context: rpc.book("b1", title="x" * 100_000)
    assert gateway.fetch("GET", "/v1/books/b1").json()["title"] == "rest"
    counted(gateway, "rpc", "answered")


# From the rest side to the rpc side: a REST caller's call passed, and is translated now.

@pytest.mark.parametrize("reply", [Reply(500, body=b"x" * 1000), Reply(503), Reply(501), Reply(raw=b""), Reply(raw=b"HTTP/1.1 2"),
                                   Reply(500, body=b"y" * 200_000)], ids=["500", "503", "501", "cut", "cut-head", "long"])
def test_what_fails_on_the_rest_side_is_answered_by_the_rpc_side(started, rest, rpc, reply):
    gateway = started(canary("50%"))
    rest.answers(reply)
    with gateway.connect() as wire:
        for _ in range(3):
            assert side(wire, [*rest_user(), ("X-Word", "w")], "/v1/books/b1?title_size=3") == "rpc"
    assert (len(rest.requests), len(rpc.calls)) == (3, 3)
    assert rpc.calls[0].message.title_size == 3 and rpc.calls[0].headers["x-word"] == "w"
    counted(gateway, "rest", "answered", 3)
    assert gateway.metric("turnout_requests_total", method="GetBook", side="rpc", code="ok") == 3
    assert gateway.metric("turnout_stage_decisions_total", method="GetBook", side="rest", reason="share") == 3
    wait_until(lambda: (route(gateway)["sides"]["rest"] or {}).get("failures") == 3, what="the figures")


def test_answers_that_are_dropped_leave_their_connection(started, rest):
    gateway = started(canary("50%"), workers=1)
    rest.answers(Reply(500, body=b"x" * 1000))
    before = rest.connections
    with gateway.connect() as wire:
        assert [side(wire, rest_user()) for _ in range(5)] == ["rpc"] * 5
    assert rest.connections == before + 1


def test_an_answer_that_hangs_behind_its_head_is_let_go(started, rest):
    gateway = started(canary("50%"))
    gone = []

    def script(request):
        request.send(b"HTTP/1.1 503 no\r\nContent-Length: 100\r\n\r\nbegun")
        gone.append(request.was_left())

    rest.answers(script)
    with gateway.connect() as wire:
        assert side(wire, rest_user()) == "rpc"
    wait_until(lambda: gone == [True], what="the end of the first request")


@pytest.mark.parametrize("status", [404, 400, 409, 429, 302, 304])
def test_other_answers_of_the_rest_side_pass(started, rest, rpc, status):
    gateway = started(canary("50%"))
    rest.answers(Reply(status))
    assert gateway.fetch("GET", "/v1/books/b1", rest_user()).status == status
    assert (len(rpc.calls), fallbacks(gateway)) == (0, 0)


def test_a_failure_stands_where_the_other_side_cannot_be_asked(started, rest, rpc):
    gateway = started(canary("50%"))
    rest.answers(Reply(500, [("X-Mine", "1")], b"that is it"))
    answer = gateway.fetch("GET", "/v1/books/b1?colour=red", rest_user())
    assert (answer.status, answer["x-mine"], answer.body) == (500, "1", b"that is it")
    assert not rpc.calls
    counted(gateway, "rest", "refused")


@pytest.mark.parametrize("settings", [canary("0%"), canary("0%", stage="rest"), canary(stage="shadow")],
                         ids=["canary-0", "rest", "shadow"])
def test_nobody_is_led_to_a_side_that_has_no_callers(started, rest, settings):
    gateway = started(settings)
    rest.answers(Reply(500))
    assert gateway.fetch("GET", "/v1/books/b1").status == 500
    assert fallbacks(gateway) == 0


def test_both_sides_fail(started, rest, rpc):
    gateway = started(canary())
    fails(rpc)
    rest.answers(Reply(502, body=b"no better"))
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer.body) == (502, b"no better")
    assert (len(rpc.calls), len(rest.requests)) == (1, 1)
    counted(gateway, "rpc", "failed")


def test_retries_come_first_and_the_other_side_is_asked_once(started, rest, rpc):
    gateway = started(canary(), {name: {"retries": {
        "attempts": 2, "on": ["503", "unavailable"], "backoff": {"base": "1ms", "max": "5ms"}, "min_per_second": 100}}
        for name in ("legacy", "content")})
    fails(rpc, Code.UNAVAILABLE)
    rest.answers(Reply(503))
    assert gateway.fetch("GET", "/v1/books/b1").status == 503
    assert (len(rpc.calls), len(rest.requests)) == (3, 1)
