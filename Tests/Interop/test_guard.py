"""The guard: a route whose rpc side does worse is taken back by itself, and stays so until somebody sets it again."""

import asyncio

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.gateway import run, wait_until
from support.rest_service import Reply, book
from support.sides import PROCEDURE, side, sign

GUARD = {"window": "60s", "min_requests": 20, "max_error_rate": "10%"}


def setup(stage="canary", percent="100%", guard=GUARD, **more):
    return {"stage": stage, "canary": {"percent": percent, "sticky_by": "header:x-user"}, "guard": guard, **more}


@pytest.fixture
def started(start, configuration, rest, rpc):
    def started(settings, **top):
        sign(rest, rpc)
        return start(configuration(methods={"GetBook": settings}, **top))

    return started


def fails(rpc, code=Code.INTERNAL):
    def script(call, context):
        if call.message.id.startswith("bad"):
            raise ConnectError(code, "broken")
        return rpc.book("b1", title="rpc")

    rpc.script = script


def ask(gateway, targets, fields=()):
    with gateway.connect() as wire:
        return [wire.request("GET", f"/v1/books/{target}", list(fields)).status for target in targets]


def route(gateway):
    return gateway.admin("GET", f"/routes/{PROCEDURE}").json()


def rolled_back(gateway, reason):
    wait_until(lambda: gateway.metric("turnout_rollbacks_total", method="GetBook", reason=reason) == 1, what="a rollback")


def test_failures_take_a_canary_back(started, rest, rpc):
    gateway = started(setup())
    fails(rpc)
    answers = ask(gateway, ["bad"] * 30)
    # So many the guard needs; it may be quick with the others.
    assert answers[:20] == [500] * 20 and set(answers[20:]) <= {500, 200}
    rolled_back(gateway, "error_rate")
    with gateway.connect() as wire:
        assert {side(wire, target="/v1/books/bad") for _ in range(5)} == {"rest"}
    now = route(gateway)
    assert (now["stage"], now["percent"]) == ("canary", 0)
    assert (now["guard"]["state"], now["guard"]["previous"]) == ("tripped", {"stage": "canary", "percent": 100})
    assert "calls failed on the rpc side" in now["guard"]["reason"]
    assert (now["history"][0]["kind"], now["history"][0]["to"]) == ("guard", {"stage": "canary", "percent": 0})
    assert gateway.metric("turnout_guard_state", method="GetBook", state="tripped") == 1
    wait_until(lambda: "canary at 0% by the guard" in gateway.log(), what="a line in the log")


def test_a_trip_survives_reloads_until_somebody_sets_the_stage(started, rest, rpc, configuration):
    gateway = started(setup())
    fails(rpc)
    ask(gateway, ["bad"] * 25)
    rolled_back(gateway, "error_rate")
    gateway.write(configuration(methods={"GetBook": setup()}, drain="29s"))
    assert gateway.admin("POST", "/reload").status == 200
    assert route(gateway)["guard"]["state"] == "tripped"
    # What failed before counts no more.
    gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", {"stage": "canary", "percent": 100})
    assert ask(gateway, ["good"] * 10) == [200] * 10
    now = route(gateway)
    assert (now["guard"]["state"], now["percent"]) == ("watching", 100)
    ask(gateway, ["bad"] * 25)
    wait_until(lambda: route(gateway)["guard"]["state"] == "tripped", what="the second trip")


def test_a_route_in_stage_rpc_goes_back_to_rest_without_an_admin_endpoint(start, configuration, rest, rpc):
    sign(rest, rpc)
    fails(rpc)
    settings = configuration(methods={"GetBook": setup("rpc")})
    del settings["admin"]
    gateway = start(settings)
    answers = ask(gateway, ["bad"] * 25)
    assert answers[:20] == [500] * 20 and set(answers[20:]) <= {500, 200}
    with gateway.connect() as wire:
        wait_until(lambda: wire.request("GET", "/v1/books/bad").status == 200, what="the rest side")


@pytest.mark.parametrize("before, stage, after", [
    ({"stage": "shadow"}, {"stage": "rpc"}, {"stage": "rest"}),
    ({"stage": "canary", "percent": 50}, {"stage": "rpc"}, {"stage": "rest"}),
    ({"stage": "shadow"}, {"stage": "canary", "percent": 100}, {"stage": "canary", "percent": 0}),
    ({"stage": "canary", "percent": 50}, {"stage": "canary", "percent": 100}, {"stage": "canary", "percent": 0}),
])
def test_a_trip_leaves_nobody_on_the_rpc_side_whatever_was_before(started, rpc, before, stage, after):
    gateway = started(setup())
    fails(rpc)
    for setting in (before, stage):
        assert gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", setting).status == 200
    ask(gateway, ["bad"] * 25)
    rolled_back(gateway, "error_rate")
    now = route(gateway)
    assert {key: now[key] for key in after} == after
    assert now["guard"]["previous"] == stage
    calls = len(rpc.calls)
    assert ask(gateway, ["bad"] * 5) == [200] * 5
    assert len(rpc.calls) == calls


def test_too_few_requests_do_nothing(started, rpc):
    gateway = started(setup())
    fails(rpc)
    ask(gateway, ["bad"] * 15)
    wait_until(lambda: (route(gateway)["sides"]["rpc"] or {}).get("failures") == 15, what="the figures")
    assert route(gateway)["guard"]["state"] == "watching"
    assert ask(gateway, ["bad"]) == [500]


