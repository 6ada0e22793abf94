"""Stages that several gateways share through a real Redis: seen at once, kept when it is away, newest wins."""

import time

import pytest

from support.gateway import run, wait_until
from support.redis_server import RedisServer
from support.schema import SERVICE

GET, LIST = f"{SERVICE}/GetBook", f"{SERVICE}/ListBooks"


@pytest.fixture
def replica(configuration, start, redis):
    def make(stage="rest", **more):
        gateway = start(configuration(
            stage, redis={"shared": {"address": redis.address}}, state={"redis": "shared", **more}))
        connected(gateway)
        return gateway

    return make


def connected(gateway):
    wait_until(lambda: gateway.metric("turnout_redis_connections", redis="shared") == 2, what="both connections")


def away(gateway):
    wait_until(lambda: gateway.metric("turnout_redis_connections", redis="shared") == 0, what="the loss")


def route(gateway, procedure=GET):
    return gateway.admin("GET", f"/routes/{procedure}").json()


def put(gateway, stage, procedure=GET, **more):
    answer = gateway.admin("PUT", f"/routes/{procedure}/stage", {"stage": stage, **more})
    assert answer.status == 200, answer


def follows(gateway, stage, procedure=GET, seconds=30):
    wait_until(lambda: route(gateway, procedure)["stage"] == stage, seconds, f"stage {stage}")


def test_who_moves_a_route_while_redis_is_away_is_told(replica, redis):
    """Nobody should believe that all replicas followed, when one did."""
    gateway = replica()
    admin = ("--admin", gateway.admin_url)
    result = run("stage", GET, "shadow", *admin)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{GET}: shadow\n", "")
    redis.kill()
    away(gateway)
    for command in [("stage", GET, "rpc"), ("stage", GET, "--clear")]:
        result = run(*command, *admin)
        assert result.returncode == 0 and "warning: Redis server shared is away" in result.stderr, result
    assert "Redis server shared is away" in run("status", *admin).stdout
    redis.restart()
    connected(gateway)
    wait_until(lambda: gateway.admin("GET", "/routes").json()["warnings"] == [], what="the end of the warning")
    assert run("stage", GET, "rest", *admin).stderr == ""


def test_a_flip_on_one_is_seen_on_the_others(replica, rest, rpc):
    one, two = replica(), replica()
    put(one, "canary", percent=40, reason="together")
    begin = time.monotonic()
    follows(two, "canary")
    print(f"seen after {time.monotonic() - begin:.3f} s")
    seen = route(two)
    assert (seen["percent"], seen["override"]["reason"], seen["override"]["by"]) == (40, "together", "127.0.0.1")
    assert seen["history"][0]["kind"] == "peer" and route(one)["history"][0]["kind"] == "admin"
    put(two, "rpc")
    follows(one, "rpc")
    assert one.fetch("GET", "/v1/books/b1").status == 200
    assert not rest.requests, "the request followed the old stage"
    assert one.admin("DELETE", f"/routes/{GET}/stage", {}).status == 200
    follows(two, "rest")
    assert route(two)["override"] is None
    held = one.admin("PUT", f"/routes/{GET}/hold", {"held": True, "reason": "wait"})
    assert held.status == 200, held
    # Whoever comes later knows it all.
    put(one, "rpc", LIST)
    follows(replica(), "rpc", LIST)


def test_without_redis_each_goes_on_and_the_newest_wins(replica, redis):
    one, two = replica(), replica()
    put(one, "rpc")
    follows(two, "rpc")
    redis.kill()
    away(one), away(two)
    assert one.admin("GET", "/readyz").status == two.admin("GET", "/readyz").status == 200
    assert route(one)["stage"] == route(two)["stage"] == "rpc"
    put(one, "rest")
    put(two, "canary", percent=3)
    put(one, "rpc", LIST)
    assert (route(one)["stage"], route(two)["stage"]) == ("rest", "canary")
    # It comes back empty: all that was known is written again.
    redis.start()
    connected(one), connected(two)
    follows(one, "canary")
    follows(two, "rpc", LIST)
    assert route(one)["percent"] == 3
    wait_until(lambda: len(redis.call("HKEYS", "turnout:stages")) == 2, what="both routes in Redis")
    wait_until(lambda: "is away" in one.log() and "is there again" in one.log(), what="both in the log")


