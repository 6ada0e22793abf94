"""Answers that are whole before the request's body is: what a client that keeps its connections meets then."""

import http.client
import socket
import time

import pytest

from support.echo import SERVICE
from support.raw_upstream import RawUpstream

STREAM = [("Content-Type", "application/connect+proto"), ("Connect-Timeout-Ms", "400")]


def begin(wire, fields, target):
    """Sends the head of a request with a chunked body, and no more of it."""
    lines = [f"POST {target} HTTP/1.1", "Host: gateway.test", "Transfer-Encoding: chunked"]
    lines += [f"{name}: {value}" for name, value in fields]
    wire.send("\r\n".join(lines).encode() + b"\r\n\r\n")


def early_answer(data):
    """An upstream that answers each request as soon as it has the head, and then reads on."""

    def handle(connection):
        while connection.head() is not None:
            connection.send(data)
            while b"0\r\n\r\n" not in connection.unread:
                if not connection.more():
                    return
            connection.unread = connection.unread.split(b"0\r\n\r\n", 1)[1]

    return RawUpstream(handle)


@pytest.fixture
def early(start, configuration):
    """A gateway whose fallback answers every upload at once."""
    upstream = early_answer(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge")
    settings = configuration(fallback="early")
    settings["upstreams"]["early"] = {"protocol": "rest", "endpoints": [upstream.url]}
    yield start(settings)
    upstream.close()


@pytest.fixture
def before(start, echo_schema):
    """Starts a gateway before a Connect service that answers each head with these bytes, and no more."""
    upstreams = []

    def make(data):
        upstreams.append(early_answer(data))
        return start({
            "listeners": [{"address": "127.0.0.1:0"}], "admin": {"address": "127.0.0.1:0"}, "workers": 1,
            "schema": [{"descriptor_set": str(echo_schema.descriptors)}],
            "upstreams": {"echo": {"protocol": "connect", "endpoints": [upstreams[-1].url]}},
            "services": {SERVICE: {"rpc": "echo", "stage": "rpc"}},
        })

    yield make
    for upstream in upstreams:
        upstream.close()


BEGUN = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/connect+proto\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\n\0\0\0\0\0\r\n")


def test_a_deadline_before_the_answer_says_that_the_connection_ends(before):
    with before(b"").connect() as wire:
        begin(wire, STREAM, f"/{SERVICE}/Tell")
        answer = wire.answer()
        assert b"deadline_exceeded" in answer.body and answer.closes
        assert wire.is_closed()


@pytest.mark.parametrize("rest", [b"0\r\n\r\n", b"8000\r\n" + b"x" * 0x8000 + b"\r\n0\r\n\r\n"], ids=["end", "32 KiB"])
@pytest.mark.parametrize("fields, end", [
    (STREAM, b"deadline_exceeded"),
    ([("Content-Type", "application/grpc-web+proto"), ("Grpc-Timeout", "400m")], b"grpc-status: 4"),
], ids=["passed", "relayed"])
def test_the_next_request_after_an_early_end(before, fields, end, rest):
    """The answer had begun and could say nothing: the rest of the body is read, and the connection goes on."""
    with before(BEGUN).connect() as wire:
        begin(wire, fields, f"/{SERVICE}/Hear")
        wire.send(b"5\r\n\0\0\0\0\0\r\n")
        answer = wire.answer()
        assert answer.status == 200 and end in answer.body and not answer.closes
        wire.send(rest)
        assert wire.request("GET", "/nothing").status == 404
        assert wire.request("GET", "/nothing").status == 404


def test_a_pooled_client_after_an_early_answer(early):
    """http.client sends its body to the end, reads the answer, and goes on with the connection."""
    client = http.client.HTTPConnection(*early.address, timeout=30)
    client.connect()
    client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    opened = client.sock
    for _ in range(5):
        client.request("POST", "/upload", body=iter([b"x" * 10_000] * 20), encode_chunked=True,
                       headers={"Transfer-Encoding": "chunked"})
        answer = client.getresponse()
        assert (answer.status, answer.read()) == (413, b"large")
        if client.sock is None:
            client.connect()
    client.close()
    opened.close()


def test_a_body_without_end_is_not_read_for_ever(early):
    with early.connect() as wire:
        begin(wire, [], "/upload")
        wire.send(b"1\r\nx\r\n")
        assert wire.answer().status == 413
        end = time.monotonic() + 60
        with pytest.raises(OSError):
            while time.monotonic() < end:
                wire.send(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


def test_a_body_that_goes_wrong_after_its_answer_is_not_answered_twice(early):
    with early.connect() as wire:
        begin(wire, [], "/upload")
        wire.send(b"1\r\nx\r\n")
        assert wire.answer().status == 413
        wire.send(b"no chunk\r\n")
        assert wire.is_closed()
