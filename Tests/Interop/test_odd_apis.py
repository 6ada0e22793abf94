"""What old APIs and old apps do besides the rules: loose JSON, lists in queries, a slash at the end, methods in lower case."""

import json
import re

import pytest

from support.gateway import ROOT
from support.rest_service import Reply, book
from support.schema import SERVICE

JSON = [("Content-Type", "application/json")]

ODD = {
    "id": 5, "title": True, "authors": "Ann", "pages": "", "kind": "", "published": "2024-02-29 12:30:45",
    "digest": "", "labels": [], "shelf": None,
}


@pytest.fixture
def lenient(start, configuration):
    """Both stages of a service with loose habits."""
    def lenient(stage, **more):
        return start(configuration(stage=stage, service={"json": {"reading": "lenient"}, **more}, fallback="legacy"))
    return lenient


def test_an_rpc_caller_reads_what_a_loose_backend_writes(lenient, client_of, rest, pb):
    rest.answers(Reply.json(ODD))
    gateway = lenient("rest")
    found = client_of(gateway).get_book(pb.GetBookRequest(id="5"))
    expected = pb.Book(id="5", title="true", authors=["Ann"])
    expected.published.FromJsonString("2024-02-29T12:30:45Z")
    assert found == expected


def test_a_strict_route_refuses_it_and_says_why(start, configuration, rest):
    rest.answers(Reply.json(ODD))
    gateway = start(configuration(stage="rest"))
    answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", JSON, b'{"id":"5"}')
    assert (answer.status, answer.json()["code"]) == (500, "internal")
    assert "id: a string expected, not a number" in gateway.access_log()[-1]


def test_an_old_app_writes_it_to_the_new_side(lenient, rpc):
    gateway = lenient("rpc")
    answer = gateway.fetch("POST", "/v1/shelves/s1/books", JSON, json.dumps(ODD).encode())
    assert answer.status == 200, answer
    sent = rpc.only().message
    assert (sent.shelf, sent.book.id, sent.book.title, list(sent.book.authors)) == ("s1", "5", "true", ["Ann"])
    assert sent.book.published.ToJsonString() == "2024-02-29T12:30:45Z"


@pytest.mark.parametrize("body", [b'""', b"false", b"[]", b"null", b"{}"])
def test_a_body_that_says_nothing(lenient, rpc, body):
    """A field is the body: it is not there, or holds only what the path says; and a whole body without members."""
    gateway = lenient("rpc")
    assert gateway.fetch("POST", "/v1/shelves/s1/books", JSON, body).status == 200
    sent = rpc.only().message
    assert (sent.shelf, sent.HasField("book"), sent.book.ByteSize()) == ("s1", body in (b"[]", b"{}"), 0)
    rpc.reset()
    assert gateway.fetch("PATCH", "/v1/books/b1", JSON, body).status == 200
    sent = rpc.only().message
    assert (sent.book.id, sent.book.ByteSize()) == ("b1", 4)
    if body in (b"[]", b"{}"):
        rpc.reset()
        assert gateway.fetch("POST", "/v1/books/b1:move", JSON, body).status == 200
        assert rpc.only().message.id == "b1"


@pytest.mark.parametrize("body", [b"[]", b"{}"])
def test_a_loose_backend_answers_nothing(lenient, client_of, rest, pb, body):
    rest.answers(Reply(200, JSON, body))
    gateway = lenient("rest")
    assert client_of(gateway).get_book(pb.GetBookRequest(id="5")) == pb.Book()


@pytest.mark.parametrize("body", [b'""', b"[]", b"null", b"[null]"])
def test_a_loose_backend_answers_with_no_list(lenient, client_of, rest, pb, body):
    rest.answers(Reply(200, JSON, body))
    gateway = lenient("rest")
    assert client_of(gateway).list_books(pb.ListBooksRequest()) == pb.ListBooksResponse()


@pytest.mark.parametrize("body, field", [
    (b'{"pages":true}', "pages"), (b'{"id":"a","id":"b"}', "id"), (b'{"tittle":"x"}', "tittle"), (b'{"id":[]}', "id")])
