"""Nobody gets to a protected method by another one's face: by other spellings of its path or of its host (decision 61)."""

import itertools
import json
import re
from urllib.parse import unquote

import pytest

from support.proxies import Nginx
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.wire import request_bytes

JSON = [("Content-Type", "application/json")]
KEYS = {"interceptors": [{"api_key": {"keys": ["k"]}}]}
OPEN = {"upstream": "legacy", "public": True}
# Whoever may read a file may not read a book; the same for the covers of books.
METHODS = {"GetFile": {"public": True}, "GetCover": {"public": True, "http": {"get": "/v1/open/{id}"}}}
PROTECTED = re.compile(r"/v1/(books(/[^/]+)?|shelves/[^/]+/books/[^/]+)")


@pytest.fixture
def guarded(start, configuration, rest):
    rest.answers(lambda request: Reply.json(book("x")))
    return start(configuration(service=KEYS, methods=METHODS, fallback=OPEN))


def resolved(segments):
    path = []
    for segment in segments:
        if segment == "..":
            path[-1:] = []
        elif segment != ".":
            path.append(segment)
    return path


def meant(target):
    """What servers make of a target that normalise: each in its own order."""
    path = target.partition("?")[0]
    joined = lambda segments: "/" + "/".join(segment for segment in segments if segment)
    yield joined(resolved(segment for segment in unquote(path).split("/") if segment))
    yield joined(resolved(unquote(path)[1:].split("/")))
    yield unquote(joined(resolved(path[1:].split("/"))))
    bare = [segment.partition(";")[0] for segment in unquote(unquote(path)).replace("\\", "/").split("/")]
    yield joined(resolved(segment for segment in bare if segment))
    yield joined(resolved(segment.partition(";")[0] for segment in path.split("/") if segment.partition(";")[0]))


def spellings():
    dots = ("..", "%2e%2e", ".%2E", "..;x", "%252e%252e", ".")
    for start, dot, count, slash, end in itertools.product(
            ("/v1/files/", "/v1/files/a/", "/v1/open/", "/x/y/"), dots, range(1, 4), ("/", "%2f", "\\", "%5C", "//", "%252F"),
            ("books/b", "v1/books/b", "books%2Fb")):
        yield start + (dot + slash) * count + end
    yield from (
        "/v1/books%2Fb", "/v1%2fbooks/b", "/v1\\books\\b", "/v1/books;x/b", "/v1;x/books/b;y", "/v1/books/b/", "/v1//books/b",
        "/v1/books/c//../b", "/v1/books//../b", "/v1/books/%2e%2e/books/b", "/x/../v1/books/%2e%2e", "/v1%252fbooks%252fb",
        "/x/..;/v1/books/b", "/v1/files/x/../../books/b/", "/v1/files/..", "/v1/files/%2e%2e/", "/v1/open/.", "/v1/open/..",
        "/v1//x//../../books/b", "/v1/q/%2e%2e/../../books%2Fb",
        "/v1/x/%2e%2e%2fbooks%2fb", "/v1/%2e/books/b", "/v1/books%5cb", "/v1/books/b;/", "/v1/%62ooks/b/.")


def test_no_spelling_of_a_path_reaches_a_protected_method(guarded, rest):
    assert guarded.fetch("GET", "/v1/books/b").status == 401
    for target in dict.fromkeys(spellings()):
        rest.requests.clear()
        answer = guarded.fetch("GET", target)
        for request in rest.requests:
            assert not [path for path in meant(request.target) if PROTECTED.fullmatch(path)], (target, answer)
        assert rest.requests or 400 <= answer.status < 500, (target, answer)


@pytest.mark.parametrize("target", [
    "/v1/files/a/../../books/b", "/v1/files/a/%2e%2e/b", "/v1/files/./a", "/v1/open/..%2fbooks%2fb", "/v1/open/%252e%252e",
    "/v1/open/..;x", "/v1/files/a%5c..%5cb", "/v1/files/.."])
