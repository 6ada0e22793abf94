"""The admin endpoint over TLS: who is let in, the command with an authority of its own, new certificates by a reload."""

import socket
import ssl
import subprocess

import pytest

from support.certificates import Authority
from support.gateway import run, wait_until
from support.schema import SERVICE
from support.wire import Wire, fetch

STAGE = f"/routes/{SERVICE}/GetBook/stage"
TOKEN = "s3cret-token"
BEARER = ("Authorization", f"Bearer {TOKEN}")
JSON = ("Content-Type", "application/json")


@pytest.fixture
def secured(authority, configuration, start):
    def make(names=("DNS:localhost", "IP:127.0.0.1"), identity=None, **more):
        tls = {**authority.issue("admin", *names), **more}
        return start(
            configuration(admin={"address": "127.0.0.1:0", "token": TOKEN, "tls": tls}),
            admin_tls=authority.client_context(identity))

    return make


def test_the_command_moves_a_route(secured, authority):
    gateway = secured()
    arguments = ["stage", f"{SERVICE}/GetBook", "rpc", "--admin", gateway.admin_url]
    token = {"TURNOUT_ADMIN_TOKEN": TOKEN}
    done = run(*arguments, "--ca", authority.file, environment=token)
    assert (done.returncode, done.stdout) == (0, f"{SERVICE}/GetBook: rpc\n"), done.stderr
    unknown = run(*arguments, environment=token)
    assert unknown.returncode == 1 and "certificate" in unknown.stderr, unknown
    elsewhere = run(*arguments, "--ca", Authority(authority.folder / "other", "other").file, environment=token)
    assert elsewhere.returncode == 1 and "certificate" in elsewhere.stderr, elsewhere
    missing = run(*arguments, "--ca", authority.folder / "nothing.pem", environment=token)
    assert missing.returncode == 1 and "nothing.pem" in missing.stderr, missing
    plain = run("stage", f"{SERVICE}/GetBook", "rest", "--admin", gateway.admin_url.replace("https", "http"),
                environment=token)
    assert plain.returncode == 1 and "HTTPS" in plain.stderr, plain
    routes = {route["procedure"]: route["stage"] for route in gateway.admin("GET", "/routes").json()["routes"]}
    assert routes[f"{SERVICE}/GetBook"] == "rpc"


def test_curl_reads_and_writes_on_one_connection(secured, authority):
    gateway = secured()
    port = gateway.admin_address[1]
    done = subprocess.run(
        ["curl", "-sS", "-m", "20", "-w", "%{http_code} %{num_connects}\n", "-o", "/dev/null", "-o", "/dev/null",
         "--cacert",
         authority.file, "-H", f"authorization: Bearer {TOKEN}", "-H", "content-type: application/json",
         "-X", "PUT", "-d", '{"stage":"rpc"}', f"https://localhost:{port}{STAGE}", f"https://localhost:{port}{STAGE}"],
        capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["200", "1", "200", "0"], done


def test_hosts_and_origins_over_tls(secured):
    """A name that the certificate is for is the endpoint's own; every other is still refused."""
    gateway = secured(("DNS:localhost", "IP:127.0.0.1", "DNS:turnout.internal.example"))
    port = gateway.admin_address[1]

    def put(host, *fields):
        return fetch(gateway.admin_address, "PUT", STAGE, [("Host", host), BEARER, JSON, *fields], b'{"stage":"rpc"}',
                     tls=gateway.admin_tls).status

    own = f"turnout.internal.example:{port}"
    assert put(own) == 200
    assert put(own, ("Origin", f"https://{own}")) == 200
    assert put(own, ("Origin", f"http://{own}")) == 403
    assert put(own, ("Origin", "https://evil.example")) == 403
    assert put("evil.example") == 403
    assert put(f"evil.example:{port}") == 403
    assert put(f"localhost:{port}") == 200


def test_clients_without_a_certificate_stay_outside(authority, configuration, start):
    tls = {**authority.issue("admin", "DNS:localhost", "IP:127.0.0.1"), "client_ca": str(authority.file)}
    known = authority.client_context(authority.issue("operator"))
    gateway = start(
        configuration(admin={"address": "127.0.0.1:0", "token": TOKEN, "tls": tls}), admin_tls=known)
    assert gateway.admin("GET", "/routes").status == 200
    with pytest.raises((ssl.SSLError, ConnectionError)):
        fetch(gateway.admin_address, "GET", "/healthz", tls=authority.client_context())


def test_a_new_certificate_is_taken_and_open_connections_go_on(secured, authority):
    gateway = secured()
    with Wire(gateway.admin_address, tls=gateway.admin_tls) as old:
        before = old.socket.getpeercert()["serialNumber"]
        authority.issue("admin", "DNS:localhost", "IP:127.0.0.1")

        def serial():
            with Wire(gateway.admin_address, tls=gateway.admin_tls) as wire:
                return wire.socket.getpeercert()["serialNumber"]

        wait_until(lambda: serial() != before, what="the new certificate")
        assert old.request("GET", "/readyz").status == 200
    assert "with the next start only" not in gateway.log()


def test_what_is_no_tls_and_who_says_nothing(secured):
    gateway = secured()
    with Wire(gateway.admin_address) as wire:
        assert wire.request("GET", "/healthz").status == 400
    with socket.create_connection(gateway.admin_address) as silent, Wire(gateway.admin_address) as junk:
        junk.send(b"\x00" * 64)
        assert junk.is_closed()
        # Others are served while one says nothing.
        assert gateway.admin("GET", "/healthz").status == 200
        silent.close()
    body = b'{"stage":"rpc","reason":"' + b"x" * 60_000 + b'"}'
    answer = fetch(gateway.admin_address, "PUT", STAGE, [
        ("Host", "localhost:%d" % gateway.admin_address[1]), BEARER, JSON], body, tls=gateway.admin_tls)
    assert answer.status == 400 and "reason" in answer.json()["error"]
