"""How an old service spells its answers, and what of it an app will miss: found by dry runs and by shadows."""

import gzip
import json

import pytest

from support.gateway import wait_until
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.shadows import differences, outcome, route, samples

# What an API says that nobody has written with a schema at hand, of a book that is a good one by the schema.
OLD = {
    "id": "b1", "title": "x", "authors": [], "pages": 7, "kind": "KIND_ATLAS", "published": "2024-02-29T12:30:45.000Z",
    "digest": "3q2+7w==", "labels": {"lang": "hu"}, "shelf": None,
}


@pytest.fixture
def configuration(configuration):
    """Spellings count, unless a test says otherwise."""

    def make(*arguments, service=None, **more):
        service = dict(service or {})
        service["shadow"] = {"spelling": "mismatch", **service.get("shadow", {})}
        return configuration(*arguments, service=service, **more)

    return make


def found(gateway, method="GetBook"):
    return {
        (one["kind"], one["path"]): (one["rest"], one["rpc"]) for one in samples(gateway, method)[0]["differences"]}


def dry_run(gateway, expected, method="GetBook"):
    wait_until(lambda: (route(gateway, method)["dry_run"] or {}).get("requests") == sum(expected), what="the dry run")
    run = route(gateway, method)["dry_run"]
    assert (run["requests"] - run["refused"] - run["misfit"], run["misfit"]) == expected, run


def test_a_dry_run_says_what_will_be_written_otherwise(start, configuration, rest):
    rest.answers(Reply.json(OLD))
    gateway = start(configuration(service={"dry_run": "100%"}))
    assert gateway.fetch("GET", "/v1/books/b1").json() == OLD
    dry_run(gateway, (0, 1))
    assert found(gateway) == {
        ("form", "authors[]"): ("a list", None), ("form", "pages"): (7, "7"),
        ("form", "published"): ("2024-02-29T12:30:45.000Z", "2024-02-29T12:30:45Z"), ("form", "shelf"): ("null", None),
    }
    assert differences(gateway) == ["form authors[]", "form pages", "form published", "form shelf"]


def test_the_keys_for_it_silence_it(start, configuration, rest):
    """A profile that writes as the old service does: there is nothing to be found."""
    old = {**OLD, "authors": ["Ann"], "shelf": "s"}
    rest.answers(Reply.json(old))
    profile = {"int64": "number", "timestamps": "rfc3339_ms"}
    gateway = start(configuration(service={"dry_run": "100%", "json": profile}))
    gateway.fetch("GET", "/v1/books/b1")
    dry_run(gateway, (1, 0))
    assert not differences(gateway) and not samples(gateway)


def test_names_of_the_proto_file(start, configuration, rest):
    rest.answers(Reply.json({"next_page_token": "n", "books": [book("b1")]}))
    rule = {"http": {"get": "/v1/library"}}
    for names, expected in (("json", (0, 1)), ("proto", (1, 0))):
        gateway = start(configuration(
            service={"dry_run": "100%", "json": {"field_names": names}}, methods={"ListBooks": rule}))
        assert gateway.fetch("GET", "/v1/library").json()["next_page_token"] == "n"
        dry_run(gateway, expected, "ListBooks")
        if names == "json":
            assert found(gateway, "ListBooks") == {("name", "nextPageToken"): ("next_page_token", "nextPageToken")}


def test_one_field_as_the_body(start, configuration, rest):
    """response_body: the JSON is that of a field."""
    rest.answers(Reply.json([book("b1"), {**book("b2"), "pages": 2}]))
    gateway = start(configuration(service={"dry_run": "100%"}))
    gateway.fetch("GET", "/v1/books")
    dry_run(gateway, (0, 1), "ListBooks")
    assert found(gateway, "ListBooks") == {("form", "books[].pages"): (2, "2")}


def test_inside_an_envelope_and_compressed(start, configuration, rest):
    text = json.dumps({"data": {**book("b1"), "pages": 2}}).encode()
    rest.answers(Reply(200, [("Content-Type", "application/json"), ("Content-Encoding", "gzip")], gzip.compress(text)))
    gateway = start(configuration(service={"dry_run": "100%", "envelope": "data"}))
    gateway.fetch("GET", "/v1/books/b1", [("Accept-Encoding", "gzip")])
    dry_run(gateway, (0, 1))
    assert found(gateway) == {("form", "pages"): (2, "2")}


def test_loose_values_that_lenient_reading_takes(start, configuration, rest):
    rest.answers(Reply.json({**book("b1"), "title": 5, "authors": "Ann", "kind": 2}))
    gateway = start(configuration(service={"dry_run": "100%", "json": {"reading": "lenient"}}))
    gateway.fetch("GET", "/v1/books/b1")
    dry_run(gateway, (0, 1))
    assert found(gateway) == {
        # A title is a text of whoever wrote it: samples show hashes and lengths of such.
        ("form", "title"): ("a number", "a text of 1 byte"), ("form", "authors[]"): ("a text of 3 bytes", "a list"),
        ("form", "kind"): (2, "KIND_ATLAS")}


