"""The admin endpoint before strangers: web pages with names of their own, floods, halves of requests, bodies that are none."""

import contextlib
import json
import socket

import pytest

from support.gateway import wait_until
from support.schema import SERVICE
from support.wire import fetch

TOKEN = "s3cret-token"
BEARER = ("Authorization", f"Bearer {TOKEN}")
STAGE = f"/routes/{SERVICE}/GetBook/stage"
READS = ["/routes", f"/routes/{SERVICE}/GetBook", f"/routes/{SERVICE}/GetBook/samples", "/metrics", "/upstreams", "/audit"]


@pytest.fixture(scope="module")
def admin(configuration, tmp_path_factory):
    from support.gateway import Gateway

    gateway = Gateway(
        tmp_path_factory.mktemp("admin"), configuration(admin={"address": "127.0.0.1:0", "token": TOKEN}))
    yield gateway
    assert gateway.stop() == 0


@pytest.fixture
def gateway(admin):
    yield admin
    assert admin.admin("GET", "/healthz").status == 200
    assert {route["stage"] for route in admin.admin("GET", "/routes").json()["routes"]} == {"rest"}
    assert admin.admin("GET", "/audit").json()["changes"] == []


@pytest.mark.parametrize("path", READS)
def test_a_page_that_rebinds_its_name_reads_nothing(gateway, path):
    port = gateway.admin_address[1]
    for host in (f"evil.example:{port}", "evil.example", f"127.0.0.1.evil.example:{port}"):
        answer = fetch(gateway.admin_address, "GET", path, [("Host", host)])
        assert answer.status == 403 and str(port) in answer.json()["error"], answer
        assert fetch(gateway.admin_address, "GET", path, [("Host", host), BEARER]).status == 200
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost:9999", "turnout-admin"):
        answer = fetch(gateway.admin_address, "GET", path, [("Host", host)])
        assert answer.status == 200
        assert (answer["x-content-type-options"], answer["cache-control"]) == ("nosniff", "no-store")
        assert answer["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("fields", [
    [("Origin", "http://evil.example")], [("Origin", "null")], [("Host", "evil.example")],
    [("Content-Type", "text/plain")], [("Content-Type", "text/plain;application/json")], [("Content-Type", "application/jsonp")],
    [("Authorization", "Bearer x")], [("Authorization", TOKEN)], [("Authorization", "Basic " + TOKEN)],
    [("Authorization", f"Bearer {TOKEN}x")], [("Authorization", f"Bearer {TOKEN[:-1]}")],
], ids=str)
@pytest.mark.parametrize("method, path, body", [
    ("PUT", STAGE, b'{"stage":"rpc"}'), ("DELETE", STAGE, b"{}"), ("PUT", STAGE.replace("/stage", "/hold"), b'{"held":true}'),
    ("POST", "/reload", b"{}"),
], ids=["stage", "clear", "hold", "reload"])
def test_each_change_is_guarded_alike(gateway, method, path, body, fields):
    names = {name.lower() for name, _ in fields}
    usual = [("Host", "%s:%d" % gateway.admin_address), ("Content-Type", "application/json"), BEARER]
    answer = fetch(gateway.admin_address, method, path, [*fields, *(one for one in usual if one[0].lower() not in names)], body)
    assert answer.status in (401, 403, 415) and answer.json()["error"], answer
    assert TOKEN not in answer.body.decode()


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"])
def test_other_methods_are_405_and_say_which_are_not(gateway, method):
    for path in ["/", *READS]:
        answer = fetch(gateway.admin_address, method, path, [("Host", "localhost"), BEARER, ("Content-Type", "application/json")])
        assert answer.status == 405 and answer["allow"] == "GET, HEAD", (path, answer)


