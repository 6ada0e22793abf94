"""Guards and ramps of several gateways that share their state: a trip of one is one of all, one climbs for all."""

import threading

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.gateway import Gateway, wait_until
from support.sides import PROCEDURE, sign

GUARD = {"min_requests": 5, "max_error_rate": "20%"}
CANARY = {"stage": "canary", "canary": {"percent": "100%", "sticky_by": "header:x-user"}, "guard": GUARD}
RAMP = {
    "stage": "canary", "canary": {"sticky_by": "header:x-user"}, "guard": GUARD,
    "ramp": {"steps": ["40%", "70%", "100%"], "every": "1s"},
}


@pytest.fixture
def replica(start, configuration, rest, rpc, redis):
    sign(rest, rpc)

    def make(settings, **state):
        gateway = start(configuration(
            methods={"GetBook": settings}, redis={"shared": {"address": redis.address}},
            state={"redis": "shared", **state}))
        wait_until(lambda: gateway.metric("turnout_redis_connections", redis="shared") == 2, what="both connections")
        return gateway

    return make


def route(gateway):
    return gateway.admin("GET", f"/routes/{PROCEDURE}").json()


def tripped(gateway):
    wait_until(lambda: route(gateway)["guard"]["state"] == "tripped", what="a trip")


def test_a_trip_of_one_is_a_trip_of_all_and_survives_restarts(replica, rpc, used):
    def broken(call, context):
        raise ConnectError(Code.INTERNAL, "broken")

    one, two = replica(CANARY, file="turnout.state"), replica(CANARY)
    rpc.script = broken
    with one.connect() as wire:
        for _ in range(10):
            wire.request("GET", "/v1/books/b1")
    tripped(one), tripped(two)
    assert route(two)["percent"] == 0 and route(two)["history"][0]["kind"] == "peer"
    assert one.stop() == 0
    again = Gateway(one.folder, one.file.read_text())
    used.append(again)
    tripped(again)
    # Somebody sets the stage: that clears it everywhere.
    rpc.script = None
    answer = two.admin("PUT", f"/routes/{PROCEDURE}/stage", {"stage": "canary", "percent": 100})
    assert answer.status == 200, answer
    wait_until(lambda: route(again)["guard"]["state"] == "watching", what="the end of the trip")
    assert route(again)["percent"] == 100


def test_one_climbs_and_the_others_follow(replica):
    gateways = [replica(RAMP), replica(RAMP)]
    wait_until(
        lambda: sum(gateway.metric("turnout_state_leader") for gateway in gateways) == 1, what="one that leads")
    ends = threading.Event()

    def load(gateway):
        with gateway.connect() as wire:
            while not ends.is_set():
                for number in range(20):
                    wire.request("GET", "/v1/books/b1", [("x-user", f"user-{number}")])

    threads = [threading.Thread(target=load, args=(gateway,)) for gateway in gateways]
    for thread in threads:
        thread.start()
    try:
        for gateway in gateways:
            wait_until(lambda g=gateway: route(g)["percent"] == 100, what="the last step")
    finally:
        ends.set()
        for thread in threads:
            thread.join(60)
    kinds = sorted({entry["kind"] for entry in route(gateway)["history"]} == {"ramp"} for gateway in gateways)
    assert kinds == [False, True], "both climbed, or none"
    for gateway in gateways:
        assert [entry["to"]["percent"] for entry in reversed(route(gateway)["history"])] == [70, 100]
