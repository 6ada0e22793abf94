"""Connect GET before a Connect upstream: one form for equal calls, so that caches know them."""

import base64
import gzip
import json
from urllib.parse import quote

import pytest

from support.rest_service import book
from support.http2 import HTTP2Upstream
from support.schema import SERVICE

PATH = f"/{SERVICE}/GetBook"
# Bytes whose base64 differs in the two alphabets.
TEXT = json.dumps({"id": "\u00ff\u00ff?>~"}, ensure_ascii=False, separators=(",", ":")).encode()
STANDARD = base64.b64encode(TEXT).decode()
SAFE = base64.urlsafe_b64encode(TEXT).decode().rstrip("=")
CANONICAL = f"{PATH}?connect=v1&encoding=json&message={quote(TEXT, safe='')}"
JSON = [("content-type", "application/json")]


@pytest.fixture
def upstream():
    one = HTTP2Upstream(lambda exchange: exchange.answer(200, JSON, json.dumps(book("b1")).encode()))
    yield one
    one.close()


@pytest.fixture
def before(start, configuration, upstream):
    def make(whole=None, **more):
        if whole:
            upstream.whole = whole
        setup = configuration("rpc", codec="json", **more)
        setup["upstreams"]["content"].update({"endpoints": [upstream.url], "http": "2"})
        return start(setup)

    return make


@pytest.mark.parametrize("query", [
    f"connect=v1&encoding=json&message={quote(TEXT)}",
    f"message={quote(TEXT)}&encoding=json&connect=v1",
    f"encoding=json&message={quote(TEXT, safe='')}&utm_source=x&connect=v1",
    f"message={quote(TEXT)}&encoding=json",
])
def test_text_has_one_form(before, upstream, query):
    assert before().fetch("GET", f"{PATH}?{query}").status == 200
    exchange = upstream.exchanges[0]
    assert (exchange[":method"], exchange[":path"].lower()) == ("GET", CANONICAL.lower())


@pytest.mark.parametrize("message", [SAFE, STANDARD, quote(STANDARD, safe=""), STANDARD.rstrip("=")])
def test_base64_has_one_form(before, upstream, message):
    """The standard alphabet too, also with its plus signs as they are: they arrive as blanks."""
    gateway = before()
    query = f"connect=v1&encoding=json&compression=gzip&base64=1&message={message}"
    # Not really gzip: nobody looks into it here.
    assert gateway.fetch("GET", f"{PATH}?{query}").status == 200
    assert upstream.exchanges[0][":path"] == (
        f"{PATH}?connect=v1&base64=1&compression=gzip&encoding=json&message={SAFE}")


def test_an_answer_varies_and_may_be_not_modified(before, upstream):
    def whole(exchange):
        if exchange["if-none-match"] == '"1"':
            exchange.answer(304, [("etag", '"1"')])
        else:
            exchange.answer(200, [*JSON, ("etag", '"1"')], b"{}")

    gateway = before(whole)
    first = gateway.fetch("GET", CANONICAL)
    assert first.status == 200 and first["vary"].lower() == "accept-encoding" and first["etag"] == '"1"'
    again = gateway.fetch("GET", CANONICAL, [("If-None-Match", '"1"')])
    assert again.status == 304 and not again.body and again["vary"].lower() == "accept-encoding"


def test_a_long_one_is_posted(before, upstream):
    gateway = before(limits={"header": "64KiB", "target": "60KiB"})
    message = json.dumps({"id": "x" * 9000})
    assert gateway.fetch("GET", f"{PATH}?connect=v1&encoding=json&message={quote(message)}").status == 200
    exchange = upstream.exchanges[0]
    assert (exchange[":method"], exchange[":path"]) == ("POST", PATH)
    assert json.loads(exchange.body) == json.loads(message)


def test_another_codec_is_posted(before, upstream):
    gateway = before()
    assert gateway.fetch("GET", f"{PATH}?connect=v1&encoding=proto&base64=1&message=CgJiMQ").status == 200
    exchange = upstream.exchanges[0]
    assert exchange[":method"] == "POST" and json.loads(exchange.body) == {"id": "b1"}


def test_what_an_answer_varies_by_is_added_to(before, upstream):
    """A cache that knew only of the service's own field would give compressed bytes to who reads none."""
    def whole(exchange):
        exchange.answer(200, [*JSON, ("vary", "Origin")], b"{}")

    for codec, query in (("json", CANONICAL), ("proto", f"{PATH}?connect=v1&encoding=proto&base64=1&message=")):
        answer = before(whole).fetch("GET", query)
        assert answer.status == 200, codec
        assert sorted(", ".join(answer.all("vary")).lower().split(", ")) == ["accept-encoding", "origin"], codec


@pytest.mark.parametrize("codec", ["json", "proto"])
@pytest.mark.parametrize("message", ["", "e30"])
def test_an_unknown_compression_is_refused_of_any_message(before, upstream, codec, message):
    """Also of an empty one, which nobody decompresses, and whether or not the call is translated."""
    answer = before().fetch("GET", f"{PATH}?connect=v1&encoding={codec}&base64=1&compression=lz99&message={message}")
    assert answer.status == 501 and answer.json()["code"] == "unimplemented" and not upstream.exchanges
    assert "gzip, br, zstd" in answer.json()["message"] and "gzip" in answer["accept-encoding"]


@pytest.mark.parametrize("encoding", ["json", "proto"], ids=["passing", "translated"])
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
def test_a_message_in_the_query_has_the_limits_of_one_in_a_body(before, upstream, encoding, compressed):
    """Exactly the limit is good, one byte more asks nobody."""
    gateway = before(service={"limits": {"request": "100B"}})

    def ask(size):
        if encoding == "json":
            message = b'{"id":"' + b"i" * (size - 9) + b'"}'
        else:
            message = b"\n" + bytes([size - 2]) + b"i" * (size - 2)
        # What passes counts as it is sent, and nobody looks into it here.
        coding = ""
        if compressed and encoding == "json":
            message, coding = b"\x1f\x8b" + b"z" * (size - 2), "&compression=gzip"
        elif compressed:
            message, coding = gzip.compress(message), "&compression=gzip"
        text = base64.urlsafe_b64encode(message).decode().rstrip("=")
        return gateway.fetch("GET", f"{PATH}?connect=v1&base64=1{coding}&encoding={encoding}&message={text}")

    assert ask(100).status == 200
    refused = ask(101)
    assert (refused.status, refused.json()["code"]) == (429, "resource_exhausted")
    assert "100 bytes" in refused.json()["message"] and len(upstream.exchanges) == 1
