"""TLS with other people's clients and servers: curl, openssl, Python's ssl, the Connect runtime."""

import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time

import pyqwest
import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from websockets.sync.client import connect
from websockets.sync.server import serve

from support.certificates import Authority
from support.gateway import run, wait_until
from support.rest_service import Reply, RESTService, book
from support.schema import SERVICE
from support.wire import Wire, request_bytes


def curl(gateway, path, *arguments, cacert=None, host="localhost"):
    """The status, the HTTP version, the body, and what curl said."""
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "30", "--write-out", "\n%{http_code} %{http_version}",
         "--resolve", f"{host}:{gateway.address[1]}:127.0.0.1", *(["--cacert", cacert] if cacert else []),
         *arguments, f"https://{host}:{gateway.address[1]}{path}"],
        capture_output=True, timeout=60)
    body, _, facts = done.stdout.rpartition(b"\n")
    status, version = facts.decode().split()
    return int(status), version, body, done.stderr.decode()


def s_client(gateway, *arguments, cacert=None, text="Q\n"):
    done = subprocess.run(
        ["openssl", "s_client", "-connect", "127.0.0.1:%d" % gateway.address[1], "-verify_return_error",
         *(["-CAfile", cacert] if cacert else []), *map(str, arguments)],
        input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def handshakes(gateway, outcome, side="turnout_tls_handshakes_total"):
    return gateway.metric(side, outcome=outcome)


@pytest.mark.parametrize("arguments", [[], ["--tlsv1.3"], ["--tls-max", "1.2"]], ids=["", "1.3", "1.2"])
def test_curl(start, secured, authority, rest, arguments):
    gateway = start(secured())
    status, _, body, _ = curl(gateway, "/v1/books/b1", *arguments, cacert=authority.file)
    assert status == 200
    assert b'"The book b1"' in body
    assert handshakes(gateway, "ok") == 1
    assert rest.only()["host"] == f"localhost:{gateway.address[1]}"


def test_a_client_that_does_not_know_the_authority(start, secured, rest):
    gateway = start(secured())
    status, _, _, said = curl(gateway, "/v1/books/b1")
    assert status == 0
    assert "certificate" in said
    wait_until(lambda: handshakes(gateway, "refused") == 1, what="the count of the handshake")
    assert not rest.requests


@pytest.mark.parametrize("arguments, version", [
    (["-tls1_3"], "TLSv1.3"), (["-tls1_2"], "TLSv1.2"),
    (["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], None), (["-tls1", "-cipher", "DEFAULT@SECLEVEL=0"], None),
    (["-tls1_2", "-cipher", "AES128-SHA"], None),
], ids=["1.3", "1.2", "1.1", "1.0", "1.2 without forward secrecy"])
def test_versions(start, secured, authority, arguments, version):
    gateway = start(secured())
    code, said = s_client(gateway, *arguments, cacert=authority.file)
    if version:
        assert code == 0, said
        assert f"New, {version}" in said
    else:
        assert code != 0, said
        wait_until(lambda: handshakes(gateway, "protocol") == 1, what="the count of the handshake")


def test_application_protocols(start, secured, authority):
    gateway = start(secured())
    assert "ALPN protocol: http/1.1" in s_client(gateway, "-alpn", "http/1.1", cacert=authority.file)[1]
    code, said = s_client(gateway, "-alpn", "smtp,spdy/3", cacert=authority.file)
    assert code != 0 and "no application protocol" in said


def test_the_name_chooses_the_certificate(start, secured, authority):
    other = authority.issue("other", "DNS:other.test", "DNS:*.wild.test")
    gateway = start(secured({"certificates": [other]}))
    for name, subject in [("localhost", "server"), ("other.test", "other"), ("a.wild.test", "other"),
                          ("nobody.test", "server")]:
        _, said = s_client(gateway, "-servername", name, cacert=authority.file)
        assert f"subject=CN = {subject}" in said, name
    assert "subject=CN = server" in s_client(gateway, "-noservername", cacert=authority.file)[1]
    assert curl(gateway, "/v1/books/b1", cacert=authority.file, host="other.test")[0] == 200


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_a_session_goes_on_over_a_reload(start, secured, authority, tmp_path, version):
    gateway = start(secured())
    ticket = tmp_path / "ticket"
    request = "GET /v1/books/b1 HTTP/1.1\nHost: localhost\nConnection: close\n\n"
    _, said = s_client(gateway, version, "-crlf", "-ign_eof", "-sess_out", ticket, cacert=authority.file, text=request)
    assert "New, TLSv1" in said and '"The book b1"' in said
    assert gateway.admin("POST", "/reload").status == 200
    assert "Reused, TLSv1" in s_client(gateway, version, "-sess_in", ticket, cacert=authority.file)[1]


def test_another_authority_than_the_certificates(start, secured, authority, rest):
    gateway = start(secured())
    status, _, body, _ = curl(gateway, "/v1/books/b1", "-H", "Host: other.test", cacert=authority.file)
    assert status == 421
    assert b"certificate" in body
    assert not rest.requests
    status, _, body, _ = curl(
        gateway, f"/{SERVICE}/GetBook", "-H", "Host: other.test", "-H", "Content-Type: application/json",
        "-d", '{"id":"b1"}', cacert=authority.file)
    assert (status, b'"failed_precondition"' in body) == (421, True)
    open = start(secured({"check_authority": False}))
    assert curl(open, "/v1/books/b1", "-H", "Host: other.test", cacert=authority.file)[0] == 200


def test_client_certificates(start, secured, authority, rest):
    client, stranger = authority.issue("client"), Authority(authority.folder / "b", "stranger").issue("stranger")
    required = start(secured({"client_ca": str(authority.file)}))
    optional = start(secured({"client_ca": str(authority.file), "client_auth": "optional"}))

    def status(gateway, identity):
        files = ["--cert", identity["certificate"], "--key", identity["key"]] if identity else []
        return curl(gateway, "/v1/books/b1", *files, cacert=authority.file)[0]

    assert [status(required, who) for who in (client, None, stranger)] == [200, 0, 0]
    assert [status(optional, who) for who in (client, None, stranger)] == [200, 200, 0]
    assert (handshakes(required, "no_certificate"), handshakes(required, "certificate")) == (1, 1)
    assert len(rest.requests) == 3


def test_the_connect_runtime(start, secured, authority, client_of, pb, rpc, rest):
    gateway = start(secured())
    transport = pyqwest.SyncHTTPTransport(
        tls_ca_cert=authority.file.read_bytes(), http_version=pyqwest.HTTPVersion.HTTP1)
    client = client_of(
        gateway, address="https://localhost:%d" % gateway.address[1], http_client=pyqwest.SyncClient(transport))
    assert client.get_book(pb.GetBookRequest(id="b1")) == rpc.book("b1")
    rest.answers(Reply.json({"message": "gone"}, 404))
    with pytest.raises(ConnectError) as caught:
        client.get_book(pb.GetBookRequest(id="b2"))
    assert caught.value.code == Code.NOT_FOUND


def test_a_large_body_each_way(start, secured, authority, rest):
    gateway = start(secured(fallback="legacy"))
    rest.answers(lambda request: Reply(200, [("Content-Type", "application/octet-stream")], request.body))
    with Wire(gateway.address, tls=authority.client_context()) as wire:
        for size in (0, 1, 16_384, 100_000, 3_000_000, 10_000_000, 10_000_000):
            data = (bytes(range(251)) * (size // 251 + 1))[:size]
            assert wire.request("POST", "/echo", [], data, host="localhost").body == data


def test_a_client_without_tls(start, secured):
    gateway = start(secured())
    with gateway.connect() as wire:
        answer = wire.request("GET", "/v1/books/b1")
        assert answer.status == 400
        assert "HTTPS" in answer.json()["message"]
        assert wire.is_closed()


# An upstream with TLS.


def upstreams(setup, service, **tls):
    setup["upstreams"]["legacy"] = {"protocol": "rest", "endpoints": [service.url], "tls": tls}
    return setup


def test_an_upstream_with_tls(start, configuration, authority, server, client_of, pb, rpc):
    service = RESTService(authority.server_context(server))
    gateway = start(upstreams(configuration(), service, ca=str(authority.file)))
    for _ in range(3):
        assert gateway.fetch("GET", "/v1/books/b1").json() == book("b1")
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b2")) == rpc.book("b2")
    assert [request.target for request in service.requests][-1] == "/v1/books/b2"
    # Each loop keeps its own.
    assert service.connections <= 2
    assert handshakes(gateway, "ok", "turnout_upstream_tls_handshakes_total") == service.connections


def test_an_upstream_that_wants_a_certificate(start, configuration, authority, server):
    service = RESTService(authority.server_context(server, requires_client=True))
    own = authority.issue("gateway")
    gateway = start(upstreams(configuration(), service, ca=str(authority.file), **own))
    assert gateway.fetch("GET", "/v1/books/b1").json() == book("b1")


@pytest.mark.parametrize("fault", ["another name", "unknown authority", "expired"])
def test_an_upstream_that_cannot_be_believed(start, configuration, authority, fault):
    names = ["DNS:other.test"] if fault == "another name" else ["IP:127.0.0.1"]
    identity = authority.issue("backend", *names, days=-1 if fault == "expired" else 2)
    service = RESTService(authority.server_context(identity))
    trusted = Authority(authority.folder / "b", "trusted") if fault == "unknown authority" else authority
    gateway = start(upstreams(configuration(), service, ca=str(trusted.file)))
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert answer.status == 503
    assert not service.requests
    assert handshakes(gateway, "certificate", "turnout_upstream_tls_handshakes_total") >= 1
    assert "other.test" not in answer.body.decode()
    line = gateway.access_log()[-1]
    reason = {"another name": "IP address mismatch; it is for other.test",
              "unknown authority": "unable to get local issuer certificate",
              "expired": "certificate has expired"}[fault]
    assert reason in line + gateway.log()


def test_a_server_name_of_its_own(start, configuration, authority):
    asked = []
    context = authority.server_context(authority.issue("inner", "DNS:inner.test"))
    context.sni_callback = lambda connection, name, _: asked.append(name)
    service = RESTService(context)
    gateway = start(upstreams(configuration(), service, ca=str(authority.file), server_name="inner.test"))
    assert gateway.fetch("GET", "/v1/books/b1").status == 200
    assert set(asked) == {"inner.test"}


# What lasts.


def test_a_websocket_over_tls_on_both_sides(start, secured, authority, server):
    def echo(socket):
        for message in socket:
            socket.send(message)

    with serve(echo, "127.0.0.1", 0, max_size=None, ssl=authority.server_context(server)) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        setup = secured(fallback="echo")
        endpoint = "https://127.0.0.1:%d" % service.socket.getsockname()[1]
        setup["upstreams"]["echo"] = {"protocol": "rest", "endpoints": [endpoint], "tls": {"ca": str(authority.file)}}
        gateway = start(setup)
        with connect("wss://localhost:%d/socket" % gateway.address[1], max_size=None, ssl=authority.client_context(),
                     sock=socket.create_connection(gateway.address)) as client:
            for message in ["", "a", "ü" * 1000, os.urandom(70_000), os.urandom(4 << 20)]:
                client.send(message)
                assert client.recv(30) == message
            assert client.ping().wait(30)
        service.shutdown()


def test_a_running_request_finishes_and_the_session_ends_well(start, secured, authority, rest):
    # One loop: when it has closed the idle connection it drains the other one, too.
    gateway = start(secured(workers=1))
    release = threading.Event()

    def slow(request):
        release.wait(60)
        return Reply.json(book("slow"))

    rest.answers(slow)
    with (Wire(gateway.address, tls=authority.client_context()) as running,
          Wire(gateway.address, tls=authority.client_context()) as idle):
        running.send(request_bytes("GET", "/v1/books/slow", host="localhost"))
        rest.wait_for(1)
        gateway.signal(signal.SIGTERM)
        assert idle.is_closed()
        release.set()
        answer = running.answer()
        assert answer.json() == book("slow") and answer.closes
        # An end without close-notify would raise SSLEOFError here.
        assert running.socket.recv(1) == b""
    assert gateway.process.wait(30) == 0


# Files that change.


def serial(gateway, authority):
    """Of the certificate that a new client is shown."""
    with Wire(gateway.address, tls=authority.client_context()) as wire:
        return wire.socket.getpeercert()["serialNumber"]


def test_a_new_certificate_while_a_connection_stays(start, secured, authority, rest):
    gateway = start(secured())
    before = serial(gateway, authority)
    with Wire(gateway.address, tls=authority.client_context()) as wire:
        assert wire.request("GET", "/v1/books/b1", host="localhost").status == 200
        authority.issue("server", "DNS:localhost", "IP:127.0.0.1")
        wait_until(lambda: serial(gateway, authority) != before, what="the new certificate")
        assert wire.request("GET", "/v1/books/b2", host="localhost").json() == book("b2")
        assert wire.socket.getpeercert()["serialNumber"] == before
    assert "error" not in gateway.log()


def test_a_certificate_that_does_not_load_leaves_the_old_one(start, secured, authority, server, rest):
    gateway = start(secured())
    before = serial(gateway, authority)
    key = open(server["key"]).read()
    other = Authority(authority.folder / "b", "other").issue("other", "DNS:localhost")
    with open(server["key"], "w") as file:
        file.write(open(other["key"]).read())
    wait_until(lambda: gateway.metric("turnout_config_reloads_total", outcome="failed") >= 1, what="a failed reload")
    wait_until(lambda: "is not the key of the certificate" in gateway.log(), what="the reason in the log")
    assert serial(gateway, authority) == before
    check = run("check", "--config", gateway.file)
    assert check.returncode == 1
    assert re.search(r"turnout\.yaml:\d+:\d+: error: the key .*server\.key cannot be used: it is not the key",
                     check.stderr)
    for text in (check.stderr, gateway.log()):
        assert "BEGIN" not in text and key.splitlines()[1] not in text
    with open(server["key"], "w") as file:
        file.write(key)
    wait_until(lambda: gateway.metric("turnout_config_reloads_total", outcome="ok") >= 1, what="a good reload")
    assert serial(gateway, authority) == before


def test_a_listener_goes_over_to_tls(start, configuration, authority, server, rest):
    setup = configuration()
    gateway = start(setup)
    with gateway.connect() as plain:
        assert plain.request("GET", "/v1/books/b1").status == 200
        setup["listeners"][0]["tls"] = server
        gateway.write(setup)
        assert gateway.admin("POST", "/reload").status == 200
        wait_until(lambda: _speaks_tls(gateway, authority), what="TLS")
        # The other loop, too: its turn comes with one of the next connections.
        assert plain.request("GET", "/v1/books/b2").status == 200


def _speaks_tls(gateway, authority):
    try:
        return all(serial(gateway, authority) for _ in range(8))
    except (ssl.SSLError, OSError):
        return False


def test_metrics_tell_when_certificates_end(start, configuration, authority):
    """By their files; of a file that is used no more the figure is 0, which no alert takes for an end."""
    tls = authority.issue("server", "DNS:localhost")
    gateway = start(configuration(listeners=[{"address": "127.0.0.1:0"}, {"address": "127.0.0.1:0", "tls": tls}]))
    file = tls["certificate"]
    left = gateway.metric("turnout_certificate_not_after_seconds", file=file) - time.time()
    assert 86_400 < left <= 2 * 86_400
    assert "renew it" not in gateway.log()
    gateway.write(configuration())
    assert gateway.admin("POST", "/reload").status == 200
    assert gateway.metric("turnout_certificate_not_after_seconds", file=file) == 0
