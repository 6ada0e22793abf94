"""`compression:` as a block: what is compressed, with what, and answers that pass; and `cors:` for the edge."""

import gzip
import json
import zlib

import pytest

from support.gateway import run
from support.rest_service import Reply
from support.wire import NotWhole

BOOK = "/v1/books/b1"
TEXT = json.dumps({"title": "lines " * 500}).encode()
JSON = ("Content-Type", "application/json")
GZIP = ("Accept-Encoding", "gzip")


def on(configuration, stage="rest", **options):
    return configuration(stage=stage, service={"compression": options})


@pytest.fixture
def passing(start, configuration):
    return start(on(configuration, pass_through=True))


def test_an_answer_that_passes(passing, rest):
    fields = [JSON, ("ETag", '"v1"'), ("Accept-Ranges", "bytes"), ("Content-MD5", "x")]
    rest.answers(Reply(200, fields, TEXT))
    answer = passing.fetch("GET", BOOK, [GZIP])
    assert (answer.status, answer["content-encoding"], answer["vary"]) == (200, "gzip", "Accept-Encoding")
    assert gzip.decompress(answer.body) == TEXT and len(answer.body) < len(TEXT) // 4
    assert (answer["etag"], answer["accept-ranges"], answer["content-md5"]) == ('W/"v1"', None, None)
    assert json.loads(passing.access_log(1)[0])["sent"] == len(answer.body)
    # Who does not ask for it gets it as it is, and caches know that it depends.
    plain = passing.fetch("GET", BOOK)
    assert (plain.body, plain["content-encoding"], plain["vary"]) == (TEXT, None, "Accept-Encoding")
    assert (plain["etag"], plain["content-length"]) == ('"v1"', str(len(TEXT)))


@pytest.mark.parametrize("accepts,coding", [
    ("gzip;q=0.5, br", "br"), ("zstd;q=1, gzip;q=0.9", "zstd"), ("gzip;q=0", None), ("deflate", None), ("*", "gzip"),
    ("identity, gzip;q=0.5", None), ("", None),
])
def test_the_caller_chooses(passing, rest, accepts, coding):
    rest.answers(Reply(200, [JSON], TEXT))
    answer = passing.fetch("GET", BOOK, [("Accept-Encoding", accepts)])
    assert answer["content-encoding"] == coding and (coding or answer.body == TEXT)


@pytest.mark.parametrize("status,fields,body", [
    (200, [JSON, ("Content-Encoding", "br")], TEXT), (200, [JSON, ("Cache-Control", "public, no-transform")], TEXT),
    (206, [JSON, ("Content-Range", "bytes 0-2/9")], TEXT), (404, [JSON], TEXT), (200, [JSON], TEXT[:1000]),
    (200, [("Content-Type", "image/png")], TEXT), (200, [], TEXT), (200, [JSON], b""), (204, [JSON], b""),
])
def test_what_is_left_as_it_is(passing, rest, status, fields, body):
    rest.answers(Reply(status, fields, body))
    answer = passing.fetch("GET", BOOK, [GZIP])
    assert answer["content-encoding"] == dict(fields).get("Content-Encoding") and answer.body == body


def test_head_says_nothing_of_a_coding(passing, rest):
    rest.answers(Reply(200, [JSON], TEXT))
    answer = passing.fetch("HEAD", BOOK, [GZIP])
    assert (answer.status, answer["content-encoding"], answer["content-length"]) == (200, None, str(len(TEXT)))


def test_events_come_as_they_are_sent(passing, rest):
    def events(request):
        request.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        request.send(b"b\r\ndata: one\n\n\r\n")
        seen.acquire(timeout=30)
        request.send(b"b\r\ndata: two\n\n\r\n0\r\n\r\n")

    import threading
    seen = threading.Semaphore(0)
    rest.answers(events)
    with passing.connect() as wire:
        wire.send(b"GET /v1/books/b1 HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n")
        assert wire.head()["content-encoding"] == "gzip"
        inflate, text = zlib.decompressobj(31), b""
        while b"one" not in text:
            text += inflate.decompress(wire.exactly(int(wire._line(), 16)))
            wire._line()
        seen.release()
        while size := int(wire._line(), 16):
            text += inflate.decompress(wire.exactly(size))
            wire._line()
    assert text == b"data: one\n\ndata: two\n\n"


def test_an_answer_that_is_cut_is_not_whole(passing, rest):
    rest.answers(Reply(200, [JSON], TEXT, cut=1000))
    with passing.connect() as wire:
        wire.send(b"GET /v1/books/b1 HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n")
        with pytest.raises((NotWhole, ConnectionError)):
            wire.answer()


