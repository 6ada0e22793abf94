"""A refusal that another try could have answered, while it turns out late that there can be no other try."""

import socket
import threading
import time

import pytest

from support.echo import SERVICE as ECHO
from support.fleet import proxy
from support.gateway import wait_until
from support.http2 import HTTP2Upstream
from support.rest_service import Reply, RESTService
from support.schema import SERVICE
from support.scripted import Scripted, read_all, read_head

BEGINNING, LONG = 20 << 10, 1 << 20
RETRIES = {"attempts": 1, "min_per_second": 100, "max_retry_after": "10s", "body": "64KiB"}


class Early(Scripted):
    """Answers the first request of each connection after its first 20 KiB: `first` to the first one, then `later`.

    `ends`: it closes after its answer, and reads no more."""

    def __init__(self, first, later=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ends=False):
        self.first, self.later, self.ends = first, later, ends
        self.lengths, self.has_answered = [], threading.Event()
        super().__init__(self._serve)

    def _serve(self, connection):
        is_first = self.connections == 1
        head, body = read_head(connection)
        count = len(body)
        announced = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while count < (BEGINNING if is_first else announced):
            count += len(connection.recv(65536))
        if is_first:
            connection.sendall(self.first)
            if self.ends:
                connection.shutdown(socket.SHUT_WR)
            self.has_answered.set()
            read_all(connection)
        else:
            self.lengths.append(count)
            connection.sendall(self.later)
            read_all(connection)


def send_late(gateway, server, head, first, rest):
    """Sends a request in two parts, the second one when the upstream has answered the first."""
    with gateway.connect() as wire:
        wire.send(head)
        wire.send(first)
        assert server.has_answered.wait(30)
        # Nobody can see that the answer is held back.
        time.sleep(0.3)
        try:
            wire.send(rest)
        except ConnectionError:
            pass
        return wire.answer()


def put(length):
    return b"PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % length


REFUSAL = (b"HTTP/1.1 503 later\r\nRetry-After: 2\r\nContent-Type: text/plain\r\nX-Why: deploy\r\n"
           b"Content-Length: 7\r\n\r\n")


@pytest.mark.parametrize("ends", [False, True])
def test_a_refusal_stands_when_the_body_turns_out_longer_than_what_is_kept(start, ends):
    """Whether its connection lives on or not."""
    server = Early(REFUSAL + b"not now", ends=ends)
    gateway = start(proxy([server.url], retries=RETRIES))
    answer = send_late(gateway, server, put(LONG), b"x" * BEGINNING, b"x" * (LONG - BEGINNING))
    assert (answer.status, answer.body) == (503, b"not now")
    assert (answer["x-why"], answer["retry-after"]) == ("deploy", "2")
    assert server.connections == 1
    assert gateway.metric("turnout_upstream_retries_total") == 0
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="the end of all buffers")
    server.close()


def test_a_refusal_whose_body_breaks_off_stands_without_it(start):
    server = Early(REFUSAL + b"not", ends=True)
    gateway = start(proxy([server.url], retries=RETRIES))
    answer = send_late(gateway, server, put(LONG), b"x" * BEGINNING, b"x" * (LONG - BEGINNING))
    assert (answer.status, answer.body, answer["content-length"]) == (503, b"", "0")
    assert answer["x-why"] == "deploy"
    server.close()


