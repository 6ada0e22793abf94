"""Stage canary: a share of the callers is answered by the rpc side, each caller stays on one side, rules go before."""

import threading

import pytest

from support.gateway import run, wait_until
from support.schema import SERVICE
from support.sides import PROCEDURE, place, side, sign

USERS = [f"user-{number}" for number in range(120)]


def canary(percent="30%", **more):
    return {"stage": "canary", "canary": {"percent": percent, "sticky_by": "header:x-user", **more}}


@pytest.fixture
def started(start, configuration, rest, rpc):
    """Starts a gateway whose GetBook has these settings; both services sign their answers."""
    sign(rest, rpc)
    return lambda settings, **more: start(configuration(methods={"GetBook": settings, **more}))


def sides(wire, users=USERS):
    return {user: side(wire, [("X-User", user)]) for user in users}


def expected(percent, salt=SERVICE):
    return {user: "rpc" if place(user, salt) < percent * 100 else "rest" for user in USERS}


def test_callers_are_where_the_hash_says_and_stay_there(started):
    gateway = started(canary())
    with gateway.connect() as one, gateway.connect() as other:
        assert sides(one) == expected(30) == sides(other)


def test_a_greater_share_moves_nobody_back(started):
    gateway = started(canary("0%"))
    with gateway.connect() as wire:
        for percent in ("0", "0.01", "7.5%", "50", "100"):
            result = run("stage", PROCEDURE, "canary", "--percent", percent, "--admin", gateway.admin_url)
            assert (result.returncode, result.stderr) == (0, "")
            assert sides(wire) == expected(float(percent.rstrip("%")))
            route = gateway.admin("GET", f"/routes/{PROCEDURE}").json()
            assert (route["stage"], route["percent"]) == ("canary", float(percent.rstrip("%")))


def test_routes_with_the_same_salt_agree(started, rest, rpc):
    gateway = started(canary(salt="wave"), MoveBook=canary(salt="wave"), GetFile=canary(salt="other"))
    with gateway.connect() as wire:
        assert sides(wire) == expected(30, "wave")
    for user in USERS[:40]:
        before = len(rpc.calls)
        gateway.fetch("POST", "/v1/books/b1:move", [("X-User", user), ("Content-Type", "application/json")],
                      b'{"shelf": "s"}')
        assert (len(rpc.calls) - before == 1) == (place(user, "wave") < 3000)


def test_every_dialect_is_decided_alike(started, client_of, pb):
    gateway = started(canary())
    client = client_of(gateway)
    found = {user: client.get_book(pb.GetBookRequest(id="b1"), headers={"x-user": user}).title for user in USERS[:40]}
    assert found == {user: expected(30)[user] for user in USERS[:40]}


def test_the_first_key_that_is_there_counts(started):
    gateway = started(canary("50%", sticky_by=["header:x-user", "cookie:sid", "client_address"]))
    with gateway.connect() as wire:
        for user in USERS[:40]:
            wanted = expected(50)[user]
            assert side(wire, [("Cookie", f"a=b; sid={user}")]) == wanted
            assert side(wire, [("X-User", user), ("Cookie", "sid=x")]) == wanted
        # All from here are one caller.
        assert len({side(wire) for _ in range(5)}) == 1


def test_rules_go_before_the_share(started, client_of, pb):
    gateway = started(canary("0%", rules=[
        {"when": {"header": "x-app-version", "version": ">=5.2.0", "prefix": "5"}, "use": "rpc"},
        {"when": {"header": "x-tenant", "in": ["blue", "green"], "address": "127.0.0.0/8"}, "use": "rpc"},
        {"when": {"header": "x-tenant", "in": ["red"], "address": "10.0.0.0/8"}, "use": "rpc"},
        {"when": {"protocol": "connect", "header": "x-beta", "present": True}, "use": "rpc"},
    ]))
    with gateway.connect() as wire:
        for version, wanted in {"5.2": "rpc", "5.10.1": "rpc", "5.2.0-beta": "rest", "5.1": "rest", "50": "rpc",
                                "6.0": "rest", "junk": "rest", "": "rest"}.items():
            assert side(wire, [("X-App-Version", version)]) == wanted, version
        assert [side(wire, [("X-Tenant", tenant)]) for tenant in ("blue", "green", "red")] == ["rpc", "rpc", "rest"]
        assert side(wire, [("X-Beta", "")]) == "rest"
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b1"), headers={"x-beta": ""}).title == "rpc"
    assert decisions(gateway) == {("rpc", "rule"): 6, ("rest", "share"): 7}


