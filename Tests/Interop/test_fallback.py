"""`fallback: true`: a call that fails on its side is asked once more on the other, in stages canary and rpc (decision 0028)."""

import asyncio
import json
import random
import threading
import time

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.api.httpbody_pb2 import HttpBody
from google.protobuf import json_format

from support.curl import curl
from support.echo import SERVICE as ECHO
from support.fleet import Fleet
from support.gateway import run, wait_until
from support.rest_service import Reply, book, hang
from support.scripted import Scripted, read_all, read_head
from support.sides import PROCEDURE, place, side, sign

# Ways to break the rpc side and those to break the rest side, as a route falls back from it.
QUICK = {"attempts": 0, "per_try_timeout": "300ms"}
NOWHERE = "http://127.0.0.1:1"


def canary(percent="100%", **more):
    return {"stage": "canary", "canary": {"percent": percent, "sticky_by": "header:x-user"}, "fallback": True, **more}


@pytest.fixture
def started(start, configuration, rest, rpc):
    """A gateway whose GetBook has these settings; `upstreams` lays keys over those of an upstream."""
    sign(rest, rpc)

    def started(settings, upstreams=None, methods=None, **top):
        setup = configuration(methods={"GetBook": settings, **(methods or {})}, **top)
        for name, keys in (upstreams or {}).items():
            setup["upstreams"][name] |= keys
        return start(setup)

    return started


def fails(rpc, code=Code.INTERNAL):
    def script(call, context):
        raise ConnectError(code, "broken")

    rpc.script = script


def fallbacks(gateway, **labels):
    return gateway.metric("turnout_fallbacks_total", **labels)


def counted(gateway, side, outcome, count=1, method="GetBook"):
    wait_until(lambda: fallbacks(gateway, method=method, **{"from": side}, outcome=outcome) == count,
               what=f"{count} {outcome} from {side}")


def nothing_is_held(gateway):
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="the end of all buffers")


def route(gateway, procedure=PROCEDURE):
    return gateway.admin("GET", f"/routes/{procedure}").json()


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
    # Without a time of its own a try takes all that there is.
    gateway = started(canary(timeout="500ms"))
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

def rest_user(percent=50):
    return [("X-User", next(f"user-{n}" for n in range(100) if place(f"user-{n}") >= percent * 100))]


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


# RPC callers.

def reply_of_line(request, **more):
    got = request.json()
    return Reply.json({"text": "rest:" + got.get("text", ""), "data": got.get("data", ""), **more})


@pytest.fixture
def echo_pair(start, echo_gateways, rest):
    """`echo_pair(dialect, backend)`: a client before a gateway whose Say may go to a REST service too."""
    made = []

    def pair(dialect, backend, settings=None, **more):
        rest.answers(reply_of_line)
        setup = echo_gateways.configuration(backend, **more)
        setup["upstreams"]["legacy"] = {"protocol": "rest", "endpoints": [rest.url]}
        setup["services"][ECHO] |= {"rest": "legacy", "methods": {"Say": {
            "http": {"post": "/v1/say", "body": "*"}, "fallback": True, **(settings or {})}}}
        gateway = start(setup)
        memory = echo_gateways.memory(backend)
        memory.reset()
        client = echo_gateways.client(dialect, gateway)
        made.append(client)
        client.memory, client.gateway = memory, gateway
        return client

    return pair


PAIRS = [("connect", "connect"), ("connect-json", "connect-json"), ("connect-json", "connect"), ("curl-get", "connect-json"),
         ("curl-h2", "connect-h2"), ("grpc", "grpc"), ("grpc", "connect"), ("grpc-runtime", "grpc-runtime"),
         ("grpc-json", "grpc-json"), ("grpc-web", "grpc-web"), ("grpc-web-h2", "grpc-web-h2"), ("grpc-web-text", "grpc-web"),
         ("connect", "grpc"), ("grpc-web", "grpc")]


