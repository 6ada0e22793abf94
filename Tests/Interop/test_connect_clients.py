"""Clients of the official Connect runtime: to a REST service by translation, to a Connect service untouched."""

import json
import urllib.parse

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.api.httpbody_pb2 import HttpBody
from google.protobuf.field_mask_pb2 import FieldMask

from support.rest_service import Reply, book
from support.schema import SERVICE

CODECS = pytest.mark.parametrize("codec", ["proto", "json"])


@pytest.fixture
def gateway(gateway_on_rest):
    return gateway_on_rest


@CODECS
def test_unary(gateway, client_of, rest, rpc, pb, codec):
    got = client_of(gateway, codec).get_book(pb.GetBookRequest(id="b 1/2", title_size=12))
    assert got == rpc.book("b 1/2", title="x" * 12)
    assert rest.only().target == "/v1/books/b%201%2F2?titleSize=12"


@CODECS
def test_unary_by_get(gateway, client_of, rest, rpc, pb, codec):
    got = client_of(gateway, codec).get_book(pb.GetBookRequest(id="b1"), use_get=True)
    assert got == rpc.book("b1")
    assert (rest.only().method, rest.only().target) == ("GET", "/v1/books/b1")


@CODECS
def test_query_and_response_body(gateway, client_of, rest, rpc, pb, codec):
    got = client_of(gateway, codec).list_books(pb.ListBooksRequest(author="Béla & Co", page_size=2, kinds=[1, 2]))
    assert got == pb.ListBooksResponse(books=[rpc.book("one"), rpc.book("two")])
    assert urllib.parse.parse_qs(rest.only().query) == {
        "author": ["Béla & Co"], "pageSize": ["2"], "kinds": ["KIND_NOVEL", "KIND_ATLAS"]}


@CODECS
def test_body_of_one_field_and_a_201(gateway, client_of, rest, pb, codec):
    made = client_of(gateway, codec).create_book(
        pb.CreateBookRequest(shelf="s1", book=pb.Book(title="Neu", pages=1 << 60)))
    assert made == pb.Book(id="new", title="Neu", pages=1 << 60, shelf="s1")
    request = rest.only()
    assert (request.method, request.target) == ("POST", "/v1/shelves/s1/books")
    assert request["content-type"] == "application/json"
    assert request.json() == {"title": "Neu", "pages": str(1 << 60)}


@CODECS
def test_patch_with_a_mask(gateway, client_of, rest, rpc, pb, codec):
    changed = client_of(gateway, codec).update_book(
        pb.UpdateBookRequest(book=pb.Book(id="b1", title="Other"), update_mask=FieldMask(paths=["title", "pages"])))
    expected = rpc.book("b1", title="Other")
    expected.ClearField("pages")
    assert changed == expected
    request = rest.only()
    # What the mask names and the message lacks is cleared.
    assert (request.method, request.path) == ("PATCH", "/v1/books/b1")
    assert request.json() == {"title": "Other", "pages": "0"}
    assert urllib.parse.parse_qs(request.query) == {"updateMask": ["title,pages"]}


@CODECS
def test_verb_and_whole_body(gateway, client_of, rest, rpc, pb, codec):
    moved = client_of(gateway, codec).move_book(pb.MoveBookRequest(id="b1", shelf="s2"))
    assert moved == rpc.book("b1", shelf="s2")
    assert (rest.only().target, rest.only().json()) == ("/v1/books/b1:move", {"shelf": "s2"})


@CODECS
def test_204_is_an_empty_message(gateway, client_of, rest, pb, codec):
    client_of(gateway, codec).delete_book(pb.DeleteBookRequest(id="b1"))
    assert (rest.only().method, rest.only().body) == ("DELETE", b"")


@CODECS
def test_http_body_both_ways(gateway, client_of, rest, pb, codec):
    client = client_of(gateway, codec)
    cover = client.get_cover(pb.GetCoverRequest(id="b1"))
    assert (cover.content_type, cover.data) == ("image/png", b"\x89PNG\x00b1")
    set_cover = pb.SetCoverRequest(id="b1", content=HttpBody(content_type="image/webp", data=bytes(range(256))))
    assert client.set_cover(set_cover) == pb.Cover(content_type="image/webp", size=256)
    assert rest.requests[-1].body == bytes(range(256))


@CODECS
def test_the_rest_of_a_path(gateway, client_of, rest, pb, codec):
    assert client_of(gateway, codec).get_file(pb.GetFileRequest(path="a b/c/d")) == pb.File(path="a b/c/d")
    assert rest.only().target == "/v1/files/a%20b/c/d"


def test_a_rule_of_the_configuration(gateway, client_of, pb):
    assert client_of(gateway).count_books(pb.CountBooksRequest(author="abc")).count == 3


