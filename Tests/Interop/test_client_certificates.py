"""Who calls by a client certificate: what the backend is told, and who is not let through."""

import hashlib
import socket
import ssl

import pytest

from support.certificates import Authority
from support.wire import Wire

BOOK = b"GET /v1/books/b1 HTTP/1.1\r\nHost: localhost\r\n%s\r\n"


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "ca")


@pytest.fixture
def setup(configuration, authority):
    server = authority.issue("server", "DNS:localhost")

    def make(check, client_auth="required", **more):
        return configuration(
            listeners=[{"address": "127.0.0.1:0", "tls": {
                **server, "client_ca": str(authority.file), "client_auth": client_auth}}],
            interceptors=[{"access_log": {"format": "json"}}, {"client_certificate": check}], **more)

    return make


def ask(gateway, authority, identity=None, fields=b""):
    with Wire(gateway.address, tls=authority.client_context(identity)) as wire:
        wire.send(BOOK % fields)
        return wire.body_of(wire.head())


def test_the_backend_is_told_whose_certificate_it_was(start, setup, rest, authority):
    gateway = start(setup({"forward": {
        "subject": "x-client-subject", "san": "x-client-san", "fingerprint": "x-client-fingerprint",
        "spiffe": "x-client-spiffe"}}))
    identity = authority.issue("app", "DNS:app.test", "URI:spiffe://depot.test/app", "email:app@depot.test")
    forged = b"".join(
        b"%s: forged\r\n" % name for name in (b"X-Client-Subject", b"x_client_san", b"X_Client_Spiffe"))
    assert ask(gateway, authority, identity, forged).status == 200
    with open(identity["certificate"]) as file:
        der = ssl.PEM_cert_to_DER_cert(file.read())
    request = rest.only()
    assert {name: request.all(name) for name, _ in request.fields if "client" in name.lower()} == {
        "x-client-subject": ["CN=app"],
        "x-client-san": ["DNS:app.test,URI:spiffe://depot.test/app,email:app@depot.test"],
        "x-client-fingerprint": [hashlib.sha256(der).hexdigest()],
        "x-client-spiffe": ["spiffe://depot.test/app"],
    }


def test_only_those_that_are_allowed_get_through(start, setup, rest, authority):
    pinned = authority.issue("pinned")
    with open(pinned["certificate"]) as file:
        fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(file.read())).hexdigest()
    gateway = start(setup({"allow": ["DNS:app.test", "URI:spiffe://depot.test/ns/*", f"sha256:{fingerprint.upper()}"]}))
    good = [
        authority.issue("one", "DNS:other.test", "DNS:app.test"), authority.issue("two", "URI:spiffe://depot.test/ns/a"),
        pinned]
    bad = [
        authority.issue("app.test"), authority.issue("three", "DNS:app.test.evil"),
        authority.issue("four", "URI:spiffe://depot.test/other"), authority.issue("five", "email:app.test@x")]
    for identity in good:
        assert ask(gateway, authority, identity).status == 200
    for identity in bad:
        answer = ask(gateway, authority, identity)
        assert (answer.status, answer.json()["code"]) == (403, 7)
    assert len(rest.requests) == len(good)
    assert gateway.metric("turnout_auth_refused_total", interceptor="client_certificate", reason="not_allowed") == 4


def test_where_certificates_are_optional_the_check_says_who_needs_one(start, setup, rest, authority):
    identity = authority.issue("app", "DNS:app.test")
    gateway = start(setup({"forward": {"subject": "x-client"}}, "optional", methods={"GetBook": {"public": False}}))
    answer = ask(gateway, authority)
    assert (answer.status, answer.json()["code"]) == (401, 16)
    assert ask(gateway, authority, identity).status == 200
    lenient = start(setup({"forward": {"subject": "x-client"}, "required": False}, "optional"))
    rest.reset()
    assert ask(lenient, authority, fields=b"X-Client: forged\r\n").status == 200
    assert rest.only()["x-client"] is None


def test_it_is_the_same_over_http2(start, setup, rest, authority):
    from support.http2 import HTTP2Client
    identity = authority.issue("app", "DNS:app.test")
    gateway = start(setup({"allow": ["DNS:app.test"], "forward": {"subject": "x-client"}}))
    client = HTTP2Client(gateway.address, tls=authority.client_context(identity, alpn=["h2"]))
    assert client.ask("GET", "/v1/books/b1", authority="localhost").status == 200
    assert rest.only()["x-client"] == "CN=app"
    client.close()


def test_a_resumed_session_is_still_whose_certificate_it_was(start, setup, rest, authority):
    identity = authority.issue("app", "DNS:app.test")
    gateway = start(setup({"forward": {"subject": "x-client"}}))
    context = authority.client_context(identity)
    session = None
    for resumes in (False, True):
        plain = socket.create_connection(gateway.address)
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as connection:
            assert connection.session_reused == resumes
            connection.sendall(BOOK % b"Connection: close\r\n")
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
            assert answer.startswith(b"HTTP/1.1 200")
            session = connection.session
    assert [request["x-client"] for request in rest.requests] == ["CN=app"] * 2
