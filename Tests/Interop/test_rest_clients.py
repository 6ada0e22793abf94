"""REST clients whose calls a Connect service answers: curl and raw requests, against the official runtime."""

import json
import subprocess

import pytest

from support.rest_service import book

JSON = [("Content-Type", "application/json")]


def curl(*arguments):
    """Runs curl; the status and the body."""
    result = subprocess.run(
        ["curl", "-sS", "-m", "30", "-w", "\n%{http_code}", *arguments], capture_output=True, text=True, check=True)
    body, status = result.stdout.rsplit("\n", 1)
    return int(status), body


@pytest.fixture(params=["proto", "json"])
def gateway(request, shared_gateways, used, rest, rpc):
    """Towards the service with either codec."""
    used.append(shared_gateways("rpc", request.param))
    return used[-1]


def test_get_with_curl(gateway, rpc):
    status, body = curl(f"{gateway.url}/v1/books/b%201?titleSize=12")
    assert status == 200
    assert json.loads(body) == {**book("b 1"), "title": "x" * 12}
    call = rpc.only()
    assert (call.method, call.message.id, call.message.title_size) == ("get_book", "b 1", 12)
    assert call.headers["connect-protocol-version"] == "1"


def test_the_second_binding(gateway, rpc):
    answer = gateway.fetch("GET", "/v1/shelves/s%2F1/books/b1")
    assert answer.json() == {**book("b1"), "shelf": "s/1"}
    assert rpc.only().message.shelf == "s/1"


def test_response_body_is_the_field_alone(gateway, rpc, pb):
    answer = gateway.fetch("GET", "/v1/books?author=B%C3%A9la+B&page_size=2&kinds=KIND_NOVEL&kinds=2")
    assert answer.json() == [book("one"), book("two")]
    assert rpc.only().message == pb.ListBooksRequest(author="Béla B", page_size=2, kinds=[1, 2])


def test_post_with_curl(gateway, rpc):
    status, body = curl(
        "-X", "POST", f"{gateway.url}/v1/shelves/s1/books", "-H", "content-type: application/json",
        "-d", '{"title": "Neu", "authors": ["a"], "pages": 7}')
    assert (status, json.loads(body)) == (
        200, {"id": "new", "title": "Neu", "authors": ["a"], "pages": "7", "shelf": "s1"})
    assert rpc.only().message.shelf == "s1"


def test_patch_fills_the_mask(gateway, rpc):
    answer = gateway.fetch("PATCH", "/v1/books/b1", JSON, b'{"title": "Other", "authors": []}')
    assert answer.status == 200, answer
    assert answer.json() == {key: value for key, value in {**book("b1"), "title": "Other"}.items() if key != "authors"}
    assert sorted(rpc.only().message.update_mask.paths) == ["authors", "title"]


def test_a_mask_that_is_given_stays(gateway, rpc):
    answer = gateway.fetch("PATCH", "/v1/books/b1?updateMask=title", JSON, b'{"title": "Other", "authors": []}')
    assert answer.json() == {**book("b1"), "title": "Other"}
    assert list(rpc.only().message.update_mask.paths) == ["title"]


def test_custom_verb(gateway, rpc):
    answer = gateway.fetch("POST", "/v1/books/a:b:move", JSON, b'{"shelf": "s2"}')
    assert answer.json() == {**book("a:b"), "shelf": "s2"}
    assert rpc.only().message.id == "a:b"


def test_an_empty_message(gateway, rpc):
    answer = gateway.fetch("DELETE", "/v1/books/b1")
    assert (answer.status, answer.json()) == (200, {})


def test_http_body_both_ways(gateway, rpc):
    answer = gateway.fetch("GET", "/v1/books/b1/cover")
    assert (answer["content-type"], answer.body) == ("image/png", b"\x89PNG\x00b1")
    data = bytes(range(256))
    answer = gateway.fetch("PUT", "/v1/books/b1/cover", [("Content-Type", "image/webp")], data)
    assert answer.json() == {"contentType": "image/webp", "size": 256}
    assert rpc.calls[-1].message.content.data == data


def test_the_rest_of_a_path(gateway, rpc):
    answer = gateway.fetch("GET", "/v1/files/a%20b/c%2Fd/e")
    assert answer.json() == {"path": "a b/c%2Fd/e"}
    assert gateway.fetch("GET", "/v1/files").json() == {}


def test_a_rule_of_the_configuration(gateway, rpc):
    assert gateway.fetch("GET", "/v1/count?author=abc").json() == {"count": 3}


def test_a_body_in_chunks(gateway, rpc):
    with gateway.connect() as wire:
        wire.send(
            b"POST /v1/shelves/s1/books HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n")
        for byte in b'{"title":"Neu"}':
            wire.send(b"1\r\n%c\r\n" % byte)
        wire.send(b"0\r\n\r\n")
        assert wire.answer().json()["title"] == "Neu"


@pytest.mark.parametrize(
    "method, target, body, says",
    [
        ("GET", "/v1/books/b1?colour=red", b"", "colour"),
        ("GET", "/v1/books/b1?titleSize=1&titleSize=2", b"", "titleSize"),
        ("GET", "/v1/books/b1?titleSize=many", b"", "titleSize"),
        ("GET", "/v1/books/%FF", b"", "id"),
        ("GET", "/v1/books/b1", b"{}", "body"),
        ("POST", "/v1/shelves/s1/books", b'{"titel": "x"}', "titel"),
        ("POST", "/v1/shelves/s1/books", b'{"title": "x", "title": "y"}', "title"),
        ("POST", "/v1/shelves/s1/books", b'{"title": 7}', "title"),
        ("POST", "/v1/shelves/s1/books", b'{"title": "x"', ""),
        ("POST", "/v1/books/b1:move", b'{"id": "b2", "shelf": "s"}', "id"),
    ],
)
def test_a_clients_fault_names_the_field_and_reaches_nobody(gateway, rest, rpc, method, target, body, says):
    answer = gateway.fetch(method, target, JSON if body else [], body)
    assert answer.status == 400, answer
    error = answer.json()
    assert error["code"] == 3
    assert says in json.dumps(error["details"]) + error["message"]
    assert not rpc.calls and not rest.requests


def test_wrong_method(start, configuration, rest, rpc):
    """With a fallback the request would be its; see test_routing.py."""
    gateway = start(configuration(stage="rpc"))
    answer = gateway.fetch("PUT", "/v1/books/b1", JSON, b"{}")
    assert answer.status == 405
    assert {"GET", "PATCH", "DELETE"} <= {name.strip() for name in answer["allow"].split(",")}
    assert not rpc.calls and not rest.requests


def test_wrong_type(gateway, rest, rpc):
    answer = gateway.fetch("POST", "/v1/shelves/s1/books", [("Content-Type", "text/plain")], b"{}")
    assert answer.status == 415
    assert not rpc.calls and not rest.requests