def test_a_dot_segment_is_refused_in_the_shape_of_the_caller(guarded, rest, target):
    answer = guarded.fetch("GET", target)
    assert (answer.status, answer.json()["code"]) == (400, 3) and "dot segments" in answer.json()["message"]
    assert not rest.requests
    # Who may not call the method is told that, and no more.
    answer = guarded.fetch("GET", "/v1/shelves/%2e%2e/books/b")
    assert answer.status == 401 and not rest.requests


@pytest.mark.parametrize("target", [
    "/v1/files/a..b/v1.2/.hidden/...", "/v1/files/a%20b/c%2Fd;v=1", "/v1/open/.hidden", "/v1/open/a%2Fb", "/v1/open/100%25",
    "/v1/open/a;b=c", "/v1/open/a%3Ab", "/v1/open/%3Bx", "/v1/open/%C3%A9", "/other/./x", "/other//y/", "/a;b/c"])
def test_what_can_mean_nothing_else_passes_as_it_is(guarded, rest, target):
    assert guarded.fetch("GET", target).status == 200
    assert rest.only().target == target


def test_no_spelling_reaches_another_public_method_either(guarded, rest):
    """A path is counted, limited and measured by its method: a second meaning would not be."""
    for target in ("/v1/files%2Fa", "/v1;x/open/a", "/v1/open/a/", "/x/../v1/open/a"):
        assert guarded.fetch("GET", target).status == 404, target
    assert not rest.requests


@pytest.mark.parametrize("dialect", [[], [("Connect-Protocol-Version", "1")]])
def test_a_value_of_an_rpc_call_is_no_other_method_of_the_rest_service(start, configuration, rest, dialect):
    """The caller of a public method names what makes the path of a protected one."""
    rest.answers(lambda request: Reply.json({"path": "x"}))
    gateway = start(configuration(service=KEYS, methods={"GetFile": {"public": True, "http": {"get": "/v1/{path=**}"}}}))
    ask = lambda path: gateway.fetch(
        "POST", f"/{SERVICE}/GetFile", [*JSON, *dialect], json.dumps({"path": path}).encode())
    for path in ("books/b", "books", "shelves/s/books/b", "books/%2e%2e", "books%2Fb", "x/%2e%2e/books/b"):
        answer = ask(path)
        assert (answer.status, answer.json()["code"]) == (400, "invalid_argument"), path
    assert not rest.requests
    assert ask("books/b/pages").status == 200
    assert rest.only().target == "/v1/books/b/pages"


def test_nginx_serves_no_protected_path(start, configuration, rest, tmp_path):
    """It decodes and resolves a path before it chooses what to serve."""
    legacy = Nginx(tmp_path / "nginx", """
    location /v1/books/ { default_type application/json; return 200 '{"id": "secret"}'; }
    location / { default_type application/json; return 200 '{"id": "open"}'; }""")
    setup = configuration(service=KEYS, methods=METHODS, fallback=OPEN)
    setup["upstreams"]["legacy"]["endpoints"] = [f"http://127.0.0.1:{legacy.port}"]
    gateway = start(setup)
    try:
        assert gateway.fetch("GET", "/v1/books/b", [("X-Api-Key", "k")]).json() == {"id": "secret"}
        assert gateway.fetch("GET", "/v1/files/a/b").json() == {"id": "open"}
        for target in dict.fromkeys(spellings()):
            assert b"secret" not in gateway.fetch("GET", target).body, target
    finally:
        legacy.stop()


HOSTS = ["api.example.com", "*.example.net", "port.example.com:8080", "*.port.example.net:8080"]