@pytest.mark.parametrize("dialect, backend", PAIRS, ids=["-to-".join(pair) for pair in PAIRS])
def test_every_dialect(echo_pair, rest, line, dialect, backend):
    client = echo_pair(dialect, backend)
    data = bytes(range(256)) * 20
    # A success passes, with all that belongs to it.
    got = client.call("Say", line(data=data), {"x-word": "w"})
    assert (got.line.text, got.line.data, got.headers["x-head"], got.trailers["x-tail"]) == ("hello", data, "h", "t")
    # So does a fault of the caller.
    got = client.call("Say", line(code=5, message="none", detail=True))
    assert (got.code, got.message, len(got.details), got.trailers["x-tail"]) == ("not_found", "none", 1, "t")
    assert not rest.requests
    for code in (2, 12, 13, 14):
        got = client.call("Say", line(code=code, message="broken", data=data), {"x-word": "w"})
        assert (got.line.text, got.line.data) == ("rest:hello", data)
        assert "x-head" not in got.headers and "x-tail" not in got.trailers
    assert [request["x-word"] for request in rest.requests] == ["w"] * 4
    assert rest.requests[0].json()["wish"] == {"code": 2, "message": "broken"}
    counted(client.gateway, "rpc", "answered", 4, "Say")
    assert client.memory.calls == 6
    assert client.gateway.metric("turnout_requests_total", side="rest", code="ok") == 4
    nothing_is_held(client.gateway)


@pytest.mark.parametrize("dialect, backend", [("connect", "connect"), ("grpc", "grpc"), ("grpc-web", "grpc-web"), ("grpc", "connect")])
def test_rest_to_rpc_for_rpc_callers(echo_pair, rest, line, dialect, backend):
    client = echo_pair(dialect, backend, {"stage": "canary", "canary": {
        "percent": "50%", "sticky_by": "header:x-user"}})
    user = next(f"user-{n}" for n in range(100) if place(f"user-{n}", ECHO) >= 5000)
    for reply in (Reply(500, body=b"<html>"), Reply(raw=b"HTTP/1.1 2"), Reply.json({"text": {}})):
        rest.answers(reply)
        got = client.call("Say", line(data=b"abc"), {"x-user": user})
        assert (got.line.text, got.line.data, got.headers["x-head"]) == ("hello", b"abc", "h")
    assert (len(rest.requests), client.memory.calls) == (3, 3)
    counted(client.gateway, "rest", "answered", 3, "Say")


@pytest.mark.parametrize("dialect, backend", [("connect", "connect"), ("grpc", "grpc"), ("grpc-web", "grpc-web")])
def test_what_is_too_long_to_be_kept_is_asked_once(echo_pair, rest, line, dialect, backend):
    client = echo_pair(dialect, backend, {"fallback": {"max_body": "8KiB"}})
    got = client.call("Say", line(code=13, message="broken", data=b"x" * 9000))
    assert (got.code, got.message, got.trailers["x-tail"]) == ("internal", "broken", "t")
    assert not rest.requests
    counted(client.gateway, "rpc", "too_large", 1, "Say")
    # An answer that is long passes, and a shorter one after it as ever.
    got = client.call("Say", line(size=100_000))
    assert got.line.data == b"d" * 100_000
    assert client.call("Say", line(code=13)).line.text == "rest:hello"
    nothing_is_held(client.gateway)


