"""Shadows compared by the schema: what the legacy service and the new one answered, for callers of every kind."""

import concurrent.futures
import gzip
import json

import grpc
import pytest
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from support.gateway import run, wait_until
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.shadows import differences, outcome, outcomes, route

# The same book as an old service might write it.
OLD_STYLE = {
    "labels": {"lang": "hu"}, "digest": "3q2-7w", "kind": 2, "pages": 9007199254740993, "shelf": None, "title": "The book b1",
    "published": "2024-02-29T13:30:45.12+01:00", "authors": ["Ann", "Béla"], "id": "b1",
}


@pytest.fixture
def shadowed(start, configuration):
    return lambda **service: start(configuration(stage="shadow", service=service))


def by_rest(gateway, pb, schema):
    assert gateway.fetch("GET", "/v1/books/b1").status == 200


def by_connect(gateway, pb, schema):
    client = schema.connect.LibraryClientSync(gateway.url, codec=google_protobuf_binary_codec(), send_compression=None)
    assert client.get_book(pb.GetBookRequest(id="b1")).id == "b1"
    client.close()


def by_grpc_web(gateway, pb, schema):
    client = schema.connect.LibraryClientSync(
        gateway.url, protocol=ProtocolType.GRPC_WEB, codec=google_protobuf_binary_codec(), send_compression=None)
    assert client.get_book(pb.GetBookRequest(id="b1")).id == "b1"
    client.close()


def by_grpc(gateway, pb, schema):
    with grpc.insecure_channel("%s:%d" % gateway.address) as channel:
        get = channel.unary_unary(
            f"/{SERVICE}/GetBook", request_serializer=pb.GetBookRequest.SerializeToString,
            response_deserializer=pb.Book.FromString)
        assert get(pb.GetBookRequest(id="b1"), timeout=20).id == "b1"


CALLERS = {"rest": by_rest, "connect": by_connect, "grpc": by_grpc, "grpc-web": by_grpc_web}


@pytest.mark.parametrize("caller", CALLERS)
def test_callers_of_every_kind_are_compared_in_both_directions(start, configuration, rest, rpc, pb, schema, caller):
    gateway = start(configuration(stage="shadow", service={"shadow": {"back": True, "spelling": "ignore"}}))
    rest.answers(Reply.json(OLD_STYLE))
    CALLERS[caller](gateway, pb, schema)
    assert outcome(gateway) == "match" and not differences(gateway)
    assert rpc.only().message.id == "b1"
    rest.answers(Reply.json({**OLD_STYLE, "pages": 5}))
    CALLERS[caller](gateway, pb, schema)
    assert outcome(gateway, {"match": 1}) == "mismatch"
    assert differences(gateway) == ["changed pages"]
    # The rpc side answers, and the rest side gets the copy.
    gateway.set_stage(f"{SERVICE}/GetBook", "rpc")
    rest.reset()
    rest.answers(Reply.json(OLD_STYLE))
    CALLERS[caller](gateway, pb, schema)
    assert outcome(gateway, {"match": 1, "mismatch": 1}) == "match"
    assert (rest.only().target, rest.only()["x-turnout-shadow"]) == ("/v1/books/b1", "1")
    rest.answers(Reply.json({"message": "gone"}, 404))
    CALLERS[caller](gateway, pb, schema)
    assert outcome(gateway, {"match": 2, "mismatch": 1}) == "mismatch"
    assert differences(gateway) == ["changed pages", "status $"]


@pytest.mark.parametrize("change, expected", [
    ({"title": "another"}, ["changed title"]),
    ({"title": None}, ["extra title"]),
    ({"shelf": "s1"}, ["missing shelf"]),
    ({"authors": ["Béla", "Ann"]}, ["changed authors[]"]),
    ({"authors": ["Ann"]}, ["extra authors[]"]),
    ({"labels": {"lang": "de"}}, ["changed labels[]"]),
    ({"published": "2024-02-29T12:30:45.121Z", "kind": "KIND_NOVEL"}, ["changed kind", "changed published"]),
    ({"pages": "many"}, ["type pages"]),
    ({"authors": [1]}, ["type authors[]"]),
    ({"kind": "KIND_COMIC"}, ["type kind"]),
])
def test_each_difference_has_its_path(shadowed, rest, rpc, change, expected):
    gateway = shadowed()
    answer = {name: value for name, value in {**book("b1"), **change}.items() if value is not None}
    rest.answers(Reply.json(answer))
    assert gateway.fetch("GET", "/v1/books/b1").json() == answer
    assert outcome(gateway) == "mismatch"
    assert differences(gateway) == expected