def test_without_being_asked_nothing_that_passes_changes(start, configuration, rest):
    gateway = start(on(configuration, min_size=1))
    rest.answers(Reply(200, [JSON, ("ETag", '"v1"')], TEXT))
    answer = gateway.fetch("GET", BOOK, [GZIP])
    assert (answer.body, answer["content-encoding"], answer["vary"], answer["etag"]) == (TEXT, None, None, '"v1"')


def test_translated_answers_by_size_type_and_algorithm(start, configuration, rpc):
    gateway = start(on(configuration, stage="rpc", min_size=10, algorithms=["br", "gzip"]))
    assert gateway.fetch("GET", BOOK, [("Accept-Encoding", "gzip, br, zstd")])["content-encoding"] == "br"
    assert gateway.fetch("GET", BOOK, [("Accept-Encoding", "zstd")])["content-encoding"] is None
    large, protobuf = BOOK + "?titleSize=3000", ("Accept", "application/x-protobuf")
    assert gateway.fetch("GET", large, [GZIP, protobuf])["content-encoding"] == "gzip"
    other = start(on(configuration, stage="rpc", min_size=10, types=["text/*"]))
    assert other.fetch("GET", BOOK, [GZIP])["content-encoding"] is None


@pytest.mark.parametrize("compression,says", [
    ({"algorithms": []}, "no algorithm is given"), ({"algorithms": ["deflate"]}, "is not an algorithm"),
    ({"types": ["json"]}, "is not a media type"), ({"minsize": 1}, "did you mean `min_size`?"),
])
def test_what_is_wrong_in_a_file(configuration, tmp_path, compression, says):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(on(configuration, **compression), indent=1))
    checked = run("check", "--config", file)
    assert checked.returncode == 1 and says in checked.stderr, checked.stderr


# Origins.

def preflight(origin, *more):
    return [("Origin", origin), ("Access-Control-Request-Method", "GET"), *more]


def test_patterns_of_origins(start, configuration):
    origins = ["https://app.example.com", "https://*.apps.example.com", "http://localhost:*"]
    cors = {"cors": {"origins": origins, "credentials": True}}
    gateway = start(configuration(interceptors=[cors], fallback="legacy"))

    def allowed(origin):
        answer = gateway.fetch("OPTIONS", BOOK, preflight(origin))
        assert answer.status == 204 and "Origin" in answer["vary"]
        return answer["access-control-allow-origin"]

    for origin in ("https://app.example.com", "https://a.b.apps.example.com", "http://localhost:5173"):
        assert allowed(origin) == origin
        refused = gateway.fetch("GET", "/v1/books?unknown=%zz", [("Origin", origin)])
        assert refused["access-control-allow-origin"] == origin
    for origin in ("https://apps.example.com", "https://apps.example.com.evil.test", "http://localhost",
                   "https://x.apps.example.com:1", "http://a.apps.example.com", "null"):
        assert allowed(origin) is None


def test_private_networks_and_presets(start, configuration):
    cors = {"cors": {"origins": ["https://a.example"], "private_network": True, "preset": "none", "headers": ["X-A"]}}
    gateway = start(configuration(interceptors=[cors]))
    wish = ("Access-Control-Request-Private-Network", "true")
    answer = gateway.fetch("OPTIONS", BOOK, preflight("https://a.example", wish))
    assert answer["access-control-allow-private-network"] == "true"
    assert answer["access-control-allow-headers"] == "Content-Type, X-A"
    assert "Access-Control-Request-Private-Network" in ",".join(answer.all("vary"))
    without = gateway.fetch("OPTIONS", BOOK, preflight("https://a.example"))
    stranger = gateway.fetch("OPTIONS", BOOK, preflight("https://b.example", wish))
    for other in (without, stranger):
        assert other["access-control-allow-private-network"] is None
    assert gateway.fetch("GET", BOOK, [("Origin", "https://a.example")])["access-control-expose-headers"] is None


@pytest.mark.parametrize("origin,says", [
    ("https://*example.com", "is a pattern that strangers' hosts meet"), ("https://*.com", "strangers' hosts"),
    ("https://app.*", "strangers' hosts"), ("https://a*.b*.c*.d*.e*.example.com", "has more than 4 `*`"),
    ("http*://a.example", "is not an origin"), ("https://*..example.com", "has no valid host"),
])
def test_patterns_that_are_none(configuration, tmp_path, origin, says):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(interceptors=[{"cors": {"origins": [origin]}}]), indent=1))
    checked = run("check", "--config", file)
    assert checked.returncode == 1 and says in checked.stderr, checked.stderr