def test_a_backend_that_is_killed_and_comes_back(start, configuration, rest, rpc, client_of, pb):
    """Under load, with one side away now and then: no call fails."""
    sign(rest, rpc)
    fleet = Fleet(1)
    fleet[0].answers(lambda request: Reply.json({**book("b1"), "title": "rest"}))
    setup = configuration(methods={"GetBook": canary("50%")})
    setup["upstreams"]["legacy"]["endpoints"] = [fleet[0].url]
    gateway = start(setup)
    stop, failed, counts = threading.Event(), [], [0, 0]
    users = [f"user-{n}" for n in range(20)]

    def by_rest():
        with gateway.connect() as wire:
            while not stop.is_set():
                for user in users:
                    answer = wire.request("GET", "/v1/books/b1", [("X-User", user)])
                    counts[0] += 1
                    if answer.status != 200:
                        failed.append(answer)

    def by_rpc():
        client = client_of(gateway)
        while not stop.is_set():
            for user in users:
                try:
                    client.get_book(pb.GetBookRequest(id="b1"), headers={"x-user": user})
                    counts[1] += 1
                except ConnectError as error:
                    failed.append(error)

    threads = [threading.Thread(target=work) for work in (by_rest, by_rpc)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(4):
            fleet[0].stop()
            before = fallbacks(gateway, outcome="answered")
            wait_until(lambda: fallbacks(gateway, outcome="answered") > before + 10, what="fallbacks")
            fleet[0].start()
            before = len(fleet[0].requests)
            wait_until(lambda: len(fleet[0].requests) > before + 10, what="its return")
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
        fleet.stop()
    assert not failed, failed[:3]
    assert min(counts) > 20


def test_failures_at_random_reach_nobody(started, rest, rpc, client_of, pb):
    gateway = started(canary("50%"))
    turns = iter(range(1 << 30))

    def script(call, context):
        if next(turns) % 3 == 0:
            raise ConnectError(Code.UNAVAILABLE, "now and then")
        return rpc.book("b1", title="rpc")

    rpc.script = script
    client = client_of(gateway)
    with gateway.connect() as wire:
        for number in range(150):
            assert side(wire, [("X-User", f"user-{number}")]) in ("rest", "rpc")
            assert client.get_book(pb.GetBookRequest(id="b1"), headers={"x-user": f"user-{number}"}).title in ("rest", "rpc")
    assert fallbacks(gateway, outcome="answered") > 20
    assert gateway.metric("turnout_requests_total", method="GetBook") == gateway.metric(
        "turnout_requests_total", method="GetBook", code="ok")


# Who else has to do with it.

def test_the_guard_trips_although_nobody_saw_a_failure(started, rest, rpc):
    gateway = started(canary(guard={"min_requests": 20, "max_error_rate": "10%"}))
    fails(rpc)
    with gateway.connect() as wire:
        assert {side(wire) for _ in range(30)} == {"rest"}
        wait_until(lambda: route(gateway)["guard"]["state"] == "tripped", what="the trip")
        calls = len(rpc.calls)
        assert {side(wire) for _ in range(5)} == {"rest"}
        # A failure of the rest side leads nobody back.
        rest.answers(Reply(500))
        assert wire.request("GET", "/v1/books/b1").status == 500
    assert len(rpc.calls) == calls
    assert gateway.metric("turnout_rollbacks_total", method="GetBook", reason="error_rate") == 1


def test_methods_with_side_effects_are_asked_once(started, rest, rpc):
    """`fallback:` of a service is for those of its methods that have none."""
    gateway = started({}, service={"fallback": True, "stage": "rpc"}, methods={
        "MoveBook": {"fallback": {"unsafe": True}}})
    fails(rpc)
    headers = [("Content-Type", "application/json")]
    assert gateway.fetch("POST", "/v1/shelves/s/books", headers, b'{"title": "t"}').status == 500
    assert not rest.requests
    rest.answers(Reply.json(book("moved")))
    answer = gateway.fetch("POST", "/v1/books/b1:move", headers, b'{"shelf": "s"}')
    assert answer.json()["id"] == "moved"
    assert (rest.only().method, rest.only().body) == ("POST", b'{"shelf": "s"}')


def test_a_caller_who_leaves_ends_both(started, rest, rpc):
    gateway = started(canary())
    fails(rpc)
    rest.answers(hang)
    with gateway.connect() as wire:
        wire.send(b"GET /v1/books/b1 HTTP/1.1\r\nHost: x\r\n\r\n")
        rest.wait_for(1)
    assert rest.only().gone.wait(30)
    counted(gateway, "rpc", "canceled")


def test_testers_see_the_side_that_they_name(started, rest, rpc):
    gateway = started(canary(override={"addresses": ["127.0.0.1"]}))
    fails(rpc)
    assert gateway.fetch("GET", "/v1/books/b1", [("X-Turnout-Side", "rpc")]).status == 500
    assert not rest.requests and fallbacks(gateway) == 0


def test_a_caller_stays_on_its_side_for_the_next_call(started, rest, rpc):
    gateway = started(canary("50%"))
    rest.answers(Reply(500))
    with gateway.connect() as wire:
        assert side(wire, rest_user()) == "rpc"
        sign(rest, rpc)
        assert side(wire, rest_user()) == "rest"


def test_the_comparison_is_about_the_first_answer(started, rest, rpc, client_of, pb):
    """Of a call that was translated, and of one that passed."""
    gateway = started(canary(stage="rpc", shadow={"back": True, "max_samples": 10}))
    fails(rpc)
    with gateway.connect() as wire:
        assert side(wire) == "rest"
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b1")).title == "rest"
    wait_until(lambda: gateway.metric("turnout_shadow_total", outcome="mismatch") == 2, what="two comparisons")
    # Each was asked once for the comparison, and once for the caller.
    assert len(rest.requests) == 4
    samples = gateway.admin("GET", f"/routes/{PROCEDURE}/samples").json()["samples"]
    assert [sample["status"] for sample in samples] == [{"rest": "ok", "rpc": "internal"}] * 2


def test_the_deadline_is_for_both(started, rest, rpc):
    gateway = started(canary(timeout="1s"), {"content": {"retries": QUICK}})

    async def forever(call):
        await asyncio.sleep(60)

    rpc.script = lambda call, context: forever(call)
    rest.answers(hang)
    assert gateway.fetch("GET", "/v1/books/b1").status == 504
    counted(gateway, "rpc", "failed")
    assert len(rest.requests) == 1


def test_a_head_request(started, rest):
    gateway = started(canary("50%"))
    rest.answers(Reply(500))
    answer = gateway.fetch("HEAD", "/v1/books/b1", rest_user())
    assert (answer.status, answer.body) == (200, b"")


def test_what_is_shown(started, rest, rpc):
    gateway = started(canary("50%"))
    fails(rpc)
    with gateway.connect() as wire:
        for number in range(20):
            side(wire, [("X-User", f"user-{number}")])
    count = sum(place(f"user-{number}") < 5000 for number in range(20))
    counted(gateway, "rpc", "answered", count)
    assert route(gateway)["fallback"] == {"rpc": {"answered": count}, "rest": {}}
    status = run("status", "--admin", gateway.admin_url)
    assert f"{count} asked again" in status.stdout
    report = run("report", "--admin", gateway.admin_url)
    assert f"{count} asked again" in report.stdout
    explained = run("explain", "--config", gateway.file, "GET", "/v1/books/b1")
    assert "fallback  " in explained.stdout and "is asked once more, if it fails" in explained.stdout


@pytest.mark.parametrize("methods, words", [
    ({"CreateBook": {"fallback": True}}, "may have side effects, so it cannot be asked again"),
    ({"GetBook": {"fallback": "legacy"}}, "named by `fallback:` at the top level"),
    ({"GetBook": {"guard": {"min_requests": 1, "max_error_rate": "1%", "fallback": True}}}, "write it beside `guard:`"),
])
def test_what_check_refuses(configuration, tmp_path, methods, words):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(methods=methods), indent=1))
    result = run("check", "--config", file)
    assert result.returncode == 1 and words in result.stdout + result.stderr