def decisions(gateway):
    found = {}
    for (name, labels), value in gateway.metrics().items():
        if name == "turnout_stage_decisions_total" and value:
            labels = dict(labels)
            found[labels["side"], labels["reason"]] = found.get((labels["side"], labels["reason"]), 0) + value
    return found


@pytest.mark.parametrize("stage", ["rest", "canary", "rpc"])
def test_testers_choose_the_side(started, rest, rpc, stage):
    settings = {**canary("0%"), "stage": stage, "override": {"header": "x-side", "secret": "s3cret"}}
    gateway = started(settings)
    usual = "rpc" if stage == "rpc" else "rest"
    with gateway.connect() as wire:
        for chosen in ("rest", "rpc"):
            assert side(wire, [("X-Side", f"{chosen}; s3cret")]) == chosen
            assert side(wire, [("X-Side", f"{chosen}; guessed")]) == usual
            assert side(wire, [("X-Side", chosen)]) == usual
    assert decisions(gateway).items() >= {("rest", "override"): 1, ("rpc", "override"): 1}.items()
    assert all(request["x-side"] is None for request in rest.requests)
    assert all("x-side" not in call.headers for call in rpc.calls)
    assert "s3cret" not in gateway.admin("GET", "/routes").body.decode() + gateway.log()


def test_headers_that_choose_no_side_are_counted_and_told_now_and_then(started):
    gateway = started({**canary("0%"), "override": {"header": "x-side", "secret": "s3cret"}})
    with gateway.connect() as wire:
        for number in range(40):
            assert side(wire, [("X-Side", f"rpc; guess{number}")]) == "rest"
        assert side(wire, [("X-Side", "rpc; s3cret"), ("X-Side", "rest; s3cret")]) == "rest"
        assert side(wire, [("X-Side", "both; s3cret")]) == "rest"
        assert side(wire) == "rest"

    def refused(reason):
        return gateway.metric("turnout_override_refused_total", method="GetBook", reason=reason)

    assert (refused("wrong_secret"), refused("twice"), refused("no_side")) == (40, 1, 1)
    wait_until(lambda: "the testers' header" in gateway.log(), what="a line in the log")
    told = [line for line in gateway.log().splitlines() if "the testers' header" in line]
    # Beyond ten seconds there may be another one.
    assert len(told) <= 3 and "guess" not in gateway.log()
    assert "127.0.0.1" in told[0] and PROCEDURE in told[0]


def test_a_testers_header_goes_to_no_backend_on_routes_without_an_override_either(start, configuration, rest, rpc):
    override = {"override": {"header": "x-side", "secret": "s3cret"}}
    gateway = start(configuration(methods={"GetBook": override, "MoveBook": {"stage": "rpc"}}, fallback="legacy"))
    told = [("X-Side", "rpc; s3cret"), ("x-side", "rest; s3cret"), ("X-Sides", "kept")]
    gateway.fetch("GET", "/elsewhere", told)
    gateway.fetch("GET", "/v1/books", told)
    gateway.fetch("POST", "/v1/books/b1:move", [*told, ("Content-Type", "application/json")], b'{"shelf": "s"}')
    assert [request.target for request in rest.requests] == ["/elsewhere", "/v1/books"]
    assert all((request["x-side"], request["x-sides"]) == (None, "kept") for request in rest.requests)
    assert ("x-side" in rpc.only().headers, rpc.only().headers["x-sides"]) == (False, "kept")