@pytest.mark.parametrize("code", [Code.NOT_FOUND, Code.INVALID_ARGUMENT, Code.PERMISSION_DENIED])
def test_the_callers_own_faults_do_nothing(started, rpc, code):
    gateway = started(setup())
    fails(rpc, code)
    ask(gateway, ["bad"] * 40)
    wait_until(lambda: (route(gateway)["sides"]["rpc"] or {}).get("client_errors") == 40, what="the figures")
    assert route(gateway)["guard"]["state"] == "watching"


def test_what_translation_refuses_is_the_flips_fault(started):
    gateway = started(setup())
    assert ask(gateway, ["b1?colour=red"] * 25) == [400] * 25
    rolled_back(gateway, "error_rate")
    assert ask(gateway, ["b1?colour=red"]) == [200]


def test_a_body_that_is_no_json_is_the_callers_fault(start, configuration, rest, rpc):
    gateway = start(configuration(methods={"CreateBook": setup("rpc")}))
    with gateway.connect() as wire:
        for _ in range(30):
            assert wire.request("POST", "/v1/shelves/s/books", [("Content-Type", "application/json")], b"{x").status == 400
    path = f"/routes/{PROCEDURE.replace('GetBook', 'CreateBook')}"
    wait_until(lambda: gateway.admin("GET", path).json()["sides"]["rpc"], what="the figures")
    now = gateway.admin("GET", path).json()
    assert (now["guard"]["state"], now["sides"]["rpc"]["failures"]) == ("watching", 0)


def split(rest, rpc, gateway, count=60):
    """Half of the callers on each side."""
    ask_as = [f"user-{number}" for number in range(count)]
    with gateway.connect() as wire:
        for user in ask_as * 2:
            wire.request("GET", "/v1/books/bad", [("X-User", user)])


def test_it_is_measured_against_the_other_side(started, rest, rpc):
    gateway = started(setup(percent="50%", guard={"min_requests": 20, "max_error_rate_ratio": 2}))
    fails(rpc, Code.NOT_FOUND)
    rest.answers(Reply.json({"message": "none"}, 404))
    split(rest, rpc, gateway)
    wait_until(lambda: (route(gateway)["sides"]["rpc"] or {}).get("client_errors", 0) > 20, what="the figures")
    assert route(gateway)["guard"]["state"] == "watching"
    # The rest side finds what the rpc side does not.
    gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", {"stage": "canary", "percent": 50})
    rest.answers(Reply.json(book("b1")))
    split(rest, rpc, gateway)
    rolled_back(gateway, "client_error_ratio")


def test_a_slow_side_is_taken_back(started, rest, rpc):
    gateway = started(setup(percent="50%", guard={"min_requests": 10, "max_latency_ratio": 3}))

    async def slow(call):
        await asyncio.sleep(0.08)
        return rpc.book("b1", title="rpc")

    rpc.script = lambda call, context: slow(call)
    split(rest, rpc, gateway, 20)
    rolled_back(gateway, "latency_ratio")
    assert "95th percentile" in route(gateway)["guard"]["reason"]


def test_one_caller_cannot_move_a_route(started, rpc):
    gateway = started(setup(guard={**GUARD, "max_key_share": "10%"}))
    fails(rpc)
    ask(gateway, ["good"] * 1, [("X-User", "other")])
    ask(gateway, ["bad"] * 60, [("X-User", "one")])
    wait_until(lambda: (route(gateway)["sides"]["rpc"] or {}).get("failures", 0) >= 2, what="the figures")
    assert route(gateway)["sides"]["rpc"]["requests"] < 20
    assert route(gateway)["guard"]["state"] == "watching"
    for number in range(30):
        ask(gateway, ["bad"], [("X-User", f"user-{number}")])
    rolled_back(gateway, "error_rate")


def test_testers_do_not_count(started, rpc):
    gateway = started(setup(percent="0%", override={"addresses": ["127.0.0.1"]}))
    fails(rpc)
    assert ask(gateway, ["bad"] * 30, [("X-Turnout-Side", "rpc")]) == [500] * 30
    assert ask(gateway, ["good"]) == [200]
    wait_until(lambda: route(gateway)["sides"]["rest"], what="the figures")
    assert route(gateway)["sides"]["rpc"] is None


def test_a_guard_that_only_tells(started, rpc):
    gateway = started(setup(guard={**GUARD, "action": "alert"}))
    fails(rpc)
    assert ask(gateway, ["bad"] * 30) == [500] * 30
    wait_until(lambda: route(gateway)["guard"]["state"] == "alerting", what="the alert")
    assert route(gateway)["percent"] == 100
    wait_until(lambda: "the guard of " in gateway.log(), what="a line in the log")
    assert gateway.metric("turnout_rollbacks_total") == 0


def test_answers_that_differ_are_told(started):
    gateway = started(setup("shadow", guard={"min_requests": 10, "max_mismatch_rate": "5%"}))
    assert ask(gateway, ["b1"] * 20) == [200] * 20
    wait_until(lambda: route(gateway)["guard"]["state"] == "alerting", what="the alert")
    assert "compared answers differ" in route(gateway)["guard"]["reason"]
    assert route(gateway)["stage"] == "shadow"


@pytest.mark.parametrize("command", [("--clear",), ("rest", "--reason", "so it stays")], ids=["clear", "rest"])
def test_a_change_of_all_routes_ends_what_a_guard_did(started, rpc, command):
    gateway = started(setup("rpc"))
    fails(rpc)
    ask(gateway, ["bad"] * 30)
    wait_until(lambda: route(gateway)["guard"]["state"] == "tripped", what="the trip")
    result = run("stage", "library.v1.Library/*", *command, "--admin", gateway.admin_url)
    assert result.returncode == 0, result
    assert route(gateway)["guard"]["state"] != "tripped"
    assert route(gateway)["stage"] == ("rpc" if command == ("--clear",) else "rest")