def test_it_is_no_licence(lenient, rpc, body, field):
    answer = lenient("rpc").fetch("POST", "/v1/shelves/s1/books", JSON, body)
    assert answer.status == 400
    assert answer.json()["details"][0]["fieldViolations"][0]["field"] == field
    assert not rpc.calls


@pytest.mark.parametrize("form, whole", [
    ("rfc3339_ms", "2024-01-01T00:00:00.000Z"), ("local", "2024-01-01T00:00:00"), ("sql", "2024-01-01 00:00:00")])
def test_times_in_the_form_of_the_old_api(start, configuration, rpc, form, whole):
    gateway = start(configuration(stage="rpc", service={"json": {"timestamps": form}}))
    body = json.dumps({"title": "x", "published": whole}).encode()
    answer = gateway.fetch("POST", "/v1/shelves/s1/books", JSON, body)
    assert (answer.status, answer.json()["published"]) == (200, whole)
    assert rpc.only().message.book.published.ToJsonString() == "2024-01-01T00:00:00Z"


LISTS = {
    "repeated": ("kinds=KIND_NOVEL&kinds=KIND_ATLAS", ["kinds=KIND_NOVEL,KIND_ATLAS", "kinds[]=KIND_NOVEL"]),
    "brackets": ("kinds%5B%5D=KIND_NOVEL&kinds%5B%5D=KIND_ATLAS", ["kinds=KIND_NOVEL,KIND_ATLAS"]),
    "commas": ("kinds=KIND_NOVEL,KIND_ATLAS", ["kinds[]=KIND_NOVEL"]),
}


@pytest.mark.parametrize("form", LISTS)
def test_lists_in_a_query(start, configuration, rest, rpc, pb, form):
    """Read by the new side as the old app spells them, and written as the old backend reads them."""
    written, refused = LISTS[form]
    both = [pb.KIND_NOVEL, pb.KIND_ATLAS]
    for stage in ("rpc", "rest"):
        gateway = start(configuration(stage=stage, service={"query": {"lists": form}}))
        if stage == "rest":
            rest.answers(Reply.json([]))
            gateway.fetch("POST", f"/{SERVICE}/ListBooks", JSON, b'{"kinds":["KIND_NOVEL",2]}')
            assert rest.only().query == written
            continue
        spellings = [written, LISTS["repeated"][0]]
        if form == "brackets":
            spellings += ["kinds[]=1&kinds[]=2", "kinds[0]=1&kinds[1]=2", "kinds[]=1&kinds=2"]
        for query in spellings:
            rpc.reset()
            assert gateway.fetch("GET", f"/v1/books?{query}").status == 200, query
            assert list(rpc.only().message.kinds) == both, query
        for query in [*refused, "author[]=a", "kinds[a]=1", "kinds[=1", "[]=1"]:
            assert gateway.fetch("GET", f"/v1/books?{query}").status == 400, query


def test_commas_in_other_values_are_data(start, configuration, rpc):
    gateway = start(configuration(stage="rpc", service={"query": {"lists": "commas"}}))
    assert gateway.fetch("GET", "/v1/books?author=a,b&kinds=").status == 200
    assert (rpc.only().message.author, list(rpc.only().message.kinds)) == ("a,b", [])


def test_a_query_of_an_old_form(lenient, rpc):
    """Fields that were left empty, and 1 for true."""
    gateway = lenient("rpc")
    assert gateway.fetch("GET", "/v1/books?author=&page_size=&kinds=").status == 200
    sent = rpc.only().message
    assert (sent.author, sent.page_size, list(sent.kinds)) == ("", 0, [])


@pytest.mark.parametrize("stage", ["rest", "rpc"])
def test_a_slash_at_the_end(start, configuration, rest, rpc, stage):
    gateway = start(configuration(
        stage=stage, service={"trailing_slash": "accept"}, methods={"ListBooks": {"trailing_slash": "reject"}},
        fallback="legacy"))
    answer = gateway.fetch("GET", "/v1/books/b1/")
    assert answer.status == (200 if stage == "rpc" else 404), answer
    if stage == "rest":
        # The old backend gets it as it came.
        assert rest.only().target == "/v1/books/b1/"
    else:
        assert rpc.only().message.id == "b1"
        assert not rest.requests
    assert gateway.metric("turnout_requests_total", route="/v1/books/{id}") == 1
    rest.reset()
    for target in ("/v1/books/b1//", "/v1/books/", "//v1/books/b1", "/"):
        answer = gateway.fetch("GET", target)
        assert answer.status == 404, target
    assert [one.target for one in rest.requests] == ["/"]


