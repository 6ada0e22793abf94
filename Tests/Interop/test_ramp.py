"""A ramp: the share grows step by step as long as the guard is content; it can be held, and a trip ends it."""

import threading

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.gateway import run, wait_until
from support.sides import PROCEDURE, place, side, sign

USERS = [f"user-{number}" for number in range(60)]
RAMP = {
    "stage": "canary", "canary": {"sticky_by": "header:x-user"},
    "guard": {"min_requests": 5, "max_error_rate": "20%"},
    "ramp": {"steps": ["20%", "50%", "100%"], "every": "1s"},
}


@pytest.fixture
def gateway(start, configuration, rest, rpc):
    sign(rest, rpc)
    return start(configuration(methods={"GetBook": RAMP}))


def route(gateway):
    return gateway.admin("GET", f"/routes/{PROCEDURE}").json()


class Load:
    """All users ask all the time; each must be where the share of the moment, or the one after it, has it."""

    def __init__(self, gateway):
        self.gateway, self.ends, self.faults, self.moved = gateway, threading.Event(), [], {}
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        try:
            with self.gateway.connect() as wire:
                while not self.ends.is_set():
                    for user in USERS:
                        now = side(wire, [("X-User", user)])
                        if self.moved.get(user) == "rpc":
                            assert now == "rpc", f"{user} was moved back"
                        self.moved[user] = now
        except Exception as fault:
            self.faults.append(fault)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join(60)
        assert not self.faults, self.faults[:3]


def test_it_climbs_to_the_top_and_moves_nobody_back(gateway):
    now = route(gateway)
    assert (now["stage"], now["percent"], now["ramp"]["step"]) == ("canary", 20, 1)
    with Load(gateway) as load:
        wait_until(lambda: route(gateway)["percent"] == 100 or load.faults, what="the last step")
    steps = [entry["to"]["percent"] for entry in reversed(route(gateway)["history"])]
    assert steps == [50, 100]
    assert {entry["kind"] for entry in route(gateway)["history"]} == {"ramp"}
    wait_until(lambda: route(gateway)["ramp"]["waiting_for"] is None, what="the end of the ramp")
    now = route(gateway)
    assert (now["ramp"]["step"], now["override"]["kind"]) == (3, "ramp")
    assert gateway.metric("turnout_ramp_step", method="GetBook") == 3
    assert gateway.metric("turnout_share", method="GetBook") == 1


def test_it_waits_for_calls_and_can_be_held(gateway):
    wait_until(lambda: "calls on the rpc side" in (route(gateway)["ramp"]["waiting_for"] or ""), what="the wait for calls")
    result = run("hold", PROCEDURE, "--reason", "freeze", "--admin", gateway.admin_url)
    assert (result.returncode, result.stdout) == (0, f"{PROCEDURE}: the ramp is held\n")
    chosen = [user for user in USERS if place(user) < 2000]
    with gateway.connect() as wire:
        for user in chosen:
            assert side(wire, [("X-User", user)]) == "rpc"
    assert len(chosen) >= 5
    wait_until(lambda: route(gateway)["ramp"]["held"] and route(gateway)["sides"]["rpc"], what="the figures")
    assert (route(gateway)["percent"], route(gateway)["history"][0]["action"]) == (20, "held")
    assert run("hold", PROCEDURE, "--off", "--admin", gateway.admin_url).returncode == 0
    wait_until(lambda: route(gateway)["percent"] == 50, what="the next step")


def test_a_trip_ends_it(gateway, rpc):
    def broken(call, context):
        raise ConnectError(Code.INTERNAL, "broken")

    rpc.script = broken
    with gateway.connect() as wire:
        for user in USERS:
            wire.request("GET", "/v1/books/b1", [("X-User", user)])
        wait_until(lambda: route(gateway)["guard"]["state"] == "tripped", what="the trip")
        assert {side(wire, [("X-User", user)]) for user in USERS} == {"rest"}
    assert (route(gateway)["percent"], route(gateway)["ramp"]["step"]) == (0, 0)
    # Whoever sets it again sets where it goes on from.
    rpc.script = lambda call, context: rpc.book("b1", title="rpc")
    gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", {"stage": "canary", "percent": 50})
    with Load(gateway) as load:
        wait_until(lambda: route(gateway)["percent"] == 100 or load.faults, what="the last step")


def test_a_guard_that_holds(start, configuration, rest, rpc):
    sign(rest, rpc)
    gateway = start(configuration(methods={"GetBook": {**RAMP, "guard": {**RAMP["guard"], "action": "hold"}}}))

    def broken(call, context):
        raise ConnectError(Code.INTERNAL, "broken")

    rpc.script = broken
    with gateway.connect() as wire:
        for user in USERS:
            wire.request("GET", "/v1/books/b1", [("X-User", user)])
    wait_until(lambda: route(gateway)["guard"]["state"] == "holding", what="the hold")
    assert (route(gateway)["percent"], route(gateway)["ramp"]["held"]) == (20, True)
    assert route(gateway)["history"][0]["kind"] == "guard"