def test_what_the_schema_lacks_is_reported(shadowed, rest, rpc):
    """Members that the schema does not know are where contracts drift; by themselves they make no difference."""
    gateway = shadowed()
    rest.answers(Reply.json({**book("b1"), "isbn": "1", "stock": {"here": 3}}))
    gateway.fetch("GET", "/v1/books/b1")
    assert outcome(gateway) == "match"
    assert route(gateway)["shadow"]["unknown_legacy_fields"] == ["isbn", "stock"]
    assert differences(gateway) == ["unknown isbn", "unknown stock"]
    strict = shadowed(shadow={"unknown": "mismatch"})
    strict.fetch("GET", "/v1/books/b1")
    assert outcome(strict) == "mismatch"


@pytest.mark.parametrize("fields, body", [
    ([("Content-Encoding", "gzip")], gzip.compress(json.dumps(OLD_STYLE).encode())),
    ([("Content-Type", "application/json; charset=utf-8")], json.dumps(OLD_STYLE, indent=2).encode()),
])
def test_answers_as_they_come(shadowed, rest, rpc, fields, body):
    gateway = shadowed(shadow={"spelling": "ignore"})
    fields = fields if any(name == "Content-Type" for name, _ in fields) else [("Content-Type", "application/json"), *fields]
    rest.answers(Reply(200, fields, chunks=[body[:7], body[7:60], body[60:]]))
    assert gateway.fetch("GET", "/v1/books/b1", [("Accept-Encoding", "gzip")]).body == body
    assert outcome(gateway) == "match"


def test_envelopes_and_profiles(shadowed, rest, rpc):
    gateway = shadowed(
        shadow={"spelling": "ignore"}, envelope="data",
        json={"enum_prefix": "strip", "enum_case": "lower", "timestamps": "unix_ms"})
    rest.answers(Reply.json({"data": {**OLD_STYLE, "kind": "atlas", "published": 1709209845120}, "took": 3}))
    gateway.fetch("GET", "/v1/books/b1")
    assert outcome(gateway) == "match"


def test_a_part_of_the_answer_is_compared_whole(shadowed, rest, rpc):
    """REST shows `books` of the answer only; for a REST caller the rest of it is the new side's alone."""
    gateway = shadowed()
    gateway.fetch("GET", "/v1/books")
    assert outcome(gateway, method="ListBooks") == "mismatch"
    assert differences(gateway, "ListBooks") == ["extra nextPageToken"]


def test_errors_compare_by_their_code(shadowed, rest, rpc):
    gateway = shadowed()

    def missing(call, context):
        raise ConnectError(Code.NOT_FOUND, "no such book")

    rest.answers(Reply(404, [("Content-Type", "text/html")], b"<h1>not here</h1>"))
    rpc.script = missing
    assert gateway.fetch("GET", "/v1/books/b1").status == 404
    assert outcome(gateway) == "match"
    rpc.script = None
    assert gateway.fetch("GET", "/v1/books/b1").status == 404
    assert outcome(gateway, {"match": 1}) == "mismatch"
    assert differences(gateway) == ["status $"]


def test_what_the_flip_would_refuse(shadowed, rest, rpc):
    """The legacy service takes what translation does not."""
    gateway = shadowed()
    assert gateway.fetch("GET", "/v1/books/b1?colour=red").status == 200
    assert outcome(gateway) == "mismatch"
    rest.answers(Reply.json(book("b1")))
    assert gateway.fetch("GET", "/v1/books/b1?titleSize=big").status == 200
    wait_until(lambda: len(differences(gateway)) == 2, what="two differences")
    assert differences(gateway) == ["request colour", "request titleSize"]
    assert not rpc.calls


def test_requests_with_bodies_need_consent(start, configuration, rest, rpc):
    methods = {
        "CreateBook": {"shadow": {"unsafe": True, "ignore": ["id"], "spelling": "ignore"}, "success_status": 201},
        "MoveBook": {}}
    gateway = start(configuration(stage="shadow", methods=methods))
    body = json.dumps({"title": "Neu", "pages": 7}).encode()
    head = [("Content-Type", "application/json")]
    assert gateway.fetch("POST", "/v1/shelves/s1/books", head, body).status == 201
    assert outcome(gateway, method="CreateBook") == "match"
    copy = rpc.only().message
    assert (copy.shelf, copy.book.title, copy.book.pages) == ("s1", "Neu", 7)
    assert gateway.fetch("POST", "/v1/books/b1:move", head, b'{"shelf":"s2"}').status == 200
    assert outcome(gateway, method="MoveBook") == "skipped"
    assert route(gateway, "MoveBook")["shadow"]["skipped"] == {"unsafe": 1} and len(rpc.calls) == 1