def test_testers_from_an_address(started):
    gateway = started({**canary("0%"), "override": {"addresses": ["127.0.0.0/8"]}})
    with gateway.connect() as wire:
        assert side(wire, [("X-Turnout-Side", "rpc")]) == "rpc"
        assert side(wire) == "rest"


def test_what_was_set_is_shown_and_can_be_cleared(started):
    gateway = started(canary("5%"))
    gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", {"stage": "canary", "percent": 12.5, "reason": "looks good"})
    route = gateway.admin("GET", f"/routes/{PROCEDURE}").json()
    assert (route["percent"], route["configured_stage"], route["configured_percent"]) == (12.5, "canary", 5)
    override = route["override"]
    assert (override["stage"], override["percent"], override["by"], override["reason"]) == (
        "canary", 12.5, "127.0.0.1", "looks good")
    assert override["at"].endswith("Z")
    result = run("stage", PROCEDURE, "--clear", "--admin", gateway.admin_url, "--reason", "over")
    assert (result.returncode, result.stdout) == (0, f"{PROCEDURE}: as the file says\n")
    route = gateway.admin("GET", f"/routes/{PROCEDURE}").json()
    assert (route["percent"], route["override"]) == (5, None)
    assert [(entry["from"].get("percent"), entry["to"].get("percent"), entry["reason"]) for entry in route["history"]] == [
        (12.5, 5, "over"), (5, 12.5, "looks good")]
    said = "set from canary at 5% to canary at 12.5% by 127.0.0.1 at the admin endpoint: looks good"
    wait_until(lambda: said in gateway.log(), what="a line in the log")


@pytest.mark.parametrize("body, words", [
    ({"stage": "canary"}, "needs a percent"), ({"stage": "rpc", "percent": 5}, "canary only"),
    ({"stage": "canary", "percent": 101}, "0 to 100"),
])
def test_what_cannot_be_set(started, body, words):
    gateway = started({"stage": "rest"})
    answer = gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", body)
    assert answer.status == 400 and words in answer.json()["error"]


def test_flips_under_load(started):
    """Shares and stages change all the time: no request fails, and each answer is from a side that its caller could have."""
    gateway = started(canary("0%"))
    ends, faults, answers = threading.Event(), [], [0]
    # Whoever is below 20 % in every share that is set, and whoever is above 60 % in none.
    always = [user for user in USERS if place(user) < 2000]
    never = [user for user in USERS if place(user) >= 6000]
    gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", {"stage": "canary", "percent": 20})

    def load(users, wanted):
        try:
            with gateway.connect() as wire:
                while not ends.is_set():
                    for user in users:
                        assert side(wire, [("X-User", user)]) == wanted, user
                        answers[0] += 1
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=load, args=args) for args in ((always, "rpc"), (never, "rest")) * 2]
    for thread in threads:
        thread.start()
    for percent in (60, 20, 40.01, 20, 59.99, 25) * 3:
        before = answers[0]
        gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", {"stage": "canary", "percent": percent})
        wait_until(lambda: answers[0] > before + 40 or faults, what="traffic")
    ends.set()
    for thread in threads:
        thread.join(60)
    assert not faults, faults[:3]


def test_a_reload_that_moves_callers_says_so(started, configuration):
    gateway = started(canary("30%"))
    with gateway.connect() as wire:
        assert sides(wire) == expected(30)
        gateway.write(configuration(methods={"GetBook": canary("30%", salt="new")}))
        answer = gateway.admin("POST", "/reload").json()
        assert answer["outcome"] == "ok" and "change sides" in answer["warnings"][0]["message"]
        assert sides(wire) == expected(30, "new")
        # The same once more moves nobody.
        assert "warnings" not in gateway.admin("POST", "/reload").json()
