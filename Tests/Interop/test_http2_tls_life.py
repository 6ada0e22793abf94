"""Connections of HTTP/2 over TLS while the gateway goes on: new certificates, draining, interceptors, refusals."""

import signal
import subprocess
import threading

import h2.errors

from support.gateway import wait_until
from support.http2 import HTTP2Client
from support.http2_tls import echo, lines, with_interceptors
from support.rest_service import Reply, book
from support.schema import SERVICE

Codes = h2.errors.ErrorCodes

JSON = [("content-type", "application/json")]

UNARY = [*JSON, ("connect-protocol-version", "1")]


def test_a_new_certificate_while_streams_run(start, secured_http2, authority, rest, open_client):
    gateway = start(secured_http2())
    release = threading.Event()

    def slow(request):
        if "slow" in request.path:
            release.wait(60)
        return Reply.json(book(request.path.rsplit("/", 1)[1]))

    rest.answers(slow)
    client = open_client(gateway)
    old = client.socket.getpeercert()["serialNumber"]
    stream = client.start("GET", "/v1/books/slow")
    rest.wait_for(1)
    authority.issue("server", "DNS:localhost", "IP:127.0.0.1")

    def shown():
        with HTTP2Client(gateway.address, tls=authority.client_context(alpn=["h2"])) as other:
            return other.socket.getpeercert()["serialNumber"]

    wait_until(lambda: shown() != old, what="the new certificate")
    assert client.ask("GET", "/v1/books/b2").json() == book("b2")
    release.set()
    assert client.finish(stream).json() == book("slow")
    assert client.goaway is None and "error" not in gateway.log()


def test_draining(start, secured_http2, authority, rest, open_client):
    """GOAWAY at once, running streams are answered, then the session ends well."""
    gateway = start(secured_http2())
    release = threading.Event()

    def slow(request):
        release.wait(60)
        return Reply.json(book("slow"))

    rest.answers(slow)
    client, idle = open_client(gateway), open_client(gateway)
    stream = client.start("GET", "/v1/books/slow")
    rest.wait_for(1)
    gateway.signal(signal.SIGTERM)
    assert client.wait_for(lambda: client.goaway is not None) and client.goaway == 0
    # An end without close-notify would raise SSLEOFError here.
    assert idle.wait_for_end(10)
    release.set()
    assert client.finish(stream).json() == book("slow")
    assert client.wait_for_end(10)
    assert gateway.process.wait(30) == 0


def test_the_age_of_a_connection(start, secured_http2, rest, open_client):
    gateway = start(secured_http2(timeouts={"connection_age": "500ms"}))
    client = open_client(gateway)
    assert client.ask("GET", "/v1/books/b1").status == 200
    assert client.wait_for(lambda: client.goaway is not None, 10) and client.goaway == 0
    assert client.wait_for_end(10)


CORS = {"cors": {"origins": ["https://app.test"], "expose": ["x-request-id"]}}

ORIGIN = ("origin", "https://app.test")


def test_preflights(start, secured_http2, rest, open_client):
    gateway = start(secured_http2(interceptors=with_interceptors(CORS, {"api_key": {"keys": ["k"]}})))
    client = open_client(gateway)
    for target in ("/v1/books/b1", f"/{SERVICE}/GetBook", "/anything"):
        answer = client.ask("OPTIONS", target, [ORIGIN, ("access-control-request-method", "POST")])
        assert (answer.status, answer["access-control-allow-origin"], answer.ended) == (204, ORIGIN[1], True)
        assert "content-length" not in dict(answer.fields)
    answer = client.ask("GET", "/v1/books/b1", [ORIGIN])
    assert (answer.status, answer["access-control-allow-origin"]) == (401, ORIGIN[1])
    answer = client.ask("GET", "/v1/books/b1", [ORIGIN, ("x-api-key", "k")])
    assert (answer.status, answer["access-control-allow-origin"]) == (200, ORIGIN[1])
    assert rest.only()["x-api-key"] is None