def test_a_slash_at_the_end_is_refused_unless_allowed(start, configuration, rest):
    gateway = start(configuration(stage="rest", fallback="legacy"))
    answer = gateway.fetch("GET", "/v1/books/b1/")
    assert answer.status == 404
    assert "trailing slashes" in answer.json()["message"]
    assert not rest.requests


def test_entity_tags_go_on_after_the_move(start, configuration, rest, rpc):
    gateway = start(configuration(stage="rpc", service={"etag": True}, methods={"ListBooks": {"etag": False}}))
    first = gateway.fetch("GET", "/v1/books/b1")
    tag = first["etag"]
    assert first.status == 200 and tag.startswith('W/"') and len(tag) > 20
    assert gateway.fetch("GET", "/v1/books/b1")["etag"] == tag
    assert gateway.fetch("GET", "/v1/books/b2")["etag"] != tag
    strong = tag.removeprefix("W/")
    for known in (tag, strong, "*", f'"a,b", {tag}', f'W/"x",{strong} , "y"'):
        again = gateway.fetch("GET", "/v1/books/b1", [("If-None-Match", known)])
        assert (again.status, again.body, again["etag"], again["content-type"]) == (304, b"", tag, None), known
    several = gateway.fetch("GET", "/v1/books/b1", [("If-None-Match", '"a"'), ("If-None-Match", tag)])
    assert several.status == 304
    for other in ('"a"', "", '"', strong[:-1], strong.strip('"'), '"*"'):
        assert gateway.fetch("GET", "/v1/books/b1", [("If-None-Match", other)]).status == 200, other
    head = gateway.fetch("HEAD", "/v1/books/b1")
    assert (head.status, head["etag"]) == (200, tag)
    assert gateway.fetch("HEAD", "/v1/books/b1", [("If-None-Match", tag)]).status == 304
    # Not for what changes something, nor for an error, nor where it is not wanted.
    made = gateway.fetch("POST", "/v1/shelves/s1/books", [*JSON, ("If-None-Match", "*")], b'{"title":"x"}')
    assert (made.status, made["etag"]) == (200, None)
    assert gateway.fetch("GET", "/v1/books/b1?colour=red", [("If-None-Match", "*")]).status == 400
    assert gateway.fetch("GET", "/v1/books", [("If-None-Match", "*")]).status == 200


def test_a_compressed_answer_has_the_same_tag(start, configuration, rpc):
    gateway = start(configuration(stage="rpc", service={"etag": True, "compression": {"min_size": "1B"}}))
    plain = gateway.fetch("GET", "/v1/books/b1")
    small = gateway.fetch("GET", "/v1/books/b1", [("Accept-Encoding", "gzip")])
    assert (small["content-encoding"], small["etag"]) == ("gzip", plain["etag"])
    again = gateway.fetch("GET", "/v1/books/b1", [("Accept-Encoding", "gzip"), ("If-None-Match", plain["etag"])])
    assert (again.status, again["content-encoding"]) == (304, None)


@pytest.mark.parametrize("compression", [{"min_size": "1B"}, {"min_size": "1MiB"}, {"min_size": "1B", "types": ["text/*"]}])
def test_what_is_not_modified_varies_as_the_answer_does(start, configuration, rest, compression):
    setup = configuration(stage="rpc", codec="json", service={"etag": True, "compression": compression})
    # A Connect server that says nothing of Vary itself.
    setup["upstreams"]["content"]["endpoints"] = [rest.url]
    rest.answers(Reply.json(book("b1")))
    gateway = start(setup)
    whole = gateway.fetch("GET", "/v1/books/b1")
    known = gateway.fetch("GET", "/v1/books/b1", [("If-None-Match", whole["etag"])])
    assert (whole.status, known.status) == (200, 304)
    assert known["vary"] == whole["vary"]
    assert ("Accept-Encoding" in (whole["vary"] or "")) == (compression == {"min_size": "1B"})