def test_a_status_that_would_change(start, configuration, rest, rpc):
    """What the app sees as 201 today would be 200 after the flip, if nobody says otherwise."""
    gateway = start(configuration(stage="shadow", methods={"CreateBook": {"shadow": {"unsafe": True, "ignore": ["id"]}}}))
    head = [("Content-Type", "application/json")]
    assert gateway.fetch("POST", "/v1/shelves/s1/books", head, b'{"title":"Neu"}').status == 201
    assert outcome(gateway, method="CreateBook") == "mismatch"
    assert differences(gateway, "CreateBook") == ["status $"]
    (sample,) = gateway.admin("GET", f"/routes/{SERVICE}/CreateBook/samples").json()["samples"]
    assert sample["differences"][0]["rest"] == "HTTP 201" and "success_status" in sample["differences"][0]["rpc"]
    # An RPC caller sees no status of a REST service.
    gateway.fetch("POST", f"/{SERVICE}/CreateBook", head, b'{"shelf":"s1","book":{"title":"Neu"}}')
    wait_until(lambda: gateway.metric("turnout_shadow_total", method="CreateBook", outcome="match") == 1, what="a match")


def test_rules(shadowed, rest, rpc):
    gateway = shadowed(shadow={
        "ignore": ["title", "labels"], "unordered": ["authors"], "tolerance": {"published": "2s", "pages": "1%"}})
    changed = {"title": "x", "labels": {}, "authors": ["Béla", "Ann"], "published": "2024-02-29T12:30:46Z"}
    rest.answers(Reply.json({**book("b1"), **changed, "pages": "9000000000000000"}))
    gateway.fetch("GET", "/v1/books/b1")
    assert outcome(gateway) == "match"
    rest.answers(Reply.json({**book("b1"), **changed, "pages": "1", "published": "2024-02-29T12:30:48Z"}))
    gateway.fetch("GET", "/v1/books/b1")
    assert outcome(gateway, {"match": 1}) == "mismatch"
    assert differences(gateway) == ["changed pages", "changed published"]


def test_bounds(start, configuration, rest, rpc):
    def gateway(**shadow):
        return start(configuration(stage="shadow", service={"shadow": shadow}))

    small = gateway(max_body="100B")
    small.fetch("GET", "/v1/books/b1")
    assert outcome(small) == "skipped"
    assert route(small)["shadow"]["skipped"] == {"too_large": 1}
    assert small.fetch("GET", "/v1/books/b1").json() == book("b1")
    slow = gateway(max_rate=1)
    for _ in range(5):
        slow.fetch("GET", "/v1/books/b1")
    wait_until(lambda: sum(outcomes(slow).values()) == 5, what="five outcomes")
    assert outcomes(slow)["skipped"] >= 3 and set(route(slow)["shadow"]["skipped"]) == {"rate"}

    async def wait(call, context):
        import asyncio
        await asyncio.sleep(30)

    rpc.script = wait
    busy = gateway(max_in_flight=2, timeout="300ms")
    for _ in range(4):
        assert busy.fetch("GET", "/v1/books/b1").json() == book("b1")

    def waited_in_vain():
        found = outcomes(busy)
        # By the gateway's clock, or by that of the service, whose `deadline_exceeded` is an answer.
        return found.get("skipped") == 2 and found.get("error", 0) + found.get("mismatch", 0) == 2

    wait_until(waited_in_vain, what="two that waited in vain")
    assert route(busy)["shadow"]["skipped"] == {"in_flight": 2}
    # The places are free again.
    rpc.script = None
    busy.fetch("GET", "/v1/books/b1")
    wait_until(lambda: outcomes(busy).get("match") == 1, what="a match")


@pytest.fixture
def grpc_service(pb):
    """The address of a gRPC service with one method."""
    def get_book(request, context):
        if request.id == "none":
            context.abort(grpc.StatusCode.NOT_FOUND, "no such book")
        return pb.Book(id=request.id, title="The book b1", pages=9007199254740993)

    handler = grpc.unary_unary_rpc_method_handler(
        get_book, request_deserializer=pb.GetBookRequest.FromString, response_serializer=pb.Book.SerializeToString)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, {"GetBook": handler})])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"http://127.0.0.1:{port}"
    server.stop(None)


