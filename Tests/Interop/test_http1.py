"""HTTP/1.x as odd but honest clients speak it."""

import pytest

from support.rest_service import Reply, book
from support.schema import SERVICE
from support.wire import request_bytes

JSON = [("Content-Type", "application/json")]


def test_http_1_0(gateway_on_rest, rest):
    with gateway_on_rest.connect() as wire:
        wire.send(b"GET /healthy HTTP/1.0\r\n\r\n")
        answer = wire.answer()
        assert (answer.status, answer.body) == (200, b"legacy")
        assert wire.is_closed()


def test_http_1_0_never_gets_chunks(gateway_on_rest, rest):
    rest.answers(Reply(200, chunks=[b"one", b"two"], trailers=[("X-T", "1")]))
    with gateway_on_rest.connect() as wire:
        wire.send(request_bytes("GET", "/healthy", version="HTTP/1.0"))
        answer = wire.answer()
        assert (answer.all("transfer-encoding"), answer.body) == ([], b"onetwo")
        assert wire.is_closed()


def test_http_1_0_and_a_translated_route(gateway_on_rpc, rpc):
    with gateway_on_rpc.connect() as wire:
        wire.send(request_bytes("GET", "/v1/books/b1", version="HTTP/1.0"))
        assert wire.answer().json() == book("b1")
        assert wire.is_closed()


def test_connection_close_is_kept(gateway_on_rest):
    with gateway_on_rest.connect() as wire:
        answer = wire.request("GET", "/healthy", [("Connection", "close")])
        assert answer.closes and wire.is_closed()


def test_pipelining_keeps_the_order(gateway_on_rest, gateway_on_rpc, rest):
    for gateway in (gateway_on_rest, gateway_on_rpc):
        requests = []
        for number in range(20):
            requests.append(request_bytes("GET", f"/v1/books/p{number}"))
            requests.append(request_bytes("POST", f"/{SERVICE}/GetBook", JSON, b'{"id": "q%d"}' % number))
            requests.append(request_bytes("HEAD", f"/v1/books/h{number}"))
        with gateway.connect() as wire:
            wire.send(b"".join(requests))
            for number in range(20):
                assert wire.answer().json()["id"] == f"p{number}"
                assert wire.answer().json()["id"] == f"q{number}"
                assert wire.answer("HEAD").status == 200
            assert wire.request("GET", "/v1/books/last").json()["id"] == "last"


def test_a_head_byte_by_byte(gateway_on_rest, rest):
    with gateway_on_rest.connect() as wire:
        for byte in request_bytes("POST", "/v1/books/b1:move", JSON, b'{"shelf":"s1"}'):
            wire.send(bytes([byte]))
        assert wire.answer().json()["shelf"] == "s1"


def test_blank_lines_before_a_request(gateway_on_rest):
    with gateway_on_rest.connect() as wire:
        wire.send(b"\r\n" + request_bytes("GET", "/healthy") + b"\r\n" + request_bytes("GET", "/healthy"))
        assert (wire.answer().body, wire.answer().body) == (b"legacy", b"legacy")


@pytest.mark.parametrize("target", ["/healthy", "/v1/books/b1"])
def test_head(gateway_on_rest, gateway_on_rpc, rest, rpc, target):
    for gateway in (gateway_on_rest, gateway_on_rpc):
        with gateway.connect() as wire:
            got = wire.request("GET", target)
            answer = wire.request("HEAD", target)
            assert (answer.status, answer["content-type"]) == (200, got["content-type"])
            if answer["content-length"] is not None:
                assert answer["content-length"] == str(len(got.body))
            assert wire.request("GET", target).status == 200
    assert "HEAD" in {request.method for request in rest.requests}


def test_head_of_an_error(gateway_on_rpc):
    with gateway_on_rpc.connect() as wire:
        assert wire.request("HEAD", "/v1/books/b1?colour=red").status == 400
        assert wire.request("GET", "/v1/books/b1").status == 200


@pytest.mark.parametrize("target", ["/echo", "/v1/books/b1:move"])
def test_expect_100_continue(gateway_on_rest, gateway_on_rpc, rest, rpc, target):
    body = b'{"shelf": "s2"}'
    rest.answers(lambda request: Reply.json({**book("b1"), "shelf": request.json()["shelf"] if request.body else ""}))
    for gateway in [gateway_on_rest] if target == "/echo" else [gateway_on_rest, gateway_on_rpc]:
        with gateway.connect() as wire:
            wire.send(request_bytes(
                "POST", target, [*JSON, ("Expect", "100-continue"), ("Content-Length", str(len(body)))]))
            assert wire.head().status == 100
            wire.send(body)
            answer = wire.answer()
            assert (answer.status, answer.json()["shelf"]) == (200, "s2")
            assert wire.request("GET", "/v1/books/b1").status == 200


