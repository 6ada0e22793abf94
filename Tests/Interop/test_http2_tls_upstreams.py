"""HTTP/2 over TLS towards upstreams, beside HTTP/1.1: trailers, deadlines and leaving across the versions."""

import json
import threading
import time

import h2.errors
import pytest

from support.gateway import wait_until
from support.http2_tls import echo, pattern
from support.rest_service import RESTService, Reply, book
from support.schema import SERVICE
from support.wire import Wire, request_bytes

Codes = h2.errors.ErrorCodes


def towards(setup, authority, service, http="2", **keys):
    """All upstreams are this one, over TLS."""
    for one in setup["upstreams"].values():
        one.update({"endpoints": [service.url], "http": http, "tls": {"ca": str(authority.file)}, **keys})
    return setup


def on_path(exchange):
    exchange.answer(200, [("x-scheme", exchange[":scheme"])], bytes(exchange.body) or b"none")


def test_an_upstream_over_tls_and_http2(start, secured_http2, authority, secure_upstream, open_client, rest):
    one = secure_upstream(on_path)
    gateway = start(towards(secured_http2(), authority, one))
    client = open_client(gateway)
    for number in range(5):
        answer = client.ask("GET", f"/a{number}")
        assert (answer.status, answer.body, answer["x-scheme"]) == (200, b"none", "https")
    data = pattern(20_000_000)
    assert client.ask("POST", "/large", body=data).body == data
    assert len(one.connections) == 1
    assert gateway.metric("turnout_upstream_tls_handshakes_total", outcome="ok") == 1


def test_translated_calls_over_http2(start, secured_http2, authority, secure_upstream, open_client):
    def answer(exchange):
        assert exchange[":path"] == f"/{SERVICE}/GetBook"
        exchange.answer(200, [("content-type", "application/json")], json.dumps(book("b1")).encode())

    one = secure_upstream(answer)
    setup = towards(secured_http2(stage="rpc", codec="json"), authority, one)
    client = open_client(start(setup))
    assert client.ask("GET", "/v1/books/b1").json()["title"] == "The book b1"


@pytest.mark.parametrize("alpn", [(), ("http/1.1",)], ids=["none", "http/1.1"])
def test_an_upstream_that_does_not_agree_on_http2(start, secured_http2, authority, secure_upstream, open_client, alpn):
    """Nothing is sent to it: HTTP/2 over TLS is agreed on and never guessed."""
    one = secure_upstream(on_path, alpn=alpn)
    gateway = start(towards(secured_http2(), authority, one))
    client = open_client(gateway)
    assert client.ask("GET", "/a").status == 503
    assert not one.exchanges
    assert "does not agree on HTTP/2" in gateway.access_log()[0]


def test_an_upstream_that_ends_its_session_only(start, secured_http2, authority, secure_upstream, open_client):
    """After its close-notify it does not answer, though its connection is open: another one is opened."""
    def answer(exchange):
        exchange.answer(200, [], b"ok")
        if exchange.connection.number == 0:
            session = exchange.connection.socket
            session.settimeout(0)
            try:
                session.unwrap()
            except OSError:
                pass
            time.sleep(2)

    one = secure_upstream(answer)
    gateway = start(towards(secured_http2(), authority, one))
    client = open_client(gateway)
    assert client.ask("GET", "/a").body == b"ok"
    wait_until(lambda: gateway.metric("turnout_upstream_connections") == 0, 10, "the end of the connection")
    assert client.ask("GET", "/b").body == b"ok"
    assert len(one.connections) == 2


@pytest.mark.parametrize("alpn", [None, ["http/1.1"], ["h2", "http/1.1"]], ids=["none", "1.1", "both"])
def test_an_upstream_of_http1_over_tls(start, secured_http2, authority, server, open_client, alpn):
    service = RESTService(authority.server_context(server, alpn=alpn))
    service.answers(echo)
    client = open_client(start(towards(secured_http2(), authority, service, http="1.1")))
    data = pattern(5_000_000)
    for _ in range(3):
        assert client.ask("POST", "/echo", body=data).body == data


def test_trailers_over_all_pairs(start, secured_http2, authority, secure_upstream, open_client, rest):
    one = secure_upstream(lambda exchange: exchange.answer(
        200, [], b"x" * len(exchange.body), [("x-sum", dict(exchange.trailers).get("x-end", "none"))]))
    gateway = start(towards(secured_http2(), authority, one))
    client = open_client(gateway)
    for body in (b"", b"abc", b"z" * 100_000):
        stream = client.start("POST", "/a", end=False)
        if body:
            client.data(stream, body)
        client.trailers(stream, [("x-end", "7")])
        answer = client.finish(stream)
        assert (len(answer.body), answer.trailers) == (len(body), [("x-sum", "7")])
    with Wire(gateway.address, tls=authority.client_context()) as wire:
        answer = wire.request("POST", "/a", [("Transfer-Encoding", "chunked"), ("TE", "trailers")],
                              b"3\r\nabc\r\n0\r\nX-End: 7\r\n\r\n", host="localhost")
        assert (answer.body, dict(answer.trailers)) == (b"xxx", {"x-sum": "7"})


def test_deadlines_and_leaving_across_the_versions(start, secured_http2, authority, secure_upstream, open_client, rest):
    """A deadline, and a client that resets its stream, cancel the request at the upstream: h2 to h2 and 1.1 to h2."""
    one = secure_upstream(lambda exchange: None if "hang" in exchange[":path"] else exchange.answer(200, [], b"ok"))
    gateway = start(towards(secured_http2(service={"timeout": "400ms"}), authority, one))
    client = open_client(gateway)
    assert client.ask("GET", "/v1/books/hang").status == 504
    one.wait_until(lambda: one.exchanges[0].reset == Codes.CANCEL)
    stream = client.start("GET", "/hang")
    one.wait_for(2)
    client.reset(stream)
    one.wait_until(lambda: one.exchanges[1].reset == Codes.CANCEL)
    with Wire(gateway.address, tls=authority.client_context()) as wire:
        assert wire.request("GET", "/v1/books/hang", host="localhost").status == 504
        wire.send(request_bytes("GET", "/hang", host="localhost"))
        one.wait_for(4)
    one.wait_until(lambda: one.exchanges[3].reset == Codes.CANCEL)
    assert client.ask("GET", "/fine").body == b"ok"
    assert len(one.connections) == 1


def test_deadlines_and_leaving_towards_http1(start, secured_http2, authority, server, open_client):
    service = RESTService(authority.server_context(server))
    left = threading.Event()

    def hang(request):
        if "hang" not in request.path:
            return Reply(200, [], b"ok")
        try:
            assert request.connection.recv(1) == b""
        except OSError:
            pass
        left.set()

    service.answers(hang)
    gateway = start(towards(secured_http2(service={"timeout": "400ms"}), authority, service, http="1.1"))
    client = open_client(gateway)
    assert client.ask("GET", "/v1/books/hang").status == 504
    assert left.wait(10)
    left.clear()
    stream = client.start("GET", "/hang")
    service.wait_for(2)
    client.reset(stream)
    assert left.wait(10)
    assert client.ask("GET", "/fine").body == b"ok"
