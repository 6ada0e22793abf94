"""The PROXY protocol before HTTP and TLS: from HAProxy, in pieces, and from those who may not send it."""

import contextlib
import json
import socket
import struct

import pytest

from support.certificates import Authority
from support.gateway import wait_until
from support.proxies import HAProxy
from support.wire import NotWhole, Wire, request_bytes

LINE = b"PROXY TCP4 198.51.100.7 192.0.2.9 4711 8443\r\n"
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
ASK = request_bytes("GET", "/v1/books/b1")


def binary(command=1, family=0x11, rest=None, more=b""):
    if rest is None:
        rest = socket.inet_aton("198.51.100.7") + socket.inet_aton("192.0.2.9") + struct.pack(">HH", 4711, 8443)
    rest += more
    return SIGNATURE + bytes([0x20 | command, family]) + struct.pack(">H", len(rest)) + rest


def listening(use="required", trusted=("127.0.0.0/8",), **more):
    return [{"address": "127.0.0.1:0", "proxy_protocol": use, "trusted": list(trusted), **more}]


@pytest.fixture
def required(start, configuration):
    return start(configuration(listeners=listening()))


def client_of(gateway, count=1):
    return json.loads(gateway.access_log(count)[count - 1])["client"]


def outcomes(gateway):
    return {
        dict(labels)["outcome"]: value for (name, labels), value in gateway.metrics().items()
        if name == "turnout_proxy_headers_total"
    }


def is_closed(wire):
    try:
        wire.head()
    except (NotWhole, ConnectionError):
        return True
    return False


@pytest.mark.parametrize("header", [LINE, binary(), binary(more=b"\x04\0\x03abc")])
def test_the_client_is_whom_the_header_names(required, rest, header):
    with required.connect() as wire:
        wire.send(header + ASK)
        assert wire.answer().status == 200
        wire.send(ASK)
        assert wire.answer().status == 200
    assert client_of(required) == "198.51.100.7"
    assert rest.requests[0]["x-forwarded-for"] == "198.51.100.7" == rest.requests[1]["x-forwarded-for"]
    assert rest.requests[0]["x-forwarded-port"] == "8443"
    assert outcomes(required) == {"ok": 1}


@pytest.mark.parametrize("header", [b"PROXY UNKNOWN\r\n", binary(command=0, family=0, rest=b"")])
def test_a_proxy_that_speaks_for_itself(required, rest, header):
    with required.connect() as wire:
        wire.send(header + ASK)
        assert wire.answer().status == 200
    assert rest.only()["x-forwarded-for"] == "127.0.0.1"
    assert outcomes(required) == {"local": 1}


@pytest.mark.parametrize("header", [LINE, binary(more=b"\x04\0\x03abc")])
def test_byte_by_byte(required, rest, header):
    with required.connect() as wire:
        for byte in header + ASK[:3]:
            wire.send(bytes([byte]))
        wire.send(ASK[3:])
        assert wire.answer().status == 200
    assert rest.only()["x-forwarded-for"] == "198.51.100.7"


@pytest.mark.parametrize("first,outcome", [
    (ASK, "absent"), (b"PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n" + ASK, "malformed"),
    (binary(command=1, family=0x11, rest=b"abc") + ASK, "malformed"), (LINE[:20], "malformed"), (b"", "closed"),
])
def test_what_is_no_header_is_not_served(required, rest, first, outcome):
    with required.connect() as wire:
        wire.send(first)
        with contextlib.suppress(OSError):  # It may be closed already.
            wire.socket.shutdown(socket.SHUT_WR)
        assert is_closed(wire)
    wait_until(lambda: outcomes(required) == {outcome: 1}, what="the count")
    assert not rest.requests


def test_a_header_that_does_not_come(start, configuration):
    gateway = start(configuration(listeners=listening(), timeouts={"handshake": "300ms"}))
    for piece in (b"", LINE[:9]):
        with gateway.connect() as wire:
            wire.send(piece)
            assert is_closed(wire)
    assert outcomes(gateway) == {"timeout": 2}


def test_who_is_not_trusted_cannot_claim_an_address(start, configuration, rest):
    gateway = start(configuration(listeners=listening(trusted=["192.0.2.0/24"])))
    with gateway.connect() as wire:
        assert is_closed(wire)
    wait_until(lambda: outcomes(gateway) == {"untrusted": 1}, what="the count")
    gateway = start(configuration(listeners=listening("optional", trusted=["192.0.2.0/24"])))
    with gateway.connect() as wire:
        wire.send(LINE + ASK)
        assert wire.answer().status == 400
    with gateway.connect() as wire:
        wire.send(ASK)
        assert wire.answer().status == 200
    assert rest.only()["x-forwarded-for"] == "127.0.0.1"


def test_who_is_not_trusted_cannot_fill_the_log(start, configuration):
    gateway = start(configuration(workers=1, listeners=listening(trusted=["192.0.2.0/24"])))

    def leaves_out():
        with gateway.connect() as wire:
            assert is_closed(wire)
        return "such lines before it were left out" in gateway.log()

    # As soon as more of them came in a second than the log takes, and another one after it.
    wait_until(leaves_out, what="a line that tells of others")


def test_optional_is_with_and_without(start, configuration, rest):
    gateway = start(configuration(listeners=listening("optional")))
    for first in (ASK, LINE + ASK):
        with gateway.connect() as wire:
            wire.send(first)
            assert wire.answer().status == 200
    assert [request["x-forwarded-for"] for request in rest.requests] == ["127.0.0.1", "198.51.100.7"]
    assert outcomes(gateway) == {"absent": 1, "ok": 1}


def test_it_comes_before_tls(start, configuration, rest, tmp_path):
    authority = Authority(tmp_path / "authority")
    server = authority.issue("localhost", "DNS:localhost")
    gateway = start(configuration(listeners=listening("optional", tls=server)))
    for header in (b"", LINE, binary()):
        wire = Wire(gateway.address)
        wire.send(header)
        wire.socket = authority.client_context().wrap_socket(wire.socket, server_hostname="localhost")
        wire.send(request_bytes("GET", "/v1/books/b1", host="localhost"))
        assert wire.answer().status == 200
        wire.close()
    assert [request["x-forwarded-for"] for request in rest.requests] == ["127.0.0.1", "198.51.100.7", "198.51.100.7"]
    assert {request["x-forwarded-proto"] for request in rest.requests} == {"https"}


@pytest.mark.parametrize("option", ["send-proxy", "send-proxy-v2"])
def test_from_haproxy(required, rest, tmp_path, option):
    haproxy = HAProxy(tmp_path / "haproxy", required.address, f"{option} check inter 200ms")
    try:
        with Wire(haproxy.address) as wire:
            port = wire.socket.getsockname()[1]
            wire.send(ASK)
            assert wire.answer().status == 200
        assert rest.only()["x-forwarded-for"] == "127.0.0.1"
        assert rest.only()["x-forwarded-port"] == str(haproxy.port)
        assert port and client_of(required) == "127.0.0.1"
        # Its health checks are its own connections, and are served.
        wait_until(lambda: outcomes(required).get("ok", 0) >= 1, what="the header")
        assert "malformed" not in outcomes(required)
    finally:
        haproxy.stop()


def test_a_drain_does_not_wait_for_a_header(start, configuration):
    gateway = start(configuration(listeners=listening(), drain="20s"))
    with gateway.connect() as wire:
        wire.send(LINE[:5])
        # Another connection's answer says that the first was accepted.
        with gateway.connect() as other:
            other.send(LINE + ASK)
            assert other.answer().status == 200
        assert gateway.stop() == 0
        assert is_closed(wire)