@pytest.mark.parametrize("method", ["get", "Get", "post", "delete"])
def test_a_method_in_lower_case_passes_no_described_route_by(start, configuration, rest, rpc, method):
    """A backend that does not look at the case would serve what a protected route guards."""
    gateway = start(configuration(stage="rpc", fallback="legacy"))
    target = "/v1/shelves/s/books" if method == "post" else "/v1/books/b1"
    answer = gateway.fetch(method, target)
    assert (answer.status, answer.json()["code"]) == (501, 12)
    assert not rest.requests and not rpc.calls
    assert gateway.fetch(method, "/elsewhere").status == 404
    assert rest.only().method == method


def test_check_tells_of_methods_that_nobody_can_call(start, configuration):
    gateway = start(configuration(stage="rest", methods={"CountBooks": {}}))
    assert f"{SERVICE}/CountBooks has no HTTP rule" in gateway.log()
    answer = gateway.fetch("POST", f"/{SERVICE}/CountBooks", JSON, b"{}")
    assert (answer.status, answer.json()["code"]) == (501, "unimplemented")
    gateway = start(configuration(stage="rpc", methods={"CountBooks": {}}))
    assert "has no HTTP rule" not in gateway.log()


def test_the_page_about_old_habits_says_what_is():
    """Its keys are keys, and the words that it quotes are said."""
    page = (ROOT / "Sources/Gateway/Gateway.docc/MovingAnAPI.md").read_text()
    keys = set(re.findall(r"^ *#? ?([a-z_]+):", (ROOT / "config/reference.yaml").read_text(), re.MULTILINE))
    keys |= set(re.findall(r"[{,] ([a-z_]+):", (ROOT / "config/reference.yaml").read_text()))
    sources = " ".join("".join(file.read_text() for file in (ROOT / "Sources").rglob("*.swift")).split())
    rows = [row.strip("| ").split(" | ") for row in page.splitlines() if row.startswith("| ")][2:]
    assert len(rows) >= 15
    for says, _, cure in rows:
        for key in re.findall(r"([a-z_]+):", cure):
            assert key in keys, (says, key)
    said = [quote for says, _, _ in rows for quote in re.findall(r"`([^`]+)`", says)]
    for words in ("unknown query parameter", "a number expected", "a string", "an array", "no route for this spelling",
                  "this route reads", "a timestamp such as", "a field of the message expected; this name is unknown"):
        assert any(words in quote for quote in said), words
        assert words in sources, words


@pytest.mark.parametrize("type, body", [
    ("text/plain", b"OK"), (None, b"OK"), ("application/json", b'"OK"'), ("application/json", b"true"),
    ("text/html; charset=utf-8", b"<p>deleted</p>"), ("application/json", b"null"), ("application/json", b" OK")])
def test_a_text_where_nothing_is_to_be_said(start, configuration, client_of, rest, pb, type, body):
    """google.protobuf.Empty: what the old service says is dropped, and counted."""
    rest.answers(Reply(200, [("Content-Type", type)] if type else [], body))
    gateway = start(configuration(stage="rest"))
    client_of(gateway).delete_book(pb.DeleteBookRequest(id="b1"))
    assert gateway.metric("turnout_unknown_fields_total", method="DeleteBook", path="$") == 1
    # REST callers get it as it comes.
    assert gateway.fetch("DELETE", "/v1/books/b1").body == body


@pytest.mark.parametrize("method, body", [("GetBook", b"OK"), ("DeleteBook", b'{"id":"b1"}'), ("DeleteBook", b"{")])
def test_a_text_in_place_of_a_message_is_none(start, configuration, rest, method, body):
    """A message that could have said something, members that the schema lacks, half an object."""
    rest.answers(Reply(200, [("Content-Type", "application/json")], body))
    gateway = start(configuration(stage="rest"))
    answer = gateway.fetch("POST", f"/{SERVICE}/{method}", JSON, b'{"id":"b1"}')
    assert (answer.status, answer.json()["code"]) == (500, "internal")
