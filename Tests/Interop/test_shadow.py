"""Stage shadow: the REST service answers, the Connect service gets a copy, and nobody waits for it."""

import asyncio

import pytest

from support.gateway import wait_until
from support.rest_service import Reply, book
from support.schema import SERVICE


@pytest.fixture
def gateway(start, configuration):
    return start(configuration(stage="shadow"))


def counted(gateway, method="GetBook"):
    """The copies by outcome."""
    return {
        dict(labels)["outcome"]: value for (name, labels), value in gateway.metrics().items()
        if name == "turnout_shadow_total" and dict(labels)["method"] == method and value}


def test_a_get_is_copied_and_counted(gateway, rest, rpc):
    answer = gateway.fetch("GET", "/v1/books/b1?titleSize=3", [("X-Tenant", "blue")])
    assert answer.json() == {**book("b1"), "title": "xxx"}
    assert rest.only().target == "/v1/books/b1?titleSize=3"
    copy = rpc.wait_for(1)[0]
    assert (copy.message.id, copy.message.title_size, copy.headers["x-tenant"]) == ("b1", 3, "blue")
    outcomes = wait_until(lambda: counted(gateway), what="a counted shadow")
    assert sum(outcomes.values()) == 1 and not outcomes.keys() & {"error", "skipped"}, outcomes
    assert copy.headers["x-turnout-shadow"] == "1" and rest.only()["x-turnout-shadow"] is None
    assert gateway.metric("turnout_requests_total", method="GetBook", side="rest", stage="shadow", code="ok") == 1


@pytest.mark.parametrize("name", ["X-Turnout-Shadow", "x-turnout-shadow", "X_Turnout_Shadow", "x-turnout_shadow"])
def test_no_client_passes_for_a_copy(start, configuration, rest, rpc, name):
    """A backend that does less for copies would do less for such a client."""
    gateway = start(configuration(stage="shadow", fallback="legacy"))
    fields = [("Host", "h"), (name, "1"), ("X-Tenant", "blue")]
    assert gateway.fetch("GET", "/v1/books/b1", fields).status == 200
    gateway.fetch("GET", "/elsewhere", fields)
    for request in rest.requests:
        assert not [key for key, _ in request.fields if "shadow" in key.lower()] and request["x-tenant"] == "blue"
    assert len(rest.requests) == 2
    assert rpc.wait_for(1)[0].headers["x-turnout-shadow"] == "1"


def test_a_connect_get_is_copied_too(gateway, rest, rpc, client_of, pb):
    client_of(gateway).get_book(pb.GetBookRequest(id="b1"), use_get=True)
    assert rpc.wait_for(1)[0].message.id == "b1"
    assert len(rest.requests) == 1


def test_what_changes_something_is_never_copied(gateway, rest, rpc):
    gateway.fetch("POST", "/v1/shelves/s1/books", [("Content-Type", "application/json")], b'{"title": "Neu"}')
    gateway.fetch("DELETE", "/v1/books/b1")
    wait_until(lambda: counted(gateway, "DeleteBook").get("skipped") == 1, what="a counted DELETE")
    assert len(rest.requests) == 2 and not rpc.calls


def test_the_caller_neither_waits_for_the_copy_nor_ends_it(gateway, rest, rpc):
    release = asyncio.Event()

    async def slow(call):
        await release.wait()

    rpc.script = lambda call, context: slow(call)
    assert gateway.fetch("GET", "/v1/books/b1").status == 200
    call = rpc.wait_for(1)[0]
    assert not call.was_cancelled.wait(0.5), "the caller's leaving ended the copy"
    release.set()


def test_a_copy_that_fails_is_the_callers_no_concern(start, configuration, rest):
    setup = configuration(stage="shadow")
    setup["upstreams"]["content"]["endpoints"] = ["http://127.0.0.1:1"]
    gateway = start(setup)
    assert gateway.fetch("GET", "/v1/books/b1").json() == book("b1")
    wait_until(lambda: counted(gateway).get("error") == 1, what="a counted failure")


def test_an_unknown_parameter_reaches_the_legacy_service_and_is_noticed(gateway, rest, rpc):
    assert gateway.fetch("GET", "/v1/books/b1?colour=red").status == 200
    assert rest.only().query == "colour=red"
    outcomes = wait_until(lambda: counted(gateway), what="a counted shadow")
    assert outcomes == {"mismatch": 1}
    assert not rpc.calls


def test_the_sample_can_be_nothing(start, configuration, rest, rpc):
    gateway = start(configuration(stage="shadow", service={"shadow": {"sample": "0%"}}))
    rest.answers(Reply.json(book("b1")))
    for _ in range(10):
        gateway.fetch("GET", "/v1/books/b1")
    assert not rpc.calls and not counted(gateway)
    gateway.set_stage(f"{SERVICE}/GetBook", "rest")
    gateway.fetch("GET", "/v1/books/b1")
    assert not counted(gateway)
