"""Refused tokens while the request is still on its way, and what a try's time is with a newer token."""

import threading
import time

import pytest

from support.echo import SERVICE as ECHO
from support.rest_service import Reply, RESTService, book, hang
from support.scripted import Scripted, read_all, read_head

BOOK = "/v1/books/b1"
LONG = 1 << 20


class SlowEndpoint(RESTService):
    """Hands out `token-1` at once, and further ones when they are released."""

    def __init__(self):
        super().__init__()
        self.released, self.issued = threading.Event(), 0
        self.answers(self._issue)

    def _issue(self, request):
        self.issued += 1
        number = self.issued
        if number > 1:
            self.released.wait(30)
        return Reply.json({"access_token": f"token-{number}", "token_type": "Bearer", "expires_in": 3600})


@pytest.fixture
def endpoint():
    endpoint = SlowEndpoint()
    yield endpoint
    endpoint.released.set()


def oauth2(endpoint):
    return {"oauth2": {"token_url": f"{endpoint.url}/token", "client_id": "turnout", "client_secret": "secret"}}


class EarlyRefusal(Scripted):
    """Answers `head` after 20 KiB of a long body, reads the rest of it, then answers `rest`."""

    def __init__(self, head, rest=b""):
        self.head, self.rest = head, rest
        self.has_begun, self.is_whole = threading.Event(), threading.Event()
        super().__init__(self._serve)

    def _serve(self, connection):
        _, body = read_head(connection)
        count = len(body)
        while count < 20 << 10:
            count += len(connection.recv(65536))
        connection.sendall(self.head)
        self.has_begun.set()
        while count < LONG and (more := connection.recv(65536)):
            count += len(more)
        self.is_whole.set()
        connection.sendall(self.rest)
        read_all(connection)


def begin(wire, path, type):
    wire.send(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (
        path.encode(), type, LONG))


def test_an_early_refusal_stands_when_more_of_the_body_came_than_is_kept(start, configuration, endpoint):
    """While a newer token is fetched the caller goes on sending."""
    server = EarlyRefusal(b"HTTP/1.1 401 no\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\n", b"revoked")
    setup = configuration()
    setup["upstreams"]["legacy"] |= {"endpoints": [server.url], "credentials": oauth2(endpoint)}
    gateway = start(setup)
    with gateway.connect() as wire:
        begin(wire, "/v1/shelves/s/books", b"application/json")
        wire.send(b"x" * (20 << 10))
        endpoint.wait_for(2)
        wire.send(b"x" * (LONG - (20 << 10)))
        assert server.is_whole.wait(30)
        endpoint.released.set()
        answer = wire.answer()
    assert (answer.status, answer.body) == (401, b"revoked")
    server.close()


def test_a_refusal_at_the_end_of_a_long_request_stands(start, echo_gateways, endpoint):
    """Of gRPC-Web: when its head came, all of the request was still kept."""
    status = b"grpc-status: 16\r\ngrpc-message: revoked\r\n"
    end = b"\x80" + len(status).to_bytes(4, "big") + status
    server = EarlyRefusal(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/grpc-web+proto\r\nContent-Length: %d\r\n\r\n" % len(end), end)
    setup = echo_gateways.configuration("grpc")
    setup["upstreams"]["echo"] = {
        "protocol": "grpc-web", "endpoints": [server.url], "credentials": oauth2(endpoint)}
    gateway = start(setup)
    endpoint.released.set()
    with gateway.connect() as wire:
        begin(wire, f"/{ECHO}/Say", b"application/grpc-web+proto")
        message = b"\0" + (LONG - 5).to_bytes(4, "big") + b"\x0a" + b"\xfb\xff\x3f"
        wire.send(message + b"x" * ((20 << 10) - len(message)))
        assert server.has_begun.wait(30)
        # Nobody can see that the head is held back.
        time.sleep(0.3)
        wire.send(b"x" * (LONG - (20 << 10)))
        answer = wire.answer()
    assert (answer.status, answer.body) == (200, end)
    server.close()


def test_a_try_with_a_newer_token_has_a_time_of_its_own(start, configuration, rest, endpoint):
    """Also when that of the first went by while the token was fetched."""
    tries = []

    def serve(request):
        tries.append(request["authorization"])
        if len(tries) == 1:
            return Reply.json({"message": "revoked"}, 401)
        return hang(request) if len(tries) == 2 else Reply.json(book("b1"))

    rest.answers(serve)
    setup = configuration(service={"timeout": "20s"})
    setup["upstreams"]["legacy"] |= {
        "credentials": oauth2(endpoint), "retries": {"attempts": 1, "per_try_timeout": "300ms", "min_per_second": 100}}
    gateway = start(setup)
    with gateway.connect() as wire:
        wire.send(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % BOOK.encode())
        endpoint.wait_for(2)
        time.sleep(0.6)
        endpoint.released.set()
        answer = wire.answer()
    assert (answer.status, tries) == (200, ["Bearer token-1", "Bearer token-2", "Bearer token-2"])
    assert gateway.metric("turnout_upstream_retries_total", reason="timeout") == 1