def test_a_server_that_forgets_is_told_again(replica, redis):
    one = replica()
    put(one, "rpc")
    wait_until(lambda: redis.call("HLEN", "turnout:stages") == 1, what="the document")
    redis.call("FLUSHALL")
    wait_until(lambda: redis.call("HLEN", "turnout:stages") == 1, what="the document again")
    assert route(one)["stage"] == "rpc"


def test_lost_messages_are_made_up_for(replica, redis):
    """Listening is forbidden: what changes is still found, by looking."""
    one = replica()
    two = replica()
    redis.call("CLIENT", "KILL", "TYPE", "pubsub")
    redis.call("ACL", "SETUSER", "default", "resetchannels")
    put(one, "rpc")
    follows(two, "rpc")


def test_files_that_differ_keep_their_own_stages(replica):
    """A rollout of a new file: what is set over one file does not move those with the other."""
    old, new = replica("rest"), replica("shadow")
    put(old, "rpc")
    time.sleep(0.5)
    assert route(new)["stage"] == "shadow"
    put(new, "rest", LIST)
    late = replica("shadow")
    follows(late, "rest", LIST)
    assert (route(late)["stage"], route(old)["stage"]) == ("shadow", "rpc")
    # Nothing comes back from the old file when it has gone.
    assert route(replica("shadow"))["override"] is None


def test_a_document_that_makes_no_sense_is_left_alone(replica, redis):
    one = replica()
    redis.call("HSET", "turnout:stages", GET, "junk", LIST, "9\n{}")
    redis.call("PUBLISH", "turnout:stages", GET)
    wait_until(lambda: one.metric("turnout_state_errors_total", operation="share") >= 1, what="the error")
    assert one.admin("GET", "/readyz").status == 200 and route(one)["stage"] == "rest"
    put(one, "rpc")
    follows(replica(), "rpc")


def test_the_file_and_redis_together(replica, redis, configuration, used):
    """Redis is away at the start: the file knows. Then the newer one of both counts."""
    one = replica(file="turnout.state")
    two = replica()
    put(one, "rpc")
    follows(two, "rpc")
    assert one.stop() == 0
    put(two, "canary", percent=9)
    redis.kill()
    from support.gateway import Gateway

    again = Gateway(one.folder, one.file.read_text())
    used.append(again)
    assert route(again)["stage"] == "rpc"
    redis.start()
    connected(again)
    follows(again, "canary")
    assert route(again)["percent"] == 9


def test_one_of_them_leads(replica):
    one, two = replica(), replica()
    wait_until(
        lambda: sum(gateway.metric("turnout_state_leader") for gateway in (one, two)) == 1, what="one leader")
    first = one if one.metric("turnout_state_leader") else two
    other = two if first is one else one
    assert first.stop() == 0
    wait_until(lambda: other.metric("turnout_state_leader") == 1, what="the next leader")


def test_a_reload_begins_and_ends_sharing_and_changes_the_server(configuration, start, redis):
    """Nobody has to be restarted for it; what was set before is told to the new server."""
    other = RedisServer()
    try:
        def setup(server=None):
            if server is None:
                return configuration()
            return configuration(redis={"shared": {"address": server.address}}, state={"redis": "shared"})

        def reload(gateway, server=None):
            gateway.write(setup(server))
            assert gateway.admin("POST", "/reload").json() == {"outcome": "ok"}
            if server:
                connected(gateway)

        one, two = start(setup()), start(setup())
        put(one, "rpc", reason="before")
        for gateway in (one, two):
            reload(gateway, redis)
        follows(two, "rpc")
        assert route(two)["override"]["reason"] == "before"
        # Another address under the same name.
        for gateway in (one, two):
            reload(gateway, other)
        put(two, "shadow")
        follows(one, "shadow")
        redis.stop()
        put(one, "rest")
        follows(two, "rest")
        wait_until(lambda: sum(gateway.metric("turnout_state_leader") for gateway in (one, two)) == 1, what="one that leads")
        # One leaves: it goes on with what it knows, and hears no more.
        reload(two)
        away(two)
        put(one, "rpc", reason="alone")
        put(one, "rpc", LIST)
        time.sleep(3)
        assert route(two)["stage"] == "rest" and route(two, LIST)["stage"] == "rest"
        # And comes back to what was set meanwhile.
        reload(two, other)
        follows(two, "rpc")
        follows(two, "rpc", LIST)
    finally:
        other.stop()