def test_a_body_that_comes_without_waiting_for_the_100(gateway_on_rpc):
    with gateway_on_rpc.connect() as wire:
        wire.send(request_bytes("POST", "/v1/books/b1:move", [*JSON, ("Expect", "100-continue")], b'{"shelf": "s2"}'))
        assert wire.answer().json()["shelf"] == "s2"
        assert wire.request("GET", "/v1/books/b1").status == 200


@pytest.mark.parametrize("target, status", [("/nothing", 404), ("/v1/books/b1", 405)])
def test_no_100_for_what_is_refused(start, configuration, rest, rpc, target, status):
    gateway = start(configuration(stage="rpc"))
    with gateway.connect() as wire:
        wire.send(request_bytes("POST", target, [*JSON, ("Expect", "100-continue"), ("Content-Length", "2")]))
        answer = wire.head()
        assert answer.status == status
        # The body may come or not, so the connection cannot go on.
        assert answer.closes
        wire.body_of(answer)
        assert wire.is_closed()


def test_interim_answers_pass(gateway_on_rest, rest):
    rest.answers(lambda request: request.send(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast"))
    with gateway_on_rest.connect() as wire:
        wire.send(request_bytes("GET", "/healthy"))
        hints = wire.head()
        assert (hints.status, hints["link"]) == (103, "</a.css>")
        assert wire.answer().body == b"last"


def test_absolute_form_and_options(gateway_on_rest, rest):
    answer = gateway_on_rest.fetch("GET", "http://gateway.test/v1/books/b1")
    assert answer.json() == book("b1")
    assert rest.only().target == "/v1/books/b1"
    assert gateway_on_rest.fetch("OPTIONS", "*").status < 500


def test_an_answer_before_the_body_is_read(gateway_on_rpc, rpc):
    """A refusal comes although the client goes on sending, and the connection is then closed."""
    with gateway_on_rpc.connect() as wire:
        wire.send(request_bytes("POST", "/v1/shelves/s1/books", [*JSON, ("Content-Length", str(64 << 20))]))
        wire.send(b"x" * 100_000)
        answer = wire.answer()
        assert answer.status == 413 and answer.closes
    assert not rpc.calls


def test_nothing_is_served_after_connection_close(gateway_on_rest, rest):
    with gateway_on_rest.connect() as wire:
        wire.send(request_bytes("GET", "/healthy", [("Connection", "close")]) + request_bytes("GET", "/ignored"))
        assert wire.answer().closes
        assert wire.is_closed()
    assert [request.target for request in rest.requests] == ["/healthy"]


def test_a_broken_request_behind_a_good_one(gateway_on_rest, rest):
    with gateway_on_rest.connect() as wire:
        wire.send(request_bytes("GET", "/healthy") + b"nonsense\r\n\r\n")
        assert wire.answer().body == b"legacy"
        answer = wire.answer()
        assert answer.status == 400 and answer.closes
        assert wire.is_closed()


def test_many_tiny_chunks(gateway_on_rest, rest):
    rest.answers(lambda request: Reply(200, chunks=[b"%d" % (n % 10) for n in range(20_000)]))
    body = b"".join(b"1\r\n%d\r\n" % (n % 10) for n in range(20_000)) + b"0\r\n\r\n"
    with gateway_on_rest.connect() as wire:
        wire.send(request_bytes("POST", "/echo", [("Transfer-Encoding", "chunked")]) + body)
        assert wire.answer().body == b"0123456789" * 2000
    assert rest.only().body == b"0123456789" * 2000


def test_fields_keep_their_order_and_bytes(gateway_on_rest, rest):
    rest.answers(Reply(200, [("X-A", "1"), ("X-B", "\xe9\xff"), ("X-A", "2"), ("X-Empty", "")], b"ok"))
    answer = gateway_on_rest.fetch("GET", "/fields", [("X-C", "1"), ("X-D", "\xfc"), ("X-C", "2"), ("X-None", "")])
    assert (answer.all("x-a"), answer["x-b"], answer["x-empty"]) == (["1", "2"], "\xe9\xff", "")
    request = rest.only()
    assert (request.all("x-c"), request["x-d"], request["x-none"]) == (["1", "2"], "\xfc", "")


@pytest.mark.parametrize("status", [204, 304])
def test_statuses_without_a_body_whatever_they_say(gateway_on_rest, rest, status):
    """A Content-Length of a 304 is of the body that is not there."""
    rest.answers(lambda request: request.send(
        b"HTTP/1.1 %d X\r\nContent-Length: 10\r\n\r\n" % status if status == 304
        else b"HTTP/1.1 204 X\r\n\r\n"))
    with gateway_on_rest.connect() as wire:
        assert wire.request("GET", "/empty").status == status
        rest.answers(Reply(200, body=b"next"))
        assert wire.request("GET", "/next").body == b"next"
