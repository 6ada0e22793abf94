"""REST with protobuf bodies, on both sides; Python's protobuf is the oracle."""

import gzip
import json
import random

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.protobuf.field_mask_pb2 import FieldMask
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from support.rest_service import Reply, book
from support.schema import SERVICE
from test_errors import pack

X = "application/x-protobuf"
NAMES = [X, "application/protobuf", "application/vnd.google.protobuf"]
PROTOBUF = [("Content-Type", X)]
READS = [("Accept", X)]


# MARK: REST callers before an RPC service


@pytest.fixture(params=["proto", "json"])
def gateway(request, shared_gateways, used, rest, rpc):
    """Towards the service with either codec."""
    used.append(shared_gateways("rpc", request.param))
    return used[-1]


@pytest.mark.parametrize("name", [*NAMES, "Application/Protobuf; messageType=library.v1.Book"])
def test_body_and_answer(gateway, rpc, pb, name):
    sent = pb.Book(title="Neu ü", authors=["a", "b"], pages=1 << 60, kind=2, digest=b"\xff\x00", labels={"k": "v"})
    answer = gateway.fetch("POST", "/v1/shelves/s%201/books", [("Content-Type", name)], sent.SerializeToString())
    assert answer.status == 200, answer
    assert answer["content-type"] == name.split(";")[0].lower()
    made = pb.Book()
    made.CopyFrom(sent)
    made.id, made.shelf = "new", "s 1"
    assert pb.Book.FromString(answer.body) == made
    assert rpc.only().message == pb.CreateBookRequest(shelf="s 1", book=sent)


def test_a_whole_message_as_body(gateway, rpc, pb):
    for message in (pb.MoveBookRequest(shelf="s2"), pb.MoveBookRequest(id="b1", shelf="s2")):
        answer = gateway.fetch("POST", "/v1/books/b1:move", PROTOBUF, message.SerializeToString())
        assert pb.Book.FromString(answer.body) == rpc.book("b1", shelf="s2")
        assert rpc.calls[-1].message == pb.MoveBookRequest(id="b1", shelf="s2")
    answer = gateway.fetch("POST", "/v1/books/b1:move", [*PROTOBUF, ("Content-Length", "0")])
    assert pb.Book.FromString(answer.body) == rpc.book("b1")


def test_get_by_accept(gateway, rpc, pb):
    answer = gateway.fetch("GET", "/v1/books/b1", READS)
    assert (answer["content-type"], pb.Book.FromString(answer.body)) == (X, rpc.book("b1"))


@pytest.mark.parametrize(
    "accept, type",
    [
        ("*/*", "application/json"), ("application/*", "application/json"), ("application/json", "application/json"),
        ("application/x-protobuf, application/json;q=0.9", X), ("application/x-protobuf;q=0.8, */*", "application/json"),
        ("application/protobuf, */*", "application/protobuf"), ("application/x-protobuf;q=0, */*", "application/json"),
        ("text/html,application/xhtml+xml", "application/json"), ("image/png", "application/json"),
        ("application/json;q=0, */*", X),
    ],
)
def test_what_is_accepted_decides(gateway_on_rpc, rpc, pb, accept, type):
    answer = gateway_on_rpc.fetch("GET", "/v1/books/b1", [("Accept", accept)])
    assert (answer.status, answer["content-type"]) == (200, type)
    assert "accept" in [name.strip().lower() for value in answer.all("vary") for name in value.split(",")]
    # The answer may be of another form than the request.
    answer = gateway_on_rpc.fetch(
        "POST", "/v1/shelves/s1/books", [*PROTOBUF, ("Accept", accept)], pb.Book(title="t").SerializeToString())
    assert (answer.status, answer["content-type"]) == (200, type)


def test_json_in_and_protobuf_out(gateway, pb):
    answer = gateway.fetch(
        "POST", "/v1/shelves/s1/books", [("Content-Type", "application/json"), *READS], b'{"title":"t"}')
    assert pb.Book.FromString(answer.body) == pb.Book(id="new", title="t", shelf="s1")


def test_a_list_alone_has_no_protobuf_form(gateway, rpc):
    answer = gateway.fetch("GET", "/v1/books", [("Accept", f"{X}, */*;q=0.1")])
    assert (answer.status, answer["content-type"]) == (200, "application/json")
    rpc.calls.clear()
    answer = gateway.fetch("GET", "/v1/books", READS)
    assert answer.status == 406, answer
    assert Status.FromString(answer.body).message == "the answers of this route are application/json only"
    assert not rpc.calls


