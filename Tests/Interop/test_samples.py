"""Samples of calls whose answers differed: bounded, newest first, without what is nobody's business."""

import re

import pytest

from support.gateway import wait_until
from support.rest_service import Reply, book
from support.shadows import outcomes, route, samples


@pytest.fixture
def shadowed(start, configuration):
    return lambda **shadow: start(configuration(
        stage="shadow", service={"shadow": shadow}, interceptors=[{"request_id": {}}]))


def differ(gateway, rest, count=1, **change):
    rest.answers(Reply.json({**book("b1"), **change}))
    before = outcomes(gateway).get("mismatch", 0)
    for number in range(before, before + count):
        gateway.fetch("GET", "/v1/books/b1?shelf=private", [("x-request-id", f"r{number}")])
        # One after the other: copies overtake each other.
        wait_until(lambda: outcomes(gateway).get("mismatch", 0) == number + 1, what="a comparison")


def test_both_sides_are_shown(shadowed, rest, rpc):
    gateway = shadowed()
    assert samples(gateway) == []
    differ(
        gateway, rest, pages="5", kind="KIND_NOVEL", published="2024-03-01T00:00:00Z", title="very private", authors=["Ann"],
        shelf="private")
    [sample] = samples(gateway)
    found = {one["path"]: one for one in sample["differences"]}
    assert sample["status"] == {"rest": "ok", "rpc": "ok"}
    assert (sample["request"], sample["request_id"]) == ("GET /v1/books/{id}", "r0")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", sample["at"])
    assert (found["pages"]["rest"], found["pages"]["rpc"]) == (5, 9007199254740993)
    assert (found["kind"]["rest"], found["kind"]["rpc"]) == ("KIND_NOVEL", "KIND_ATLAS")
    assert found["published"]["rest"] == "2024-03-01T00:00:00Z"
    assert (found["authors[]"]["kind"], found["authors[]"]["rest"], found["authors[]"]["rpc"]) == (
        "extra", "1 element", "2 elements")
    assert re.fullmatch(r"12 bytes, hash [0-9a-f]{8}", found["title"]["rest"])
    text = gateway.admin("GET", "/routes").body.decode() + gateway.log()
    assert "private" not in text and "The book" not in text


def test_texts_are_kept_where_the_route_says_so(shadowed, rest, rpc):
    gateway = shadowed(samples="values")
    differ(gateway, rest, title="ä" * 200)
    [sample] = samples(gateway)
    [found] = [one for one in sample["differences"] if one["path"] == "title"]
    assert found["rpc"] == "The book b1" and found["rest"] == "ä" * 128 + "… (400 bytes)"


def test_secrets_are_never_kept(shadowed, rest, rpc, client_of, pb):
    gateway = shadowed(samples="values")
    rest.answers(Reply.json([book("one"), book("two")]))
    client_of(gateway).list_books(pb.ListBooksRequest())
    [sample] = wait_until(lambda: samples(gateway, "ListBooks"), what="a sample")
    assert sample["differences"] == [
        {"path": "nextPageToken", "kind": "extra", "rest": None, "rpc": "(redacted)"}]


def test_the_ring_is_bounded_and_the_log_too(shadowed, rest, rpc):
    gateway = shadowed(max_samples=3)
    differ(gateway, rest, count=5, pages="5")
    assert [sample["request_id"] for sample in samples(gateway)] == ["r4", "r3", "r2"]
    assert route(gateway)["shadow"]["samples"] == 3
    said = "differ at pages: changed (rest 5, rpc 9007199254740993)"
    wait_until(lambda: said in gateway.log(), what="a line in the log")
    assert gateway.log().count(said) == 1, gateway.log()
    none = shadowed(max_samples=0)
    differ(none, rest, pages="5")
    assert samples(none) == [] and route(none)["shadow"]["differences"] == [
        {"path": "pages", "kind": "changed", "count": 1}, {"path": "shelf", "kind": "extra", "count": 1}]


def test_paths_in_metrics_only_where_asked_for(shadowed, rest, rpc):
    quiet, loud = shadowed(), shadowed(path_metrics=True)
    for gateway in (quiet, loud):
        differ(gateway, rest, count=2, pages="5")
    assert quiet.metric("turnout_shadow_differences_total") == 0
    assert loud.metric("turnout_shadow_differences_total", method="GetBook", path="pages", kind="changed") == 2


def test_what_every_element_has_is_one_difference_of_a_call(shadowed, rest, rpc):
    gateway = shadowed()
    rest.answers(Reply.json([{**book(id), "legacyRow": 7} for id in ("one", "two", "three")]))
    gateway.fetch("GET", "/v1/books")
    wait_until(lambda: outcomes(gateway, "ListBooks"), what="a comparison")
    found = [one for one in route(gateway, "ListBooks")["shadow"]["differences"] if one["kind"] == "unknown"]
    assert found == [{"path": "books[].legacyRow", "kind": "unknown", "count": 1}]


def test_samples_of_no_route(shadowed):
    gateway = shadowed()
    answer = gateway.admin("GET", "/routes/library.v1.Library/GetBoock/samples")
    assert answer.status == 404 and "did you mean library.v1.Library/GetBook?" in answer.json()["error"]
    assert gateway.admin("PUT", "/routes/library.v1.Library/GetBook/samples").status == 405
