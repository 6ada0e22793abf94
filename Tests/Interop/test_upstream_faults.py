"""An upstream's fault is 502, 503 or 504, or the code's status, in the caller's protocol; a half answer never looks whole."""

import threading

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.http2 import HTTP2Client
from support.ports import free_port
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.wire import NotWhole, request_bytes

JSON = [("Content-Type", "application/json")]


def towards(configuration, endpoint, **more):
    """Both upstreams at one endpoint."""
    setup = configuration(fallback="legacy", **more)
    for upstream in setup["upstreams"].values():
        upstream["endpoints"] = [endpoint]
    return setup


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1", "http://does-not-exist.invalid:80"])
def test_nobody_is_there(start, configuration, client_of, pb, endpoint):
    gateway = start(towards(configuration, endpoint, timeouts={"connect": "2s"}))
    assert gateway.fetch("GET", "/anything").status == 503
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer.json()["code"]) == (503, 14)
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert error.value.code == Code.UNAVAILABLE
    gateway.set_stage(f"{SERVICE}/GetBook", "rpc")
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer.json()["code"]) == (503, 14)
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert error.value.code == Code.UNAVAILABLE
    assert gateway.metric("turnout_upstream_failures_total") == 5


def test_it_comes_back(start, configuration, rest):
    import socket

    from support.rest_service import RESTService

    port = free_port()
    gateway = start(towards(configuration, f"http://127.0.0.1:{port}"))
    assert gateway.fetch("GET", "/anything").status == 503
    service = RESTService.__new__(RESTService)
    service.socket = socket.create_server(("127.0.0.1", port))
    service.lock, service.connections = threading.Condition(), 0
    service.reset()
    threading.Thread(target=service._accept, daemon=True).start()
    assert gateway.fetch("GET", "/healthy").body == b"legacy"


GARBAGE = {
    "closed": b"",
    "no HTTP": b"hello\r\n\r\n",
    "no status": b"HTTP/1.1 abc OK\r\n\r\n",
    "a head cut short": b"HTTP/1.1 200 OK\r\nContent-Le",
    "both framings": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "a length that is none": b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    "a NUL in a field": b"HTTP/1.1 200 OK\r\nX-A: a\x00b\r\nContent-Length: 0\r\n\r\n",
    "an unknown framing": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a folded field": b"HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "another version": b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    "a binary protocol": bytes(range(256)),
}


@pytest.mark.parametrize("raw", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage(start, configuration, rest, raw):
    """Passed through, translated to REST, translated to Connect."""
    gateway = start(towards(configuration, rest.url))
    rest.answers(Reply(raw=raw))
    requests = [
        request_bytes("POST", "/anything", [], b"x"), request_bytes("POST", "/v1/shelves/s1/books", JSON, b"{}"),
        request_bytes("POST", f"/{SERVICE}/CreateBook", JSON, b'{"shelf": "s1"}'),
    ]
    for stage in ("rest", "rpc"):
        gateway.set_stage(f"{SERVICE}/CreateBook", stage)
        for data in requests:
            with gateway.connect() as wire:
                wire.send(data)
                answer = wire.answer()
                # To a Connect caller the status is that of the code.
                assert answer.status in (500 if SERVICE.encode() in data else 502, 503), answer
                assert b"hello" not in answer.body
                # The client did nothing wrong: its connection goes on.
                assert not answer.closes
                assert wire.request("GET", "/nothing/at/all").status == 502
    # What changes something is sent once.
    assert len([request for request in rest.requests if request.method == "POST"]) == 6


@pytest.mark.parametrize("version", ["1.1", "2"])
@pytest.mark.parametrize("status", [600, 999])
def test_numbers_that_are_no_status(start, configuration, rest, client_of, pb, status, version):
    """They are taken for 5xx (RFC 9110 section 15), and who asked for REST from a REST service sees what that said."""
    gateway = start(towards(configuration, rest.url))
    rest.answers(Reply(status, JSON, b'{"message": "secret"}'))
    path = "/v1/books/b1"
    post = f"/{SERVICE}/GetBook", [("content-type", "application/json"), ("connect-protocol-version", "1")], b'{"id": "b1"}'
    if version == "2":
        with HTTP2Client(gateway.address) as client:
            passed, translated = client.ask("GET", path), client.ask("POST", *post)
    else:
        passed, translated = gateway.fetch("GET", path), gateway.fetch("POST", *post)
    assert (passed.status, passed.json()) == (status, {"message": "secret"})
    assert (translated.status, translated.json()["code"]) == (500, "unknown"), translated
    assert gateway.metric("turnout_requests_total", method="GetBook", face="rest", code="unknown") == 1
    with pytest.raises(ConnectError) as raised:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert raised.value.code.value == "unknown"


CUT = {
    "by length": Reply(200, JSON, b'{"id": "b1"}' + b" " * 100_000, cut=50_000),
    "in chunks": Reply(200, JSON, chunks=[b'{"id": "b1"}'] + [b" " * 10_000] * 10, cut=50_000),
    "a broken chunk": Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                            b"5\r\n{   }\r\nzz\r\n"),
}