@pytest.mark.parametrize("path", ["..", "a/../b", "a/./b"])
def test_dot_segments_never_reach_the_rest_service(gateway, client_of, rest, pb, path):
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_file(pb.GetFileRequest(path=path))
    assert error.value.code == Code.INVALID_ARGUMENT
    assert not rest.requests


def test_an_empty_path_value_is_the_clients_fault(gateway, client_of, rest, pb):
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_book(pb.GetBookRequest())
    assert error.value.code == Code.INVALID_ARGUMENT
    assert not rest.requests


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, [("Content-Type", "text/html")], b"<html>maintenance</html>"),
        Reply(200, [("Content-Type", "application/json")], b'{"id": '),
        Reply(200, [("Content-Type", "application/json")], b'{"id": 7}'),
    ],
)
def test_an_answer_that_does_not_fit_is_internal_and_says_nothing(gateway, client_of, rest, pb, reply):
    rest.answers(reply)
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert error.value.code == Code.INTERNAL
    assert "maintenance" not in error.value.message


# Of the wire, where the official client would not go.


def post(gateway, method, body, fields=(), kind="application/json"):
    return gateway.fetch("POST", f"/{SERVICE}/{method}", [("Content-Type", kind), *fields], body)


def test_curl_like_json_without_a_version(gateway):
    answer = post(gateway, "GetBook", b'{"id": "b1"}', kind="application/json; charset=utf-8")
    assert (answer.status, answer["content-type"], answer.json()) == (200, "application/json", book("b1"))


def test_an_empty_proto_message_marked_as_gzip(gateway, rest):
    fields = [("Content-Encoding", "gzip"), ("Content-Length", "0"), ("Connect-Protocol-Version", "1")]
    answer = post(gateway, "ListBooks", b"", fields, "application/proto")
    assert (answer.status, answer["content-type"]) == (200, "application/proto")
    assert rest.only().target == "/v1/books"


@pytest.mark.parametrize("query", [
    "connect=v1&encoding=json&message=%7B%22id%22%3A%22b1%22%7D",
    "message=eyJpZCI6ImIxIn0&encoding=json&base64=1&connect=v1&unknown=1",
    "connect=v1&base64=1&encoding=json&message=eyJpZCI6ImIxIn0%3D",
])
def test_get_as_phones_write_it(gateway, query):
    answer = gateway.fetch("GET", f"/{SERVICE}/GetBook?{query}")
    assert (answer.status, answer.json()) == (200, book("b1"))
    assert "accept-encoding" in (answer["vary"] or "").lower()


@pytest.mark.parametrize(
    "method, target, fields, body, status, code",
    [
        ("POST", "GetBook", [("Content-Type", "application/json")], b"", 400, "invalid_argument"),
        ("POST", "GetBook", [("Content-Type", "application/json")], b'{"id": 7}', 400, "invalid_argument"),
        ("POST", "GetBook", [("Content-Type", "application/proto")], b"\x0a\xff", 400, "invalid_argument"),
        ("POST", "GetBook", [("Content-Type", "application/json"), ("Connect-Protocol-Version", "2")], b"{}", 400,
         "invalid_argument"),
        ("POST", "GetBook", [("Content-Type", "application/json"), ("Connect-Timeout-Ms", "soon")], b'{"id":"a"}', 400,
         "invalid_argument"),
        ("POST", "GetBook", [("Content-Type", "application/json"), ("Content-Encoding", "lzma")], b'{"id":"a"}', 501,
         "unimplemented"),
        ("POST", "GetBook", [("Content-Type", "application/json"), ("Content-Encoding", "gzip")], b'{"id":"a"}', 400,
         "invalid_argument"),
        ("POST", "GetBook", [("Content-Type", "application/xml")], b"<id/>", 415, None),
        ("GET", "CreateBook?connect=v1&encoding=json&message=%7B%7D", [], b"", 405, None),
        ("PUT", "GetBook", [("Content-Type", "application/json")], b"{}", 405, None),
        ("GET", "GetBook?connect=v1&encoding=json", [], b"", 400, "invalid_argument"),
        ("GET", "GetBook?connect=v1&encoding=xml&message=a", [], b"", 415, None),
        ("GET", "GetBook?connect=v1&encoding=json&compression=lzma&message=a", [], b"", 501, "unimplemented"),
    ],
)
def test_a_clients_fault_in_connects_own_shape(gateway, rest, method, target, fields, body, status, code):
    answer = gateway.fetch(method, f"/{SERVICE}/{target}", fields, body)
    assert answer.status == status, answer
    if code:
        assert answer["content-type"] == "application/json"
        assert answer.json()["code"] == code
    assert not rest.requests


def test_an_unknown_method_of_a_known_service(start, configuration, rest):
    gateway = start(configuration())
    answer = post(gateway, "Nothing", b"{}", [("Connect-Protocol-Version", "1")])
    assert answer.status == 404
    assert json.loads(answer.body)["code"] == "unimplemented"