@pytest.mark.parametrize("body", [
    json.dumps(book("b1"), indent=3).encode(),
    json.dumps(dict(reversed(book("b1").items()))).encode(),
    json.dumps({**book("b1"), "title": "B\u00e9la"}, ensure_ascii=True).encode()])
def test_what_every_parser_reads_alike_is_no_difference(start, configuration, rest, body):
    """Blanks, the order of members, escapes."""
    rest.answers(Reply(200, [("Content-Type", "application/json")], body))
    gateway = start(configuration(service={"dry_run": "100%"}))
    gateway.fetch("GET", "/v1/books/b1")
    dry_run(gateway, (1, 0))
    assert not differences(gateway)


def test_a_shadow_sees_it_for_rest_callers(start, configuration, rest, rpc, client_of, pb):
    rest.answers(Reply.json({**book("b1"), "pages": 9007199254740993}))
    gateway = start(configuration(stage="shadow"))
    gateway.fetch("GET", "/v1/books/b1")
    assert outcome(gateway) == "mismatch"
    assert found(gateway) == {("form", "pages"): (9007199254740993, "9007199254740993")}
    # For an RPC caller the answer is translated today as it will be.
    client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert outcome(gateway, {"mismatch": 1}) == "match"


@pytest.mark.parametrize("shadow, expected, listed", [
    ({"spelling": "report"}, (1, 0), ["form pages"]), ({"spelling": "ignore"}, (1, 0), []),
    ({"ignore": ["pages"]}, (1, 0), []), ({"ignore": ["title"]}, (0, 1), ["form pages"])])
def test_whether_it_matters_is_configured(start, configuration, rest, shadow, expected, listed):
    rest.answers(Reply.json({**book("b1"), "pages": 7}))
    gateway = start(configuration(service={"dry_run": "100%", "shadow": shadow}))
    gateway.fetch("GET", "/v1/books/b1")
    dry_run(gateway, expected)
    assert differences(gateway) == listed


def test_the_guard_does_not_count_it(start, configuration, rest, rpc):
    """The new side does nothing wrong."""
    rest.answers(Reply.json({**book("b1"), "pages": 9007199254740993}))
    gateway = start(configuration(stage="shadow", service={
        "guard": {"window": "60s", "min_requests": 1, "max_mismatch_rate": "1%"}}))
    for _ in range(5):
        gateway.fetch("GET", "/v1/books/b1")
    wait_until(lambda: gateway.metric("turnout_shadow_total", outcome="mismatch") == 5, what="the comparisons")
    # Another route really differs. Once its guard has seen that, the guard of this one has looked, too.
    rest.answers(Reply.json({"count": 99}))
    for _ in range(5):
        gateway.fetch("GET", "/v1/count?author=ab")
    wait_until(lambda: route(gateway, "CountBooks")["guard"]["state"] == "alerting", what="the other guard")
    assert gateway.metric("turnout_rollbacks_total") == 0
    assert route(gateway)["guard"]["state"] not in ("tripped", "alerting")


def test_a_body_that_will_be_json(start, configuration, rest):
    rest.answers(Reply(200, [("Content-Type", "text/plain")], b"OK"))
    gateway = start(configuration(service={"dry_run": "100%"}))
    assert gateway.fetch("DELETE", "/v1/books/b1").body == b"OK"
    dry_run(gateway, (0, 1), "DeleteBook")
    assert differences(gateway, "DeleteBook") == ["form $", "unknown $"]


def test_the_report_says_it(start, configuration, rest):
    from support.gateway import run
    rest.answers(Reply.json({**book("b1"), "pages": 7}))
    gateway = start(configuration(service={"dry_run": "100%"}))
    gateway.fetch("GET", "/v1/books/b1")
    dry_run(gateway, (0, 1))
    text = run("report", "--admin", gateway.admin_url).stdout
    assert "| `GetBook` | `pages` | form | 1 |" in text
    assert "most at `pages` (form)" in text


@pytest.mark.parametrize("settings", [{"dry_run": "100%"}, {"stage": "shadow"}], ids=["dry run", "shadow"])
def test_by_default_it_is_listed_and_is_what_is_to_be_done_next(start, configuration, rest, settings):
    """Answers that mean the same match."""
    from support.gateway import run
    rest.answers(Reply.json({**book("b1"), "pages": 9007199254740993}))
    setup = configuration(service=settings)
    del setup["services"][SERVICE]["shadow"]
    gateway = start(setup)
    gateway.fetch("GET", "/v1/books/b1")
    wait_until(lambda: differences(gateway) == ["form pages"], what="the difference")
    if "stage" in settings:
        assert outcome(gateway) == "match"
    else:
        dry_run(gateway, (1, 0))
    text = run("report", "--admin", gateway.admin_url).stdout
    assert "REST callers will find them written otherwise, most at `pages` (form)" in text