def test_a_gRPC_service_as_the_new_side(start, configuration, rest, pb, schema, grpc_service):
    setup = configuration(stage="shadow", service={"shadow": {"back": True, "spelling": "ignore"}})
    setup["upstreams"]["content"] = {"protocol": "grpc", "endpoints": [grpc_service]}
    gateway = start(setup)
    rest.answers(Reply.json({"id": "b1", "title": "The book b1", "pages": 9007199254740993}))
    gateway.fetch("GET", "/v1/books/b1")
    assert outcome(gateway) == "match"
    rest.answers(Reply.json({"code": 5, "message": "no such book"}, 404))
    gateway.fetch("GET", "/v1/books/none")
    assert outcome(gateway, {"match": 1}) == "match"
    # What passes through as it is, trailers and all, is compared too.
    gateway.set_stage(f"{SERVICE}/GetBook", "rpc")
    rest.answers(Reply.json({"id": "b1", "title": "The book b1", "pages": "5"}))
    by_grpc(gateway, pb, schema)
    assert outcome(gateway, {"match": 2}) == "mismatch" and differences(gateway) == ["changed pages"]
    rest.answers(Reply.json({"code": 5, "message": "no such book"}, 404))
    with grpc.insecure_channel("%s:%d" % gateway.address) as channel:
        get = channel.unary_unary(
            f"/{SERVICE}/GetBook", request_serializer=pb.GetBookRequest.SerializeToString,
            response_deserializer=pb.Book.FromString)
        with pytest.raises(grpc.RpcError) as error:
            get(pb.GetBookRequest(id="none"), timeout=20)
        assert error.value.code() == grpc.StatusCode.NOT_FOUND
    assert outcome(gateway, {"match": 2, "mismatch": 1}) == "match"


def test_what_cannot_be_compared(shadowed, rest, rpc):
    gateway = shadowed()
    assert gateway.fetch("HEAD", "/v1/books/b1").status == 200
    assert outcome(gateway) == "skipped"
    rest.answers(Reply(304))
    assert gateway.fetch("GET", "/v1/books/b1", [("If-None-Match", '"x"')]).status == 304
    wait_until(lambda: outcomes(gateway) == {"skipped": 2}, what="two skipped copies")
    rest.answers(Reply(206, [("Content-Type", "application/json"), ("Content-Range", "bytes 0-1/9")], b"{}"))
    assert gateway.fetch("GET", "/v1/books/b1", [("Range", "bytes=0-1")]).status == 206
    wait_until(lambda: outcomes(gateway) == {"skipped": 3}, what="three skipped copies")
    assert route(gateway)["shadow"]["skipped"] == {"not_comparable": 3}
    rest.answers(Reply(raw=b""))
    assert gateway.fetch("GET", "/v1/books/b1").status == 502
    wait_until(lambda: outcomes(gateway) == {"skipped": 4}, what="four skipped copies")
    assert route(gateway)["shadow"]["skipped"] == {"not_comparable": 3, "unanswered": 1}
    # Nothing is held any more.
    assert gateway.metric("turnout_buffered_bytes") == 0


def test_copies_stay_within_the_budget_of_all_buffers(start, configuration, rest, rpc):
    gateway = start(configuration(stage="shadow", limits={"buffers": "64B", "message": "32B"}))
    for _ in range(3):
        assert gateway.fetch("GET", "/v1/books/b1").json() == book("b1")
    wait_until(lambda: outcomes(gateway) == {"skipped": 3}, what="three skipped copies")
    assert route(gateway)["shadow"]["skipped"] == {"buffers": 3}
    assert gateway.metric("turnout_buffered_bytes") == 0


@pytest.mark.parametrize("shadow, error", [
    ({"ignore": ["titel"]}, "`titel`: library.v1.Book has no field `titel`; did you mean `title`?"),
    ({"unordered": ["title"]}, "`title`: `title` is not repeated; leave it out"),
    ({"tolerance": {"title": "1"}}, "`title`: `title` is no number; name a field with numbers or times"),
    ({"tolerance": {"pages": "wide"}}, "`wide` is not a tolerance; write a number, a percentage or, for times, a duration"),
])
def test_mistakes_are_found_at_load(tmp_path, configuration, shadow, error):
    setup = configuration(stage="shadow", methods={"GetBook": {"shadow": shadow}})
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(setup, indent=1))
    checked = run("check", "--config", file)
    assert checked.returncode == 1 and error in checked.stderr + checked.stdout, checked