# Odd moments.

@pytest.mark.parametrize("percent, breaks", [("100%", "rpc"), ("50%", "rest")])
def test_rest_callers_over_http2(started, rest, rpc, percent, breaks):
    gateway = started(canary(percent))
    if breaks == "rpc":
        fails(rpc)
    else:
        rest.answers(Reply(500, body=b"x" * 5000))
    for body in (None, b""):
        answer = curl(gateway.address, "/v1/books/b1", "--http2-prior-knowledge", "-X", "GET", body=body,
                      headers=rest_user())
        assert (answer.status, json.loads(answer.body)["title"]) == (200, "rest" if breaks == "rpc" else "rpc")
    counted(gateway, breaks, "answered", 2)


@pytest.mark.parametrize("caller", [b"application/proto", b"application/json"])
def test_a_side_that_fails_before_the_request_is_whole(started, rest, pb, caller):
    """What passed to the first side was kept; the rest of it comes for the other one."""
    answered = threading.Event()

    def early(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 503 no\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n"
                           b'{"code":"unavailable"}')
        answered.set()
        read_all(connection)

    server = Scripted(early)
    codec = caller.decode().split("/")[1]
    gateway = started(canary(stage="rpc"), {"content": {"endpoints": [server.url], "codec": codec}})

    def ask(message, code):
        answered.clear()
        body = message.SerializeToString() if codec == "proto" else json_format.MessageToJson(message).encode()
        with gateway.connect() as wire:
            wire.send(b"POST /%s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (
                PROCEDURE.encode(), caller, len(body), body[:2]))
            assert answered.wait(30)
            wait_until(lambda: gateway.metric("turnout_upstream_duration_seconds_count", upstream="content") >= code,
                       what="the end of the first question")
            wire.send(body[2:])
            return wire.answer()

    assert ask(pb.GetBookRequest(id="b1", title_size=7), 1).status == 200
    assert rest.only().target == "/v1/books/b1?titleSize=7"
    counted(gateway, "rpc", "answered")
    # No path can say this, so the failure stands.
    answer = ask(pb.GetBookRequest(id="..", title_size=7), 2)
    assert (answer.status, answer.json()["code"]) == (503, "unavailable")
    counted(gateway, "rpc", "refused")
    nothing_is_held(gateway)
    server.close()


