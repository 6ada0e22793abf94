"""Values that would like to be headers, lines of a log, labels or other paths: they stay values."""

import json

import pytest

from support.rest_service import Reply, book
from support.schema import SERVICE

JSON = [("Content-Type", "application/json")]
ODD = ["a\r\nX-Evil: 1", "a\nb", "a\0b", "a?x=y", "a#b", "a%0d%0aX-Evil: 1", "%00", "%252e%252e", "é\u2028", "😀", ";x=y",
       "a:move", "+", " ", "\x7f", "a/b", "a\\b", "\ufeff", "..a", "%"]


@pytest.mark.parametrize("value", ODD, ids=ascii)
def test_a_value_stays_a_value_of_its_path_and_query(gateway_on_rest, rest, value):
    """Towards REST: one request, whose path and query decode to the value."""
    from urllib.parse import parse_qs, unquote

    rest.answers(lambda request: Reply.json([] if request.path == "/v1/books" else book("x")))
    for method, name, path in (("GetBook", "id", "/v1/books/"), ("GetFile", "path", "/v1/files/")):
        rest.requests.clear()
        answer = gateway_on_rest.fetch("POST", f"/{SERVICE}/{method}", JSON, json.dumps({name: value}).encode())
        assert answer.status in (200, 500), answer
        request = rest.only()
        assert request.path.startswith(path) and unquote(request.path[len(path):]) == value and not request.query
        assert request["x-evil"] is None and request.path.isascii() and request.path.isprintable()
    rest.requests.clear()
    body = json.dumps({"author": value}).encode()
    assert gateway_on_rest.fetch("POST", f"/{SERVICE}/ListBooks", JSON, body).status == 200
    assert parse_qs(rest.only().query, keep_blank_values=True)["author"] == [value]


@pytest.mark.parametrize("value", ["..", ".", "../x", "a/../b", "a/..", "./a", "..\\x", "a\\..\\b", "a%2f..%2fb", "..%5c"])
def test_a_value_cannot_climb(gateway_on_rest, rest, value):
    for method, name in (("GetBook", "id"), ("GetFile", "path")):
        answer = gateway_on_rest.fetch("POST", f"/{SERVICE}/{method}", JSON, json.dumps({name: value}).encode())
        assert (answer.status, answer.json()["code"]) == (400, "invalid_argument")
    assert rest.requests == []


@pytest.mark.parametrize("kind", ["text/plain\r\nX-Evil: 1", "text/plain\0", "text/plain\n", "é"], ids=ascii)
def test_a_content_type_in_a_message_is_no_header_line(gateway_on_rest, gateway_on_rpc, rest, rpc, kind):
    rest.answers(Reply.json({}))
    body = json.dumps({"id": "x", "content": {"contentType": kind, "data": "YWJj"}}).encode()
    assert gateway_on_rest.fetch("POST", f"/{SERVICE}/SetCover", JSON, body).status == 200
    request = rest.only()
    assert request["x-evil"] is None and request.body == b"abc"
    assert "\n" not in (request["content-type"] or "")
    from google.api.httpbody_pb2 import HttpBody

    rpc.script = lambda call, context: HttpBody(content_type=kind, data=b"abc")
    answer = gateway_on_rpc.fetch("GET", "/v1/books/x/cover")
    assert (answer.status, answer.body, answer["x-evil"]) == (200, b"abc", None)


def test_a_log_has_one_line_for_each_call(start, configuration, rest):
    """Whatever a client puts into what is logged."""
    for style in ("json", "text"):
        gateway = start(configuration(fallback="legacy", interceptors=[{"access_log": {"format": style}}]))
        rest.answers(Reply(404, [("Content-Type", "text/plain")], b"\r\n{\"fake\": 1}\x1b[2J\r\nfake"))
        odd = [("User-Agent", "a\x80\xff\"\\ \t b"), ("X-Request-Id", "\"}{\"status\":200\x85")]
        gateway.fetch("GET", "/a%0d%0afake%1b[2J", odd)
        gateway.fetch("GET", "/v1/books/%0a%0dfake", odd)
        gateway.fetch("POST", f"/{SERVICE}/GetBook", [*JSON, *odd], b"{\"id\": \"a\", \"\\r\\nfake\\u001b\": 1}")
        gateway.fetch("POST", f"/{SERVICE}/GetBook", [*JSON, *odd], b"{\"id\": \"a\\r\\nfake\"}")
        with gateway.connect() as wire:
            wire.send(b"GET /\r\nfake: 1\r\n\r\n")
            wire.answer()
        lines = gateway.access_log(5)
        assert len(lines) == 5
        raw = gateway.stdout.read_bytes()
        assert not any(byte < 0x20 and byte != 0x0A or byte == 0x7F for byte in raw)
        if style == "json":
            for line in lines:
                assert json.loads(line)["status"] >= 400 or "fake" not in line
        assert not any(line.startswith("fake") for line in [*lines, *gateway.log().splitlines()])


