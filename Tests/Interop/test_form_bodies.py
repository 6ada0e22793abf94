"""Form bodies, where a route reads them: bound as query parameters are."""

import gzip

import pytest

from support.rest_service import book

FORM = [("Content-Type", "application/x-www-form-urlencoded")]


@pytest.fixture
def gateway(start, configuration):
    forms = {"body_types": ["json", "protobuf", "form"]}
    return start(configuration(stage="rpc", methods={
        "CreateBook": forms, "MoveBook": {"body_types": ["form"]}, "UpdateBook": forms, "SetCover": forms}))


def test_a_field_of_the_message(gateway, rpc):
    body = b"title=Neu+%C3%BC&authors=a&authors=b&pages=7&kind=KIND_NOVEL&published=2024-01-01T00:00:00Z&digest=_w"
    answer = gateway.fetch("POST", "/v1/shelves/s1/books", FORM, body)
    assert answer.status == 200, answer
    assert answer["content-type"] == "application/json"
    assert answer.json() == {
        "id": "new", "shelf": "s1", "title": "Neu ü", "authors": ["a", "b"], "pages": "7", "kind": "KIND_NOVEL",
        "published": "2024-01-01T00:00:00Z", "digest": "/w=="}
    assert rpc.only().message.shelf == "s1"


def test_the_whole_message(gateway, rpc, pb):
    answer = gateway.fetch("POST", "/v1/books/b1:move", FORM, b"shelf=s2&id=b1")
    assert answer.json() == {**book("b1"), "shelf": "s2"}
    assert rpc.only().message == pb.MoveBookRequest(id="b1", shelf="s2")


def test_a_patch_changes_what_the_form_names(gateway, rpc):
    answer = gateway.fetch("PATCH", "/v1/books/b1", FORM, b"title=Other&pages=0")
    assert answer.status == 200, answer
    assert list(rpc.only().message.update_mask.paths) == ["title", "pages"]


def test_compressed_and_in_chunks(gateway, rpc):
    body = gzip.compress(b"shelf=s2")
    with gateway.connect() as wire:
        wire.send(
            b"POST /v1/books/b1:move HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
        wire.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        assert wire.answer().json()["shelf"] == "s2"


def test_raw_bodies_stay_raw(gateway, rpc):
    gateway.fetch("PUT", "/v1/books/b1/cover", FORM, b"a=b")
    content = rpc.only().message.content
    assert (content.content_type, content.data) == ("application/x-www-form-urlencoded", b"a=b")


@pytest.mark.parametrize(
    "method, target, body, field",
    [
        ("POST", "/v1/books/b1:move", b"id=b2", "id"), ("POST", "/v1/books/b1:move", b"shelf=a&shelf=b", "shelf"),
        ("POST", "/v1/shelves/s1/books", b"titel=x", "titel"), ("POST", "/v1/shelves/s1/books", b"pages=many", "pages"),
        ("POST", "/v1/shelves/s1/books", b"labels=x", "labels"), ("POST", "/v1/shelves/s1/books", b"title=%FF", "title"),
        ("POST", "/v1/shelves/s1/books", b"title=%F", "title"),
        ("POST", "/v1/shelves/s1/books", b"book.title=x", "book.title"),
    ],
)
def test_a_clients_fault_names_the_field_and_reaches_nobody(gateway, rest, rpc, method, target, body, field):
    answer = gateway.fetch(method, target, FORM, body)
    assert answer.status == 400, answer
    assert answer.json()["details"][0]["fieldViolations"][0]["field"] == field
    assert not rpc.calls and not rest.requests


@pytest.mark.parametrize("name", [b"n" * 3_000_000, b"n" * 3_000_000 + b"%zz", b"title." * 500_000])
def test_a_long_name_does_not_come_back_whole(gateway, rpc, name):
    answer = gateway.fetch("POST", "/v1/shelves/s1/books", FORM, name + b"=1")
    assert answer.status == 400 and len(answer.body) < 2_000
    assert answer.json()["message"].startswith(name[:200].decode())
    assert not rpc.calls


def test_not_where_nothing_is_said(gateway_on_rpc, rest, rpc):
    answer = gateway_on_rpc.fetch("POST", "/v1/books/b1:move", FORM, b"shelf=s2")
    assert (answer.status, answer["accept-post"]) == (415, "application/json, application/x-protobuf")
    assert not rpc.calls and not rest.requests


def test_nothing_else_where_forms_alone_are_read(gateway, rest, rpc):
    answer = gateway.fetch("POST", "/v1/books/b1:move", [("Content-Type", "application/json")], b"{}")
    assert (answer.status, answer["accept-post"]) == (415, "application/x-www-form-urlencoded")
    answer = gateway.fetch("POST", "/v1/books/b1:move", [], b"{}")
    assert answer.status == 415
    assert not rpc.calls and not rest.requests