@pytest.mark.parametrize("reply", CUT.values(), ids=CUT.keys())
def test_cut_inside_the_body(start, configuration, rest, reply):
    gateway = start(towards(configuration, rest.url))
    rest.answers(reply)
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/anything"))
        with pytest.raises((NotWhole, ConnectionError)):
            answer = wire.answer()
            assert answer.status == 502, f"a half answer looks whole: {answer}"
            raise NotWhole
    # Translated nothing was sent yet, so the fault can be told.
    for stage in ("rest", "rpc"):
        gateway.set_stage(f"{SERVICE}/GetBook", stage)
        if stage == "rpc":
            assert gateway.fetch("GET", "/v1/books/b1").status == 502
        else:
            answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", JSON, b'{"id": "b1"}')
            assert (answer.json()["code"], answer.status) in (("internal", 500), ("unavailable", 503))


def test_cut_inside_the_body_for_an_http_1_0_client(start, configuration, rest):
    """Its answer ends with the connection, so only a reset tells it."""
    gateway = start(towards(configuration, rest.url))
    rest.answers(CUT["in chunks"])
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/anything", version="HTTP/1.0"))
        with pytest.raises((NotWhole, ConnectionError)):
            wire.answer()


def test_a_stale_connection_is_replaced_for_what_may_be_repeated(start, configuration, rest):
    gateway = start(towards(configuration, rest.url))
    rest.answers(lambda request: Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
    with gateway.connect() as wire:
        for _ in range(10):
            assert wire.request("GET", "/anything").body == b"ok"


def test_an_upstream_that_says_close(start, configuration, rest):
    gateway = start(towards(configuration, rest.url))
    rest.answers(Reply(200, body=b"ok", closes=True))
    with gateway.connect() as wire:
        for _ in range(10):
            answer = wire.request("POST", "/anything", [], b"x")
            assert (answer.body, answer.closes) == (b"ok", False)


def test_bytes_after_the_answer_belong_to_nobody(start, configuration, rest):
    gateway = start(towards(configuration, rest.url))

    def script(request):
        request.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        request.was_left(5)

    rest.answers(script)
    with gateway.connect() as wire:
        for _ in range(5):
            assert wire.request("GET", "/anything").body == b"ok"


def test_the_excerpt_is_in_the_log_only(start, configuration, rest, client_of, pb):
    gateway = start(towards(configuration, rest.url))
    rest.answers(Reply(500, [("Content-Type", "text/plain")], b"database password wrong"))
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert error.value.code == Code.INTERNAL
    assert "password" not in error.value.message
    assert "database password wrong" in gateway.access_log()[0] + gateway.log()


def test_several_endpoints_of_which_one_is_dead(start, configuration, rest):
    setup = configuration()
    setup["upstreams"]["legacy"]["endpoints"] = ["http://127.0.0.1:1", rest.url]
    gateway = start(setup)
    answers = [gateway.fetch("GET", "/v1/books/b1") for _ in range(20)]
    assert all(answer.status == 200 and answer.json() == book("b1") or answer.status == 503 for answer in answers)
    assert any(answer.status == 200 for answer in answers)


STATUSES = {"internal": 500, "unknown": 500, "unavailable": 503, "resource_exhausted": 429}


@pytest.mark.parametrize("reply, code", [
    (Reply(raw=b"no HTTP at all\r\n\r\n"), "internal"),
    (Reply(raw=b""), "unavailable"),
    (Reply.json({"title": "x" * 5000}), "resource_exhausted"),
    (Reply.json({"title": 7}), "internal"),
    (Reply(200, [("Content-Type", "application/json"), ("Content-Encoding", "gzip")], b"no gzip"), "internal"),
    (Reply(502, body=b"<html>"), "unavailable"),
], ids=str)
def test_the_status_for_a_connect_caller_is_that_of_the_code(start, configuration, rest, reply, code):
    """Parts of the clients read the status alone, where 502 would be another code."""
    gateway = start(configuration(limits={"message": "1KiB"}))
    rest.answers(reply)
    for body in (b'{"id": "b1"}', b'{"id": "b2"}'):
        answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", JSON, body)
        assert (answer.json()["code"], answer.status) == (code, STATUSES[code]), answer