HEAD = b"GET /routes HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize("sent, statuses", [
    (b"\0" * 64, {400}), (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 505}), (b"\x16\x03\x01\x02\x00\x01", {400}),
    (HEAD + b"Host: evil.example\r\n\r\n", {400}), (HEAD + b"X: a\r\n b\r\n\r\n", {400}), (HEAD + b"X\0: a\r\n\r\n", {400}),
    (b"GET /routes HTTP/1.1\r\n\r\n", {400}), (b"GET http://evil.example/routes HTTP/1.1\r\nHost: localhost\r\n\r\n", {403}),
    (b"GET http://evil.example/routes HTTP/1.1\r\nHost: evil.example\r\n\r\n", {403}),
    (HEAD + b"X: " + b"a" * 20_000 + b"\r\n\r\n", {431}), (HEAD + b"X: a\r\n" * 100 + b"\r\n", {431}),
    (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", {414, 431}),
    (b"CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n", {400, 404, 405, 501}),
    (b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", {404, 405}),
    (HEAD.replace(b"GET", b"POST") + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
    (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", {400}), (HEAD + b"Content-Length: -1\r\n\r\n", {400}),
    (HEAD + b"Content-Length: 99999999999999999999\r\n\r\n", {400, 413}), (HEAD + b"Content-Length: 65537\r\n\r\n", {413}),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"ffff\r\n" + b"a" * 65_535 + b"\r\nff\r\n" + b"a" * 255, {413}),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", {400, 413}),
    (b"GET /routes/%00/x HTTP/1.1\r\nHost: localhost\r\n\r\n", {404}), (b"GET /routes/%ff%2f%fe HTTP/1.1\r\nHost: localhost\r\n\r\n", {404}),
    (b"GET /routes/../metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", {400, 404}), (b"GET //routes HTTP/1.1\r\nHost: localhost\r\n\r\n", {404}),
], ids=lambda value: repr(value)[:40] if isinstance(value, bytes) else None)
def test_what_is_no_request_gets_an_error_and_the_end(gateway, sent, statuses):
    with socket.create_connection(gateway.admin_address, timeout=30) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        while part := client.recv(65_536):
            answer += part
    status = int(answer.split(b" ", 2)[1])
    assert status in statuses, answer[:400]
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


@pytest.mark.parametrize("body", [
    b"", b"null", b"[]", b'"rpc"', b"[" * 60_000, b'{"stage":' * 6_000, b'{"stage":"rpc","stage":"rest"}', b'{"stage":"rpc"} {}',
    b'{"stage":"\xff\xfe"}', b'{"stage":"\\ud800"}', b'{"stage":"canary","percent":1e999}', b'{"stage":"canary","percent":-0.5}',
    b'{"stage":"canary","percent":NaN}', b'{"stage":"canary","percent":"5"}', b'{"stage":"canary","percent":true}',
    b'{"stage":"rpc","percent":5}', b'{"stage":"rpc","reason":7}', b'{"stage":"RPC"}', b'{"stage":"rpc\\u0000"}',
    b'{"stage":"rpc","reason":"' + b"x" * 257 + b'"}', b'{"stage":"rpc","constructor":1}', b"\xef\xbb\xbf{}",
], ids=lambda body: repr(body)[:40])
def test_bodies_that_say_nothing_change_nothing(gateway, body):
    answer = gateway.admin("PUT", STAGE, body, [BEARER])
    assert answer.status == 400 and answer.json()["error"], answer
    assert len(answer.body) < 1_000


def test_a_reason_breaks_no_line_and_fools_no_terminal(start, configuration, rest, rpc):
    gateway = start(configuration(admin={"address": "127.0.0.1:0", "token": TOKEN}, audit={"path": "audit.log"}, log="text"))
    reason = "a\nerror: forged\r\x1b[2J\u2028\u202e event=stage_change \x7f"
    answer = gateway.admin("PUT", STAGE, {"stage": "rpc", "reason": reason}, [BEARER, ("User-Agent", "x\ty \x80")])
    assert answer.status == 200
    wait_until(lambda: "forged" in gateway.log(), what="the line")
    lines = [line for line in gateway.log().split("\n") if "forged" in line]
    assert len(lines) == 1 and not any(mark in lines[0] for mark in "\r\x1b\x7f\u2028\u202e"), lines
    wait_until(lambda: (gateway.folder / "audit.log").exists() and (gateway.folder / "audit.log").read_text(), what="the audit log")
    line, rest = (gateway.folder / "audit.log").read_text().split("\n")
    assert json.loads(line)["reason"] == reason and rest == ""
    from support.gateway import run

    shown = run("report", "--admin", gateway.admin_url, environment={"TURNOUT_ADMIN_TOKEN": TOKEN}).stdout
    assert not any(mark in shown for mark in "\r\x1b\x7f\u2028\u202e")


@pytest.mark.parametrize("said", [b"", b"GET /routes HT", HEAD + b"Content-Length: 10\r\n\r\nabc"], ids=["silence", "half a head", "half a body"])
def test_strangers_who_hold_all_connections_keep_nobody_out(gateway, said):
    with contextlib.ExitStack() as held:
        for _ in range(400):
            client = held.enter_context(socket.create_connection(gateway.admin_address, timeout=30))
            client.sendall(said)
        for path in ("/healthz", "/readyz", "/metrics"):
            assert fetch(gateway.admin_address, "GET", path, [("Host", "localhost")]).status == 200
        assert gateway.descriptors() < 400
    wait_until(lambda: gateway.descriptors() < 200, what="the end of the connections")


def test_who_reads_no_answers_is_not_asked_for(gateway):
    """Thousands of requests behind one another, no answer read: the endpoint holds one at a time."""
    before = gateway.resident_bytes()
    with socket.create_connection(gateway.admin_address, timeout=30) as client:
        client.settimeout(2)
        with contextlib.suppress(TimeoutError):
            while True:
                client.sendall((HEAD + b"\r\n") * 1_000)
        assert fetch(gateway.admin_address, "GET", "/healthz", [("Host", "localhost")]).status == 200
        assert gateway.resident_bytes() - before < 32 << 20