def test_a_long_refusal_stands_whole(start):
    """What is kept of it is bounded; the rest waits with the upstream."""
    body = bytes(range(256)) * 4096
    server = Early(b"HTTP/1.1 429 slow\r\nRetry-After: 2\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    gateway = start(proxy([server.url], retries={**RETRIES, "on": ["429"]}))
    answer = send_late(gateway, server, put(LONG), b"x" * BEGINNING, b"x" * (LONG - BEGINNING))
    assert (answer.status, answer.body == body) == (429, True)
    server.close()


@pytest.mark.parametrize("length", [50_000, LONG])
def test_a_refusal_of_an_http2_upstream(start, length):
    """Which says besides that it wants no more of the request."""
    refused, bodies = threading.Event(), []

    def begun(exchange):
        if not refused.is_set():
            exchange.answer(503, [("retry-after", "2"), ("x-why", "deploy")], b"not now")
            exchange.refuse(0)
            refused.set()

    def whole(exchange):
        bodies.append(len(exchange.body))
        exchange.answer(200, [], b"ok")

    upstream = HTTP2Upstream(whole, begun=begun)
    gateway = start(proxy([upstream.url], retries=RETRIES, http="2"))
    with gateway.connect() as wire:
        wire.send(put(length))
        wire.send(b"x" * BEGINNING)
        assert refused.wait(30)
        time.sleep(0.3)
        wire.send(b"x" * (length - BEGINNING))
        answer = wire.answer()
    if length == LONG:
        assert (answer.status, answer.body, answer["x-why"], bodies) == (503, b"not now", "deploy", [])
    else:
        assert (answer.status, answer.body, bodies) == (200, b"ok", [50_000])
    upstream.close()


def test_a_body_that_turns_out_short_enough_is_sent_again(start):
    server = Early(REFUSAL + b"not now")
    gateway = start(proxy([server.url], retries=RETRIES))
    answer = send_late(gateway, server, put(50_000), b"x" * BEGINNING, b"x" * (50_000 - BEGINNING))
    assert (answer.status, answer.body, server.lengths) == (200, b"ok", [50_000])
    assert gateway.metric("turnout_upstream_retries_total", reason="503") == 1
    server.close()


def test_what_a_try_failed_of_stands_when_the_body_is_not_kept(start):
    """No answer at all: the caller is told that, and not that a body cannot be sent again."""
    server = Early(b"")
    gateway = start(proxy([server.url], retries={
        **RETRIES, "per_try_timeout": "200ms", "backoff": {"base": "10s", "max": "10s"}}))
    answer = send_late(gateway, server, put(LONG), b"x" * BEGINNING, b"x" * (LONG - BEGINNING))
    assert answer.status == 504
    server.close()


def message(length):
    """A message of that many bytes with one long field."""
    size = length - 4
    return b"\x0a" + bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14]) + b"x" * size


