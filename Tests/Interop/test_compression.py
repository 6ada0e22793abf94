"""Content codings on both sides, by what each accepts."""

import gzip
import json
import subprocess

import pytest
from connectrpc.compression.gzip import GzipCompression

from support.rest_service import Reply, book
from support.schema import SERVICE

LONG = "/v1/books/b1?titleSize=5000"
WHOLE = {**book("b1"), "title": "x" * 5000}
JSON = [("Content-Type", "application/json")]


@pytest.mark.parametrize(
    "accepts, coding",
    [
        ("gzip", "gzip"), ("GZIP", "gzip"), ("x-gzip", "gzip"), ("deflate, gzip;q=0.5", "gzip"),
        ("gzip;q=0", None), ("gzip;q=0, *;q=0", None), ("identity", None), ("", None), ("deflate", None),
        ("gzip;q=0, br", "br"), ("br;q=0.2, gzip;q=0.1", "br"), ("zstd;q=1.0, gzip;q=0.9", "zstd"),
        ("*", "any"), ("identity;q=0.5, gzip;q=0.4", None), ("identity;q=0, gzip;q=0.001", "gzip"),
    ],
)
def test_answers_to_rest_clients(gateway_on_rpc, accepts, coding):
    answer = gateway_on_rpc.fetch("GET", LONG, [("Accept-Encoding", accepts)])
    assert answer.status == 200
    used = answer["content-encoding"]
    if coding == "any":
        assert used in ("gzip", "br", "zstd")
    else:
        assert used == coding
    assert "accept-encoding" in (answer["vary"] or "").lower()
    assert int(answer["content-length"]) == len(answer.body)
    if used == "gzip":
        assert json.loads(gzip.decompress(answer.body)) == WHOLE
    elif used is None:
        assert answer.json() == WHOLE


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_curl_can_read_each_coding(gateway_on_rpc, coding):
    features = subprocess.run(["curl", "--version"], capture_output=True, text=True).stdout
    if {"gzip": "libz", "br": "brotli", "zstd": "zstd"}[coding] not in features:
        pytest.skip(f"this curl knows no {coding}")
    result = subprocess.run(
        ["curl", "-sSf", "-m", "30", "-D", "-", "--compressed", "-H", f"accept-encoding: {coding}",
         gateway_on_rpc.url + LONG], capture_output=True, check=True)
    head, body = result.stdout.split(b"\r\n\r\n", 1)
    assert b"content-encoding: " + coding.encode() in head.lower()
    assert json.loads(body) == WHOLE


def test_small_answers_are_left_alone(gateway_on_rpc):
    answer = gateway_on_rpc.fetch("GET", "/v1/books/b1", [("Accept-Encoding", "gzip")])
    assert answer["content-encoding"] is None
    assert answer.json() == book("b1")


def test_compression_can_be_off(start, configuration):
    gateway = start(configuration(stage="rpc", service={"compression": "off"}))
    answer = gateway.fetch("GET", LONG, [("Accept-Encoding", "gzip")])
    assert answer["content-encoding"] is None
    assert answer.json() == WHOLE


def test_a_compressed_request_of_a_rest_client(gateway_on_rpc, rpc):
    body = gzip.compress(b'{"title": "zipped"}')
    answer = gateway_on_rpc.fetch("POST", "/v1/shelves/s1/books", [*JSON, ("Content-Encoding", "gzip")], body)
    assert answer.json()["title"] == "zipped"
    for broken in (b"not gzip", body[:-4], body + b"more"):
        answer = gateway_on_rpc.fetch("POST", "/v1/shelves/s1/books", [*JSON, ("Content-Encoding", "gzip")], broken)
        assert answer.status == 400
    answer = gateway_on_rpc.fetch("POST", "/v1/shelves/s1/books", [*JSON, ("Content-Encoding", "lzma")], body)
    assert answer.status == 415
    assert len(rpc.calls) == 1


def test_a_bomb_is_refused_at_the_limit(gateway_on_rpc, rpc):
    body = gzip.compress(b'{"title": "' + b"x" * (8 << 20) + b'"}')
    answer = gateway_on_rpc.fetch("POST", "/v1/shelves/s1/books", [*JSON, ("Content-Encoding", "gzip")], body)
    assert answer.status == 413
    answer = gateway_on_rpc.fetch("POST", f"/{SERVICE}/CreateBook", [*JSON, ("Content-Encoding", "gzip")], body)
    assert (answer.status, answer.json()["code"]) == (429, "resource_exhausted")
    assert not rpc.calls


@pytest.mark.parametrize("by_get", [False, True])
@pytest.mark.parametrize("codec", ["proto", "json"])
def test_compressing_connect_clients(gateway_on_rest, gateway_on_rpc, client_of, rest, rpc, pb, codec, by_get):
    """Translated to REST, translated to the other codec, and untouched."""
    for gateway in (gateway_on_rest, gateway_on_rpc):
        client = client_of(
            gateway, codec, send_compression=GzipCompression(), accept_compression=[GzipCompression()])
        got = client.get_book(pb.GetBookRequest(id="b1", title_size=5000), use_get=by_get)
        assert got.title == "x" * 5000
    assert rest.only().target == LONG
    assert not rest.only().all("content-encoding")


def test_a_connect_client_that_accepts_gzip_gets_it(gateway_on_rest):
    body = b'{"id": "b1", "titleSize": 5000}'
    answer = gateway_on_rest.fetch("POST", f"/{SERVICE}/GetBook", [*JSON, ("Accept-Encoding", "gzip")], body)
    assert answer["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(answer.body)) == WHOLE
    for accepts in ([], [("Accept-Encoding", "")], [("Accept-Encoding", "identity")]):
        answer = gateway_on_rest.fetch("POST", f"/{SERVICE}/GetBook", JSON + accepts, body)
        assert answer["content-encoding"] is None
        assert answer.json() == WHOLE


def test_a_rest_service_that_compresses_unasked(gateway_on_rest, rest, rpc, client_of, pb):
    rest.answers(Reply(
        200, [("Content-Type", "application/json"), ("Content-Encoding", "gzip")],
        gzip.compress(json.dumps(book("b1")).encode())))
    assert client_of(gateway_on_rest).get_book(pb.GetBookRequest(id="b1")) == rpc.book("b1")


def test_what_passes_through_keeps_its_coding(gateway_on_rest, rest):
    packed = gzip.compress(b"x" * 5000)
    rest.answers(lambda request: Reply(200, [("Content-Encoding", "gzip"), ("X-Got", request["accept-encoding"])], packed))
    answer = gateway_on_rest.fetch("GET", "/page", [("Accept-Encoding", "br;q=0.1, gzip")])
    assert (answer.body, answer["content-encoding"], answer["x-got"]) == (packed, "gzip", "br;q=0.1, gzip")