def test_refusals_and_headers(start, secured_http2, rest, open_client):
    gateway = start(secured_http2(interceptors=with_interceptors(
        {"request_id": {}}, {"headers": {
            "request": {"set": {"X-App": "1"}, "remove": ["X-Gone"]},
            "response": {"set": {"Strict-Transport-Security": "max-age=1"}}}},
        {"rate_limit": {"requests": 3, "per": "1h"}})))
    client = open_client(gateway)
    answer = client.ask("GET", "/v1/books/b1", [("x-gone", "1"), ("x-request-id", "mine")])
    assert (answer.status, answer["x-request-id"], answer["strict-transport-security"]) == (200, "mine", "max-age=1")
    request = rest.only()
    assert (request["x-app"], request["x-gone"], request["x-request-id"]) == ("1", None, "mine")
    assert client.ask("POST", f"/{SERVICE}/GetBook", UNARY, b'{"id":"b1"}').status == 200
    assert client.ask("GET", "/v1/nothing/at/all").status == 404
    answer = client.ask("GET", "/v1/books/b1")
    assert (answer.status, answer["strict-transport-security"]) == (429, "max-age=1")
    assert int(answer["retry-after"]) > 0 and answer["x-request-id"]
    # A body that is under way when its stream is refused stops nothing else.
    stream = client.start("POST", f"/{SERVICE}/GetBook", UNARY, end=False)
    answer = client.finish(stream)
    assert (answer.status, answer.json()["code"]) == (429, "resource_exhausted")
    stream = client.start("PUT", "/anything", body=b"x" * 30_000, end=False)
    assert client.finish(stream).status == 429
    found = lines(gateway, 6)
    assert [line["status"] for line in found] == [200, 200, 404, 429, 429, 429]
    assert gateway.metric("turnout_requests_total", code="resource_exhausted") == 3


def test_a_refusal_before_the_body_is_whole(start, secured_http2, authority, rest, open_client):
    """It is seen by who sends on, and who never ends is stopped. (curl 7.88 loses an answer that a reset follows.)"""
    gateway = start(secured_http2(interceptors=with_interceptors({"api_key": {"keys": ["k"]}})))
    for size in (11, 11, 11, 11, 300_000, 3_000_000):
        done = subprocess.run(
            ["curl", "-sS", "--max-time", "30", "--http2", "--cacert", authority.file, "--data-binary", "@-",
             "--resolve", f"localhost:{gateway.address[1]}:127.0.0.1", "-w", "%{http_code}", "-o", "/dev/null",
             f"https://localhost:{gateway.address[1]}/anything"], input=b"b" * size, capture_output=True, timeout=60)
        assert done.stdout == b"401", done.stderr
    client = open_client(gateway)
    stream = client.start("POST", "/anything", end=False)
    assert client.finish(stream).status == 401
    client.data(stream, b"b" * 1_000_000)
    client.data(stream, b"", end=True)
    never = client.start("POST", "/anything", end=False)
    assert client.finish(never).status == 401
    assert client.h2.open_outbound_streams == 1
    assert client.wait_for(lambda: client.h2.open_outbound_streams == 0, 10), "the stream stays open"
    rest.answers(echo)
    assert client.ask("POST", "/echo", [("x-api-key", "k")], b"abc").body == b"abc"


def test_refused_streams_are_logged(start, secured_http2, rest, open_client):
    """What is no request is answered, or reset, and the log says why; the connection goes on."""
    gateway = start(secured_http2(limits={"target": 1024, "header": 4096}, interceptors=with_interceptors(CORS)))
    client = open_client(gateway)
    assert client.ask("GET", "/" + "a" * 2000, [ORIGIN]).status == 414
    assert client.ask("GET", "/v1/books/b1", [("x-large", "b" * 5000)]).status == 431
    never = client.start("POST", "/" + "a" * 2000, end=False)
    assert client.finish(never).status == 414 and client.h2.open_outbound_streams == 1
    assert client.wait_for(lambda: client.h2.open_outbound_streams == 0, 10), "the stream stays open"
    assert client.ask("GET", "/v1/books/b1", [("te", "gzip")]).reset == Codes.PROTOCOL_ERROR
    assert client.ask("GET", "/v1/books/b1").status == 200
    assert [line["status"] for line in lines(gateway, 4)] == [414, 431, 414, 200]
    for status in (414, 431):
        assert f"refused a request of 127.0.0.1 with {status}: " in gateway.log()
    assert gateway.metric("turnout_http2_faults_total") == 4
    assert len(rest.requests) == 1