def test_a_connect_caller_gets_the_error_itself(start, configuration):
    error = b'{"code":"unavailable","message":"deploying","details":[]}'
    server = Early(b"HTTP/1.1 503 no\r\nRetry-After: 2\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                   % len(error) + error)
    setup = configuration(stage="rpc")
    setup["upstreams"]["content"] |= {"endpoints": [server.url], "retries": RETRIES}
    gateway = start(setup)
    head = (b"POST /%s/GetBook HTTP/1.1\r\nHost: x\r\nContent-Type: application/proto\r\nContent-Length: %d\r\n\r\n"
            % (SERVICE.encode(), LONG))
    body = message(LONG)
    answer = send_late(gateway, server, head, body[:BEGINNING], body[BEGINNING:])
    assert (answer.status, answer.body) == (503, error)
    server.close()


@pytest.mark.parametrize("is_in_head", [True, False])
def test_a_grpc_web_caller_gets_the_error_itself(start, echo_gateways, is_in_head):
    status = b"grpc-status: 14\r\ngrpc-message: deploying\r\n"
    end = b"" if is_in_head else b"\x80" + len(status).to_bytes(4, "big") + status
    server = Early(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/grpc-web+proto\r\nGrpc-Retry-Pushback-Ms: 2000\r\n%s"
        b"Content-Length: %d\r\n\r\n" % (status if is_in_head else b"", len(end)) + end)
    setup = echo_gateways.configuration("grpc")
    # An answer behind the head asks for no pause there, so it is a long one by itself.
    setup["upstreams"]["echo"] = {"protocol": "grpc-web", "endpoints": [server.url], "retries": {
        **RETRIES, "backoff": {"base": "20s", "max": "20s"}}}
    gateway = start(setup)
    head = (b"POST /%s/Say HTTP/1.1\r\nHost: x\r\nContent-Type: application/grpc-web+proto\r\nContent-Length: %d\r\n\r\n"
            % (ECHO.encode(), LONG))
    body = b"\0" + (LONG - 5).to_bytes(4, "big") + message(LONG - 5)
    answer = send_late(gateway, server, head, body[:BEGINNING], body[BEGINNING:])
    assert (answer.status, answer.body) == (200, end)
    assert answer["grpc-status"] == ("14" if is_in_head else None)
    assert server.connections == 1
    server.close()


# MARK: Refused tokens


class Tokens(RESTService):
    """Hands out `token-1` at once; what becomes of the second one is said later."""

    def __init__(self):
        super().__init__()
        self.decided, self.second, self.issued = threading.Event(), True, 0
        self.answers(self._issue)

    def decide(self, succeeds):
        self.second = succeeds
        self.decided.set()

    def _issue(self, request):
        self.issued += 1
        if self.issued > 1:
            self.decided.wait(30)
            if not self.second:
                return Reply(503)
        return Reply.json({"access_token": f"token-{self.issued}", "token_type": "Bearer", "expires_in": 3600})


@pytest.mark.parametrize("body, kept", [(b"revoked", b"revoked"), (b"rev", b"")])
@pytest.mark.parametrize("succeeds", [False, True])
def test_a_401_stands_when_its_connection_closes_while_a_newer_token_is_fetched(start, configuration, body, kept, succeeds):
    """Of a body that broke off nothing is passed on. With a newer token the call is asked again as ever."""
    def serve(connection):
        head, _ = read_head(connection)
        if b"token-2" in head:
            return connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")
        connection.sendall(b"HTTP/1.1 401 no\r\nWWW-Authenticate: Bearer error=\"invalid_token\"\r\n"
                           b"Content-Type: text/plain\r\nContent-Length: 7\r\n\r\n" + body)

    server, tokens = Scripted(serve), Tokens()
    setup = configuration(fallback="legacy")
    setup["upstreams"]["legacy"] |= {"endpoints": [server.url], "credentials": {"oauth2": {
        "token_url": f"{tokens.url}/token", "client_id": "turnout", "client_secret": "secret"}}}
    gateway = start(setup)
    with gateway.connect() as wire:
        wire.send(b"GET /elsewhere HTTP/1.1\r\nHost: x\r\n\r\n")
        tokens.wait_for(2)
        assert server.ended.acquire(timeout=30)
        # Nobody can see when the gateway has noticed.
        time.sleep(0.3)
        tokens.decide(succeeds)
        answer = wire.answer()
    if succeeds:
        assert (answer.status, answer.body) == (200, b"yes")
    else:
        assert (answer.status, answer.body) == (401, kept)
        assert answer["www-authenticate"] == 'Bearer error="invalid_token"'
    server.close()


def test_an_rpc_caller_gets_unauthenticated_when_the_connection_of_a_401_closes(start, configuration):
    def serve(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 401 no\r\nContent-Type: application/json\r\nContent-Length: 70\r\n\r\n{")

    server, tokens = Scripted(serve), Tokens()
    setup = configuration()
    setup["upstreams"]["legacy"] |= {"endpoints": [server.url], "credentials": {"oauth2": {
        "token_url": f"{tokens.url}/token", "client_id": "turnout", "client_secret": "secret"}}}
    gateway = start(setup)
    with gateway.connect() as wire:
        body = b'{"id":"b1"}'
        wire.send(b"POST /%s/GetBook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                  % (SERVICE.encode(), len(body), body))
        tokens.wait_for(2)
        assert server.ended.acquire(timeout=30)
        time.sleep(0.3)
        tokens.decide(False)
        answer = wire.answer()
    assert (answer.status, answer.json()["code"]) == (401, "unauthenticated")
    server.close()