def test_raw_answers(started, rest, rpc):
    """Of either side, long and short."""
    gateway = started({}, methods={"GetCover": canary("50%")})
    long = b"\x89PNG" + bytes(range(256)) * 2000
    users = {name: next(f"user-{n}" for n in range(100) if (place(f"user-{n}") < 5000) == (name == "rpc"))
             for name in ("rest", "rpc")}
    for body in (b"\x89PNG", long):
        fails(rpc)
        rest.answers(Reply(200, [("Content-Type", "image/png")], body))
        answer = gateway.fetch("GET", "/v1/books/b1/cover", [("X-User", users["rpc"])])
        assert (answer.status, answer["content-type"], answer.body) == (200, "image/png", body)
        rpc.script = lambda call, context: HttpBody(content_type="image/gif", data=body)
        rest.answers(Reply(500))
        answer = gateway.fetch("GET", "/v1/books/b1/cover", [("X-User", users["rest"])])
        assert (answer.status, answer["content-type"], answer.body) == (200, "image/gif", body)
    nothing_is_held(gateway)


def test_no_room_for_what_would_be_kept(echo_pair, rest, line):
    """The call goes on as it would without."""
    client = echo_pair("grpc", "grpc", limits={"message": "2KiB", "buffers": "2KiB"})
    got = client.call("Say", line(code=13, message="broken", data=b"x" * 4000))
    assert (got.code, got.message) == ("internal", "broken")
    counted(client.gateway, "rpc", "buffers", 1, "Say")
    assert client.call("Say", line(code=13)).line.text == "rest:hello"
    nothing_is_held(client.gateway)


def test_callers_who_leave_at_any_moment(start, configuration, rest, rpc, pb):
    """Before, between and after the two questions: nothing is kept of their calls, and the next ones are answered."""
    choose = random.Random(7)
    sign(rest, rpc)

    async def slowly(call, wait, code):
        await asyncio.sleep(wait)
        if code:
            raise ConnectError(code, "broken")
        return rpc.book("b1", title="rpc")

    rpc.script = lambda call, context: slowly(
        call, choose.choice([0, 0, 0.002, 0.01]), choose.choice([None, Code.INTERNAL, Code.UNAVAILABLE]))
    replies = [
        Reply.json(book("b1")), Reply(500, body=b"x" * 3000), Reply(503, body=b"y" * 100_000), Reply(raw=b"HTTP/1.1 5"),
        Reply(500, body=b"z" * 900, cut=400)]
    rest.answers(lambda request: choose.choice(replies))
    gateway = start(configuration(methods={"GetBook": canary("50%", shadow={"back": True})}))
    message = pb.GetBookRequest(id="b1", title_size=5).SerializeToString()
    heads = [
        b"GET /v1/books/b1 HTTP/1.1\r\nHost: x\r\nX-User: user-%d\r\n\r\n",
        b"POST /%s HTTP/1.1\r\nHost: x\r\nX-User: user-%%d\r\nContent-Type: application/proto\r\nContent-Length: %d\r\n\r\n%s" % (
            PROCEDURE.encode(), len(message), message)]
    for number in range(400):
        with gateway.connect() as wire:
            sent = choose.choice(heads) % (number % 40)
            wire.send(sent[:len(sent) - choose.choice([0, 0, 0, 1])])
            time.sleep(choose.choice([0, 0, 0.001, 0.004, 0.015]))
    nothing_is_held(gateway)
    sign(rest, rpc)
    with gateway.connect() as wire:
        assert {side(wire, [("X-User", f"user-{number}")]) for number in range(40)} == {"rest", "rpc"}
    wait_until(lambda: gateway.metric("turnout_connections") == 0, what="the end of all connections")
    assert fallbacks(gateway, outcome="answered") + fallbacks(gateway, outcome="canceled") > 20