def test_patch_fills_the_mask_with_what_the_bytes_hold(gateway, rpc, pb):
    change = pb.Book(title="Other", labels={"a": "b"})
    change.published.seconds = 5
    answer = gateway.fetch("PATCH", "/v1/books/b1", PROTOBUF, change.SerializeToString())
    assert answer.status == 200, answer
    message = rpc.only().message
    assert sorted(message.update_mask.paths) == ["labels", "published", "title"]
    change.id = "b1"
    assert message.book == change
    answer = gateway.fetch("PATCH", "/v1/books/b1?updateMask=pages", PROTOBUF, change.SerializeToString())
    assert rpc.calls[-1].message.update_mask == FieldMask(paths=["pages"])


def test_an_http_body_is_raw_whatever_it_says(gateway, rpc):
    answer = gateway.fetch("PUT", "/v1/books/b1/cover", PROTOBUF, b"\xff\xfe")
    content = rpc.only().message.content
    assert (content.content_type, content.data) == (X, b"\xff\xfe")
    assert answer["content-type"] == X
    answer = gateway.fetch("GET", "/v1/books/b1/cover", READS)
    assert (answer["content-type"], answer.body) == ("image/png", b"\x89PNG\x00b1")


def test_compressed_both_ways(gateway, pb):
    sent = pb.Book(title="x" * 5000)
    answer = gateway.fetch(
        "POST", "/v1/shelves/s1/books", [*PROTOBUF, ("Content-Encoding", "gzip"), ("Accept-Encoding", "gzip")],
        gzip.compress(sent.SerializeToString()))
    assert (answer["content-type"], answer["content-encoding"]) == (X, "gzip")
    assert pb.Book.FromString(gzip.decompress(answer.body)).title == sent.title


@pytest.mark.parametrize(
    "method, target, body, field",
    [
        ("POST", "/v1/books/b1:move", b"\x0a\x02b2", "id"),
        ("POST", "/v1/books/b1:move", b"\x0a\x02b2\x0a\x02b1", "id"),
        ("PATCH", "/v1/books/b1", b"\x0a\x00", "id"),
        ("POST", "/v1/shelves/s1/books", b"\x12\x05ab", "title"),
        ("POST", "/v1/shelves/s1/books", b"\x12\x02\xc3\x28", "title"),
        ("POST", "/v1/shelves/s1/books", b"\x1a\x01a\x1a\x01\xff", "authors[1]"),
        ("POST", "/v1/shelves/s1/books", b"\x32\x02\x08\x80", "published.seconds"),
        ("POST", "/v1/shelves/s1/books", b"\x42\x03\x0a\x01\xff", "labels.key"),
        ("POST", "/v1/shelves/s1/books", b"\x07", ""),
        ("POST", "/v1/shelves/s1/books", b'{"title":"x"}', ""),
        ("GET", "/v1/books/b1", b"\x0a\x00", ""),
        ("POST", "/v1/shelves/s1/books?colour=red", b"", "colour"),
    ],
)
def test_a_clients_fault_names_the_field_and_reaches_nobody(gateway, rest, rpc, method, target, body, field):
    answer = gateway.fetch(method, target, [*PROTOBUF, ("Content-Length", str(len(body)))], body)
    assert (answer.status, answer["content-type"]) == (400, X), answer
    status = Status.FromString(answer.body)
    assert status.code == 3
    violations = BadRequest()
    assert status.details[0].Unpack(violations)
    assert violations.field_violations[0].field == field, status
    assert not rpc.calls and not rest.requests