def test_metrics_have_no_label_that_a_client_chooses(start, configuration, rest):
    """Methods, paths, codes and unknown names of any number make no more series than there are kinds."""
    gateway = start(configuration(
        fallback="legacy", service={"json": {"unknown_fields": "report"}, "query": {"unknown": "ignore"}}, stage="rpc"))
    rest.answers(Reply(404))

    def series():
        return len(gateway.metrics())

    def storm(turn):
        for number in range(30):
            tag = f"{turn}x{number}"
            gateway.fetch(f"M{tag}", f"/p{tag}")
            gateway.fetch("GET", f"/v1/books/b{tag}?q{tag}=1")
            gateway.fetch("POST", f"/{SERVICE}/M{tag}", JSON, b"{}")
            names = ",".join(f'"n{tag}y{more}": 1' for more in range(100))
            gateway.fetch("PATCH", "/v1/books/b1", JSON, b"{%s}" % names.encode())
            gateway.fetch("GET", "/", [("Host", f"h{tag}")])

    storm(0)
    first = series()
    assert first < 2000
    storm(1)
    storm(2)
    assert series() - first < 50


def test_odd_header_values_pass_or_are_refused(gateway_on_rest, rest):
    """Bytes beyond ASCII pass as they are, both ways; control bytes never do."""
    rest.answers(Reply(raw=b"HTTP/1.1 200 OK\r\nX-Odd: \xff\x80\xc3\xa9 \t \"\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
                       b"Content-Length: 2\r\n\r\nok"))
    with gateway_on_rest.connect() as wire:
        wire.send(b"GET /anything HTTP/1.1\r\nHost: a\r\nX-Odd: \xfe\x81\r\nCookie: a=1\r\nCookie: b=2\r\n\r\n")
        answer = wire.answer()
    assert (answer.status, answer["x-odd"]) == (200, "\xff\x80\xc3\xa9 \t \"")
    assert answer.all("set-cookie") == ["a=1", "b=2"]
    assert rest.only()["x-odd"] == "\xfe\x81" and rest.only().all("cookie") == ["a=1", "b=2"]
    for bad in (b"\0", b"\x01", b"\x7f", b"\x1b", b"\r"):
        rest.answers(Reply(raw=b"HTTP/1.1 200 OK\r\nX-Odd: a" + bad + b"b\r\nContent-Length: 2\r\n\r\nok"))
        assert gateway_on_rest.fetch("GET", "/anything").status == 502
        with gateway_on_rest.connect() as wire:
            wire.send(b"GET /anything HTTP/1.1\r\nHost: a\r\nX-Odd: a" + bad + b"b\r\n\r\n")
            assert wire.answer().status == 400


@pytest.mark.parametrize("coding", [["gzip", "identity"], ["identity", "gzip"], ["gzip, gzip"], ["identity, identity"]])
def test_several_content_codings_are_refused(gateway_on_rpc, rpc, coding):
    """Whoever looks at one of them only would read another message."""
    fields = [*JSON, *[("Content-Encoding", one) for one in coding]]
    answer = gateway_on_rpc.fetch("POST", f"/v1/shelves/s/books", fields, b"{\"title\": \"t\"}")
    assert answer.status == 415
    answer = gateway_on_rpc.fetch("POST", f"/{SERVICE}/CreateBook", fields, b"{}")
    assert answer.json()["code"] == "unimplemented"
    assert rpc.calls == []


def test_deep_and_wide_json(gateway_on_rpc, rpc):
    """Refused at once, whichever way it is deep, and never by the end of the stack."""
    for deep in (b"[" * 1_000_000, b"{\"labels\":" * 100_000, b"{\"x\":" + b"[" * 1_000_000, b"{\"labels\":{\"a\":" + b"[" * 500_000):
        for target in ("/v1/shelves/s/books", f"/{SERVICE}/CreateBook", "/v1/books/b:move"):
            assert gateway_on_rpc.fetch("POST", target, JSON, deep).status == 400
    assert rpc.calls == []


def test_deep_wire_bytes(gateway_on_rest, rest):
    """Groups and lengths that go on and on, in a message that is nowhere so deep."""
    proto = [("Content-Type", "application/proto")]
    for deep in (b"\x9b\x06" * 100_000, b"\x0b" * 1000, b"\x0a\xff\xff\xff\xff\x0f", b"\xff" * 100, b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"):
        answer = gateway_on_rest.fetch("POST", f"/{SERVICE}/CreateBook", proto, deep)
        assert (answer.status, answer.json()["code"]) == (400, "invalid_argument")
    assert rest.requests == []


def test_a_log_line_is_bounded_whatever_an_upstream_says(start, configuration, rest, rpc):
    gateway = start(configuration())
    rest.answers(Reply.json({"message": "x" * 1_000_000}, 404))
    answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", JSON, b"{\"id\": \"a\"}")
    assert (answer.status, len(answer.json()["message"])) == (404, 1_000_000)
    assert len(gateway.access_log(1)[0]) < 4000


def test_what_describes_the_old_body_stays_behind(gateway_on_rest, rest):
    rest.answers(Reply.json(book("b1"), 200, [
        ("Content-Range", "bytes 0-9/100"), ("Accept-Ranges", "bytes"), ("Content-MD5", "x"), ("ETag", "\"a\""), ("X-Kept", "1")]))
    answer = gateway_on_rest.fetch("POST", f"/{SERVICE}/GetBook", JSON, b"{\"id\": \"b1\"}")
    assert (answer.status, answer["x-kept"], answer["etag"]) == (200, "1", "W/\"a\"")
    assert [answer[name] for name in ("content-range", "accept-ranges", "content-md5")] == [None] * 3
