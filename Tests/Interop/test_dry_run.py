"""Dry runs: in stage rest, what a change of stage would refuse, without anybody being asked."""

import pytest

from support.gateway import wait_until
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.shadows import differences, route, samples


@pytest.fixture
def gateway(start, configuration):
    return start(configuration(service={"dry_run": "100%"}, methods={"CreateBook": {"success_status": 201}}))


def counted(gateway, method="GetBook"):
    return {
        dict(labels)["outcome"]: int(value) for (name, labels), value in gateway.metrics().items()
        if name == "turnout_dry_run_total" and dict(labels)["method"] == method and value}


def until(gateway, expected, method="GetBook"):
    wait_until(lambda: counted(gateway, method) == expected, what=f"{expected}, not {counted(gateway, method)}")


def test_what_would_pass_and_what_would_not(gateway, rest, rpc):
    assert route(gateway)["dry_run"] is None
    assert gateway.fetch("GET", "/v1/books/b1").json() == book("b1")
    until(gateway, {"ok": 1})
    assert gateway.fetch("GET", "/v1/books/b1?colour=red").status == 200
    until(gateway, {"ok": 1, "refused": 1})
    rest.answers(Reply.json({**book("b1"), "pages": [1]}))
    gateway.fetch("GET", "/v1/books/b1")
    until(gateway, {"ok": 1, "refused": 1, "misfit": 1})
    rest.answers(Reply.json({**book("b1"), "isbn": "1"}))
    gateway.fetch("GET", "/v1/books/b1")
    until(gateway, {"ok": 2, "refused": 1, "misfit": 1})
    assert differences(gateway) == ["request colour", "type pages", "unknown isbn"]
    assert route(gateway)["dry_run"] == {"requests": 4, "refused": 1, "misfit": 1, "skipped": 0}
    assert [sample["differences"][0]["path"] for sample in samples(gateway)] == ["pages", "colour"]
    assert samples(gateway)[1]["status"] == {"rest": "ok", "rpc": "refused"}
    assert not rpc.calls and gateway.metric("turnout_shadow_total") == 0
    assert gateway.metric("turnout_unknown_fields_total") == 0


def test_bodies(gateway, rest, rpc):
    head = [("Content-Type", "application/json")]
    assert gateway.fetch("POST", "/v1/shelves/s1/books", head, b'{"title":"x","isbn":"1"}').status == 201
    until(gateway, {"refused": 1}, "CreateBook")
    assert differences(gateway, "CreateBook") == ["request isbn", "unknown isbn"]
    assert gateway.fetch("POST", "/v1/shelves/s1/books", head, b'{"title":"x"}').status == 201
    until(gateway, {"refused": 1, "ok": 1}, "CreateBook")
    assert rest.requests[0].json() == {"title": "x", "isbn": "1"} and not rpc.calls


def test_a_status_that_would_change(start, configuration, rest, rpc):
    gateway = start(configuration(service={"dry_run": "100%"}))
    assert gateway.fetch("DELETE", "/v1/books/b1").status == 204
    until(gateway, {"misfit": 1}, "DeleteBook")
    assert differences(gateway, "DeleteBook") == ["status $"]
    assert not rpc.calls


def test_errors_of_both_are_no_finding(gateway, rest, rpc):
    """What the legacy service refuses just so is no news."""
    rest.answers(Reply.json({"message": "titleSize?"}, 400))
    assert gateway.fetch("GET", "/v1/books/b1?titleSize=big").status == 400
    until(gateway, {"ok": 1})
    assert not differences(gateway)


def test_only_in_stage_rest(gateway, rest, rpc):
    gateway.set_stage(f"{SERVICE}/GetBook", "rpc")
    assert gateway.fetch("GET", "/v1/books/b1").status == 200
    gateway.set_stage(f"{SERVICE}/GetBook", "rest")
    gateway.fetch("GET", "/v1/books/b1")
    until(gateway, {"ok": 1})


def test_without_a_new_side(start, configuration, rest):
    setup = configuration(service={"dry_run": "100%"})
    del setup["services"][SERVICE]["rpc"], setup["upstreams"]["content"]
    gateway = start(setup)
    gateway.fetch("GET", "/v1/books/b1?colour=red")
    until(gateway, {"refused": 1})