def test_a_dot_at_the_end_of_a_host_says_nothing(start, configuration, rest):
    gateway = start(configuration(service={**KEYS, "hosts": HOSTS}, fallback=OPEN))
    for host in (
            "api.example.com", "api.example.com.", "API.example.com.:80", "api.example.com..", "a.example.net.",
            "a.b.example.net.:8443", "port.example.com.:8080", "a.port.example.net:8080", "a.port.example.net.:8080"):
        for target in ("/v1/books/b", f"http://{host}/v1/books/b"):
            assert gateway.fetch("GET", target, host=host).status == 401, (host, target)
        assert gateway.fetch("POST", f"/{SERVICE}/GetBook", JSON, b"{}", host=host).status == 401, host
    assert not rest.requests
    # It goes on as it came: who reads the authority behind the gateway has always seen that.
    fields = [("X-Api-Key", "k"), ("Host", "api.example.com.:81")]
    assert gateway.fetch("GET", "/v1/books/b", fields).status == 200
    assert (rest.only()["host"], rest.only()["x-forwarded-host"]) == ("api.example.com.:81", "api.example.com.:81")
    for host in ("example.com.", "example.net.", "port.example.com.", "port.example.com.:81", "xapi.example.com.", "com."):
        assert gateway.fetch("GET", "/v1/books/b", host=host).status == 200, host


MARKS = ["x-turnout-shadow", "X-Turnout-Shadow", "X_Turnout_Shadow", "x-turnout_shadow"]


@pytest.mark.parametrize("stage", ["rest", "shadow", "rpc"])
@pytest.mark.parametrize("listener", [{}, {"forwarded": "off"}, {"trusted": ["127.0.0.0/8"]}], ids=str)
def test_a_client_cannot_say_that_it_is_a_copy(start, configuration, rest, rpc, stage, listener):
    """Backends leave copies out of what they count."""
    setup = configuration(stage=stage, fallback="legacy")
    setup["listeners"] = [{"address": "127.0.0.1:0", **listener}]
    gateway = start(setup)
    fields = [(name, "1") for name in MARKS]
    assert gateway.fetch("GET", "/v1/books/b1", fields).status == 200
    assert gateway.fetch("GET", "/healthy", fields).status == 200
    assert gateway.fetch("POST", f"/{SERVICE}/GetBook", [*JSON, *fields], b'{"id": "b1"}').status == 200
    with gateway.connect() as wire:
        wire.send(request_bytes(
            "PUT", "/upload", [("Transfer-Encoding", "chunked"), ("Trailer", MARKS[0])])
            + b"1\r\na\r\n0\r\nX-Turnout-Shadow: 1\r\n\r\n")
        assert wire.answer().status in (200, 404)
    answering = rest.requests if stage != "rpc" else [*rest.requests, *rpc.calls]
    assert len(answering) == 4
    for request in rest.requests:
        names = [name for name, _ in [*request.fields, *request.trailers]]
        assert not [name for name in names if name.lower().replace("_", "-") == MARKS[0]], names
    if stage == "rpc":
        for call in rpc.calls:
            assert not [name for name in call.headers if name.lower().replace("_", "-") == MARKS[0]]


def test_two_names_of_one_server_are_no_way_around(start, configuration, rest):
    """The public route asks the same server by another upstream's name, as for other timeouts."""
    rest.answers(lambda request: Reply.json(book("x")))
    setup = configuration(service=KEYS, methods={
        "GetCover": {"public": True, "http": {"get": "/v1/open/{id}"}, "rest": "again"},
        "GetBook": {"http": {"get": "/v1/open/{id}/book"}}})
    setup["upstreams"]["again"] = {**setup["upstreams"]["legacy"], "connect_timeout": "3s"}
    gateway = start(setup)
    assert gateway.fetch("GET", "/v1/open/b").status == 200
    assert gateway.fetch("GET", "/v1/open/b/book").status == 401
    for target in ("/v1/open/b%2Fbook", "/v1/open/b%5Cbook", "/v1/open/b\\book", "/v1/open/b%252Fbook"):
        assert gateway.fetch("GET", target).status == 400, target
    assert len(rest.requests) == 1