def test_random_messages_arrive_as_they_are(gateway_on_rpc, rpc, pb):
    """Also what no parser of this version knows, out of order, in parts."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    pick = random.Random(seed)
    for _ in range(60):
        parts = []
        for _ in range(pick.randrange(1, 5)):
            part = pb.Book(
                title=pick.choice(["", "a", "ü" * 40]), authors=["x"] * pick.randrange(3), pages=pick.getrandbits(62),
                kind=pick.choice([0, 1, 2, 77]), digest=pick.randbytes(pick.randrange(200)),
                labels={str(pick.random()): "v"})
            if pick.random() < 0.5:
                part.published.seconds = pick.randrange(1 << 30)
            parts.append(part.SerializeToString())
            if pick.random() < 0.5:
                parts.append(b"\xa2\x06\x03new")
            if pick.random() < 0.5:
                parts.append(b"\xab\x06\x08\x01\xac\x06")
        body = b"".join(parts)
        answer = gateway_on_rpc.fetch("POST", "/v1/shelves/s1/books", PROTOBUF, body)
        assert answer.status == 200, (answer, body)
        got = rpc.calls[-1].message.book
        assert got == pb.Book.FromString(body)
        # Unknown fields are of another version of the schema: they are passed on.
        made = pb.Book.FromString(answer.body)
        assert (made.title, made.shelf) == (got.title, "s1")


def test_random_bytes_are_judged_as_protobuf_judges_them(gateway_on_rpc, rpc, pb):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    pick = random.Random(seed)
    whole = pb.Book(title="abc", authors=["x", "y"], pages=300, digest=b"\x01", labels={"k": "v"})
    whole.published.seconds = 5
    whole = whole.SerializeToString()
    with gateway_on_rpc.connect() as wire:
        for _ in range(150):
            body = bytearray(whole)
            for _ in range(pick.randrange(1, 4)):
                body[pick.randrange(len(body))] = pick.randrange(256)
            body = bytes(body[: pick.randrange(1, len(body) + 1)])
            answer = wire.request("POST", "/v1/shelves/s1/books", PROTOBUF, body)
            try:
                expected = pb.Book.FromString(body)
            except Exception:
                expected = None
            if expected is None:
                assert answer.status == 400, (body, answer)
            else:
                assert answer.status == 200, (body, answer)
                assert rpc.calls[-1].message.book == expected


# MARK: Errors


def test_an_error_of_the_service_is_a_status(gateway, rpc):
    info = pack(ErrorInfo(reason="GONE", domain="library"))

    def script(call, context):
        raise ConnectError(Code.NOT_FOUND, "no such book – ü", details=[info])

    rpc.script = script
    answer = gateway.fetch("GET", "/v1/books/b1", [("Accept", "application/protobuf")])
    assert (answer.status, answer["content-type"]) == (404, "application/protobuf")
    status = Status.FromString(answer.body)
    assert (status.code, status.message) == (5, "no such book – ü")
    got = ErrorInfo()
    assert status.details[0].Unpack(got) and got.reason == "GONE"


def test_other_shapes_are_of_json_only(start, configuration, rpc):
    gateway = start(configuration(stage="rpc", service={"errors": {"format": "google"}, "envelope": "data"}))

    def script(call, context):
        raise ConnectError(Code.NOT_FOUND, "none")

    rpc.script = script
    assert gateway.fetch("GET", "/v1/books/b1").json()["error"]["code"] == 404
    assert Status.FromString(gateway.fetch("GET", "/v1/books/b1", READS).body).code == 5
    rpc.script = None
    assert gateway.fetch("GET", "/v1/books/b1").json() == {"data": book("b1")}
    assert rpc.pb.Book.FromString(gateway.fetch("GET", "/v1/books/b1", READS).body) == rpc.book("b1")


def test_what_is_refused_before_a_route_is_known(start, configuration):
    gateway = start(configuration(stage="rpc"))
    answer = gateway.fetch("GET", "/nothing", READS)
    assert (answer.status, Status.FromString(answer.body).code) == (404, 5)


# MARK: What a route reads


def test_types_that_are_not_read(start, configuration, rest, rpc):
    gateway = start(configuration(
        stage="rpc", methods={"MoveBook": {"body_types": ["json"]}, "CreateBook": {"body_types": ["protobuf"]}}))

    def ask(target, type, accept=None):
        fields = [("Content-Type", type)] + ([("Accept", accept)] if accept else [])
        return gateway.fetch("POST", target, fields, b"{}")

    for type in [X, "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/plain"]:
        answer = ask("/v1/books/b1:move", type)
        assert (answer.status, answer["accept-post"]) == (415, "application/json"), type
        assert answer["content-type"] == "application/json"
    answer = ask("/v1/shelves/s1/books", "application/json")
    assert (answer.status, answer["accept-post"]) == (415, X)
    assert ask("/v1/books/b1:move", "application/json", X).status == 406
    answer = gateway.fetch("PATCH", "/v1/books/b1", [("Content-Type", "multipart/form-data; boundary=x")], b"--x--")
    assert (answer.status, answer["accept-patch"]) == (415, f"application/json, {X}")
    assert not rpc.calls and not rest.requests


# MARK: RPC callers before a REST service that speaks protobuf


@pytest.fixture
def protobuf_gateway(start, configuration):
    config = configuration(stage="rest")
    config["upstreams"]["legacy"]["codec"] = "proto"
    return start(config)


CODECS = pytest.mark.parametrize("codec", ["proto", "json"])


def protobuf(message, status=200, type=X):
    return Reply(status, [("Content-Type", type)], message.SerializeToString())


@CODECS
def test_a_field_as_body(protobuf_gateway, client_of, rest, pb, codec):
    rest.answers(lambda request: protobuf(pb.Book(id="new", title=pb.Book.FromString(request.body).title), 201))
    client = client_of(protobuf_gateway, codec)
    sent = pb.Book(title="Neu", pages=1 << 60)
    assert client.create_book(pb.CreateBookRequest(shelf="s1", book=sent)) == pb.Book(id="new", title="Neu")
    request = rest.only()
    assert (request["content-type"], request.target) == (X, "/v1/shelves/s1/books")
    assert pb.Book.FromString(request.body) == sent
    assert request["accept"] == "application/x-protobuf, application/json;q=0.5"
    # A field that is set and empty is a body of no bytes, one that is unset is none.
    client.create_book(pb.CreateBookRequest(shelf="s1", book=pb.Book()))
    client.create_book(pb.CreateBookRequest(shelf="s1"))
    assert [(r["content-type"], r["content-length"]) for r in rest.requests[1:]] == [(X, "0"), (None, "0")]


@CODECS
def test_a_whole_message_without_what_the_path_holds(protobuf_gateway, client_of, rest, rpc, pb, codec):
    rest.answers(lambda request: protobuf(rpc.book("b1"), type="application/protobuf; charset=utf-8"))
    got = client_of(protobuf_gateway, codec).move_book(pb.MoveBookRequest(id="b1", shelf="s2"))
    assert got == rpc.book("b1")
    assert pb.MoveBookRequest.FromString(rest.only().body) == pb.MoveBookRequest(shelf="s2")


@CODECS
@pytest.mark.parametrize("sends", ["json", "proto"])
def test_answers_are_read_by_what_they_say(start, configuration, client_of, rest, rpc, pb, codec, sends):
    config = configuration(stage="rest")
    config["upstreams"]["legacy"]["codec"] = sends
    client = client_of(start(config), codec)
    rest.answers(lambda request: Reply.json(book("b1")))
    assert client.get_book(pb.GetBookRequest(id="b1")) == rpc.book("b1")
    rest.answers(lambda request: protobuf(rpc.book("b1")))
    assert client.get_book(pb.GetBookRequest(id="b1")) == rpc.book("b1")
    rest.answers(lambda request: Reply.json([book("one")]))
    assert client.list_books(pb.ListBooksRequest()) == pb.ListBooksResponse(books=[rpc.book("one")])
    assert rest.requests[-1]["accept"] == "application/json"


@CODECS
def test_its_errors(protobuf_gateway, client_of, rest, pb, codec):
    status = Status(code=6, message="taken – ü")
    status.details.add().Pack(ErrorInfo(reason="TAKEN"))
    rest.answers(lambda request: protobuf(status, 409))
    with pytest.raises(ConnectError) as caught:
        client_of(protobuf_gateway, codec).get_book(pb.GetBookRequest(id="b1"))
    assert (caught.value.code, caught.value.message) == (Code.ALREADY_EXISTS, "taken – ü")
    assert [detail.type_name for detail in caught.value.details] == ["google.rpc.ErrorInfo"]


@pytest.mark.parametrize("body", [b"\xff", b"\x0a\x01\xff", b"\x12\x09ab", b"<html>"])
def test_a_broken_answer_is_the_services_fault(protobuf_gateway, rest, body):
    rest.answers(lambda request: Reply(200, [("Content-Type", X)], body))
    answer = protobuf_gateway.fetch(
        "POST", f"/{SERVICE}/GetBook", [("Content-Type", "application/json")], b'{"id":"b1"}')
    assert (answer.status, answer.json()["code"]) == (500, "internal"), answer


def test_a_raw_answer_is_asked_for_as_anything(protobuf_gateway, client_of, rest, pb):
    client_of(protobuf_gateway).get_cover(pb.GetCoverRequest(id="b1"))
    assert rest.only()["accept"] == "*/*"


def test_rest_before_rest_is_as_it_was(protobuf_gateway, rest):
    rest.answers(lambda request: Reply(200, [("Content-Type", X)], request.body))
    answer = protobuf_gateway.fetch("POST", "/v1/books/b1:move", PROTOBUF, b"\xff\xff")
    assert (answer.status, answer["content-type"], answer.body) == (200, X, b"\xff\xff")


def test_explain_reads_a_protobuf_body(protobuf_gateway):
    from support.gateway import run

    result = run(
        "explain", "--config", protobuf_gateway.file, "POST", f"/{SERVICE}/MoveBook", "-H",
        "content-type: application/json", "--data", json.dumps({"id": "b1", "shelf": "s2"}))
    assert result.returncode == 0, result.stderr
    assert "application/x-protobuf" in result.stdout
