"""Interceptors on every kind of traffic: passed on, translated both ways, the fallback, WebSocket tunnels."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from connectrpc.client import ResponseMetadata
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.rpc.error_details_pb2 import RetryInfo
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.sync.server import serve

from support.gateway import run, wait_until
from support.rest_service import Reply, book
from support.schema import SERVICE

ORIGIN = ("Origin", "https://app.example")
PREFLIGHT = [ORIGIN, ("Access-Control-Request-Method", "POST")]
SECRET = "s3cr3t-of-the-test"


@pytest.fixture
def echo():
    """A WebSocket service that sends everything back; the requests that it saw."""
    seen = []

    def handle(socket):
        seen.append(socket.request)
        for message in socket:
            socket.send(message)

    with serve(handle, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield "http://127.0.0.1:%d" % server.socket.getsockname()[1], seen
        server.shutdown()


def names(answer, field):
    return {name.strip().lower() for value in answer.all(field) for name in value.split(",")}


def with_interceptors(configuration, *interceptors, **more):
    return configuration(interceptors=[{"access_log": {"format": "json"}}, *interceptors], **more)


# Headers.

COMMON = {"headers": {
    "request": {"set": {"x-app-version": "5.2.0", "authorization": "Bearer ${env:COMMON}"}, "remove": ["x-internal"]},
    "response": {"set": {"x-served-by": "gateway"}, "remove": ["x-debug"]},
}}


@pytest.mark.parametrize("stage", ["rest", "rpc"])
def test_a_common_header_is_added_once_for_every_caller(start, configuration, rest, rpc, client_of, pb, stage):
    gateway = start(
        with_interceptors(configuration, COMMON, stage=stage, fallback="legacy"), environment={"COMMON": SECRET})

    def debug(call, context):
        context.response_headers.add("x-debug", "1")

    rpc.script = debug
    rest.answers(lambda _: Reply.json(book("b1"), 200, [("X-Debug", "1"), ("X-Served-By", "me")]))
    fields = [("X-Internal", "1"), ("Authorization", "mine"), ("X-App-Version", "1")]
    answer = gateway.fetch("GET", "/v1/books/b1", fields)
    assert (answer.status, answer.all("x-served-by"), answer.all("x-debug")) == (200, ["gateway"], [])
    with ResponseMetadata() as metadata:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"), headers={"x-internal": "1", "authorization": "mine"})
    assert metadata.headers.getall("x-served-by") == ["gateway"]
    assert "x-debug" not in metadata.headers
    for found in [call.headers for call in rpc.calls] + rest.requests:
        value = found["authorization"]
        assert (value, found["x-app-version"]) == (f"Bearer {SECRET}", "5.2.0")
    assert len(rpc.calls) + len(rest.requests) == 2
    assert not any("x-internal" in call.headers for call in rpc.calls)
    assert not any(request["x-internal"] for request in rest.requests)
    assert gateway.fetch("GET", "/unknown", fields)["x-served-by"] == "gateway"
    assert rest.requests[-1]["authorization"] == f"Bearer {SECRET}"


def test_secrets_are_shown_nowhere(start, configuration):
    setup = with_interceptors(
        configuration, COMMON, {"headers": {"request": {"set": {"user-agent": "${env:COMMON}"}}}})
    setup["upstreams"]["legacy"]["headers"] = {"set": {"x-key": "key ${env:COMMON}"}}
    environment = {"COMMON": SECRET}
    gateway = start(setup, environment=environment)
    assert gateway.fetch("GET", "/v1/books/b1").status == 200
    explained = run("explain", "--config", gateway.file, "GET", "/v1/books/b1", environment=environment)
    assert explained.returncode == 0, explained.stderr
    assert "x-app-version: 5.2.0" in explained.stdout
    assert "x-key: (hidden)" in explained.stdout and "user-agent: (hidden)" in explained.stdout
    gateway.access_log()
    shown = [
        explained.stdout, explained.stderr, gateway.log(), gateway.stdout.read_text(),
        gateway.admin("GET", "/routes").body.decode(), gateway.admin("GET", "/metrics").body.decode(),
        run("routes", "--config", gateway.file, "--json", environment=environment).stdout,
        run("check", "--config", gateway.file, environment=environment).stderr,
    ]
    assert not [text for text in shown if SECRET in text]


def test_an_upstream_has_headers_of_its_own(start, configuration, rest, rpc):
    setup = configuration(methods={"ListBooks": {"stage": "rpc"}})
    setup["upstreams"]["legacy"]["headers"] = {"set": {"x-side": "legacy"}, "remove": ["x-internal"]}
    setup["upstreams"]["content"]["headers"] = {"add": {"x-side": ["a", "b"]}}
    gateway = start(setup)
    fields = [("X-Side", "c"), ("X-Internal", "1")]
    gateway.fetch("GET", "/v1/books/b1", fields)
    gateway.fetch("GET", "/v1/books", fields)
    assert (rest.only().all("x-side"), rest.only()["x-internal"]) == (["legacy"], None)
    assert [value for name, value in rpc.only().scope["headers"] if name == b"x-side"] == [b"c", b"a", b"b"]


# Request ids.

@pytest.mark.parametrize("stage", ["rest", "rpc"])
def test_a_request_id_is_the_same_everywhere(start, configuration, rest, rpc, stage):
    gateway = start(with_interceptors(configuration, {"request_id": {}}, stage=stage))
    made = gateway.fetch("GET", "/v1/books/b1")["x-request-id"]
    kept = gateway.fetch("GET", "/v1/books/b1", [("X-Request-Id", "mine_1.A-z")])["x-request-id"]
    bad = gateway.fetch("GET", "/v1/books/b1", [("X-Request-Id", "no no")])["x-request-id"]
    refused = gateway.fetch("GET", "/nowhere", [("X-Request-Id", "refused")])
    assert (refused.status, refused["x-request-id"]) == (404, "refused")
    assert kept == "mine_1.A-z" and bad != "no no"
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in (made, bad)) and made != bad
    backend = [request["x-request-id"] for request in rest.requests] or [c.headers["x-request-id"] for c in rpc.calls]
    assert backend == [made, kept, bad]
    logged = [re.search('"request_id":"([^"]*)"', line)[1] for line in gateway.access_log(4)]
    # Each loop writes its own lines.
    assert sorted(logged) == sorted([made, kept, bad, "refused"])


# Keys.

def test_keys_come_from_a_file_and_can_be_changed(start, configuration, rest, client_of, pb, tmp_path):
    keys = tmp_path / "keys.txt"
    keys.write_text("# The phone apps.\nkey-of-the-phones\n\nkey-of-the-web\n")
    gateway = start(with_interceptors(configuration, {"api_key": {"keys": "${file:%s}" % keys}}))

    def ask(key):
        return gateway.fetch("GET", "/v1/books/b1", [("X-Api-Key", key)]).status

    assert [ask(key) for key in ("key-of-the-phones", "key-of-the-web", "key-of-the-tv", "# The phone apps.")] == [
        200, 200, 401, 401]
    assert not any(request["x-api-key"] for request in rest.requests)
    client = client_of(gateway)
    assert client.get_book(pb.GetBookRequest(id="b1"), headers={"x-api-key": "key-of-the-web"}).id == "b1"
    with pytest.raises(ConnectError) as fault:
        client.get_book(pb.GetBookRequest(id="b1"))
    assert fault.value.code == Code.UNAUTHENTICATED
    keys.write_text("key-of-the-tv\n")
    wait_until(lambda: ask("key-of-the-tv") == 200, what="the new key")
    # Each loop takes it over by itself.
    wait_until(lambda: ask("key-of-the-web") == 401, what="the end of the old key")
    assert "key-of" not in gateway.log() + gateway.stdout.read_text()


def test_a_key_in_the_query_reaches_no_backend(start, configuration, rest, rpc):
    setup = with_interceptors(
        configuration, {"api_key": {"keys": ["k1"], "query": "key"}}, methods={"ListBooks": {"stage": "rpc"}})
    gateway = start(setup)
    assert gateway.fetch("GET", "/v1/books/b1?a=1&key=k1&b=2").status == 200
    assert rest.only().target == "/v1/books/b1?a=1&b=2"
    # The strict query of a translated call does not know the name; it does not see it.
    assert gateway.fetch("GET", "/v1/books?key=k1").status == 200
    assert gateway.fetch("GET", "/v1/books?key=k2").status == 401


# Rates.

def test_a_limit_is_for_all_workers_together(start, configuration, rest):
    limit = {"rate_limit": {"requests": 25, "per": "1h", "key": "header:x-user"}}
    gateway = start(with_interceptors(configuration, limit))

    def ask(user):
        return user, gateway.fetch("GET", "/v1/books/b1", [("X-User", user)]).status

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, ["a", "b", "c", "d"] * 50))
    for user in "abcd":
        assert sorted(status for name, status in answers if name == user) == [200] * 25 + [429] * 25
    assert len(rest.requests) == 100
    assert gateway.metric("turnout_rate_limited_total", service=SERVICE, method="GetBook") == 100
    # A reload of an unchanged limit forgets nothing.
    assert gateway.admin("POST", "/reload").status == 200
    gateway.write(with_interceptors(configuration, limit, stage="rpc"))
    gateway.admin("POST", "/reload")
    assert ask("a") == ("a", 429)


def test_the_official_client_is_told_when_to_come_back(start, configuration, client_of, pb):
    gateway = start(with_interceptors(configuration, {"rate_limit": {"requests": 1, "per": "30s"}}))
    client = client_of(gateway)
    client.get_book(pb.GetBookRequest(id="b1"))
    with ResponseMetadata() as metadata, pytest.raises(ConnectError) as fault:
        client.get_book(pb.GetBookRequest(id="b1"))
    assert fault.value.code == Code.RESOURCE_EXHAUSTED
    assert 1 <= int(metadata.headers["retry-after"]) <= 30
    assert [detail.type_name for detail in fault.value.details] == ["google.rpc.RetryInfo"]
    info = RetryInfo.FromString(fault.value.details[0].message_bytes)
    assert 0 < info.retry_delay.ToTimedelta().total_seconds() <= 30
    with pytest.raises(ConnectError) as fault:
        list(client.watch_books(pb.WatchBooksRequest(count=1)))
    assert fault.value.code == Code.RESOURCE_EXHAUSTED
    # REST callers of the same address have the same bucket.
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer["ratelimit-limit"], answer["ratelimit-remaining"]) == (429, "1", "0")
    assert answer.json()["details"][0]["@type"].endswith("google.rpc.RetryInfo")


def test_a_bucket_fills_again(start, configuration):
    gateway = start(with_interceptors(configuration, {"rate_limit": {"requests": 1, "per": "300ms"}}))
    assert gateway.fetch("GET", "/v1/books/b1").status == 200
    wait_until(lambda: gateway.fetch("GET", "/v1/books/b1").status == 200, what="the next token")


# Origins.

CORS = {"cors": {"origins": [ORIGIN[1]], "expose": ["x-rows"], "credentials": True}}


@pytest.mark.parametrize("target", [f"/{SERVICE}/GetBook", "/v1/shelves/s/books", "/legacy"])
def test_a_browser_may_ask(start, configuration, rest, target):
    gateway = start(with_interceptors(configuration, CORS, {"api_key": {"keys": ["k"]}}, fallback="legacy"))
    answer = gateway.fetch("OPTIONS", target, [*PREFLIGHT, ("Access-Control-Request-Headers", "content-type")])
    assert (answer.status, answer.body) == (204, b"")
    assert answer["access-control-allow-origin"] == ORIGIN[1]
    assert answer["access-control-allow-credentials"] == "true"
    assert "POST" in answer["access-control-allow-methods"]
    assert {"content-type", "connect-protocol-version", "authorization"} <= names(
        answer, "access-control-allow-headers")
    assert "origin" in names(answer, "vary")
    # What is refused afterwards can be read by the script.
    refused = gateway.fetch("POST", target, [ORIGIN, ("Content-Type", "application/json")], b"{}")
    assert (refused.status, refused["access-control-allow-origin"]) == (401, ORIGIN[1])
    assert {"x-rows", "trailer-x-rows", "grpc-status"} <= names(refused, "access-control-expose-headers")
    assert not rest.requests


def test_the_fallbacks_own_options_pass(start, configuration, rest):
    gateway = start(with_interceptors(configuration, CORS, fallback="legacy"))
    rest.answers(Reply(200, [("Allow", "GET"), ("Access-Control-Allow-Origin", "*")]))
    answer = gateway.fetch("OPTIONS", "/legacy")
    assert (answer.status, answer["allow"], answer["access-control-allow-origin"]) == (200, "GET", None)
    assert rest.only().method == "OPTIONS"


# Tunnels.

def test_tunnels_go_through_the_chain(start, configuration, echo):
    setup = with_interceptors(
        configuration, {"request_id": {}}, {"api_key": {"keys": ["k1"], "query": "key"}},
        {"rate_limit": {"requests": 2, "per": "1h"}}, COMMON, fallback="echo")
    setup["upstreams"]["echo"] = {"protocol": "rest", "endpoints": [echo[0]]}
    gateway = start(setup, environment={"COMMON": SECRET})
    address = "ws://%s:%d/socket" % gateway.address
    with pytest.raises(InvalidStatus) as fault:
        connect(address)
    assert fault.value.response.status_code == 401
    for _ in range(2):
        with connect(f"{address}?key=k1&room=1") as socket:
            socket.send("hello")
            assert socket.recv(30) == "hello"
            assert socket.response.headers["x-served-by"] == "gateway"
            name = socket.response.headers["x-request-id"]
        assert (echo[1][-1].path, echo[1][-1].headers["x-request-id"]) == ("/socket?room=1", name)
        assert echo[1][-1].headers["authorization"] == f"Bearer {SECRET}"
    with pytest.raises(InvalidStatus) as fault:
        connect(f"{address}?key=k1")
    assert fault.value.response.status_code == 429
    assert "retry-after" in fault.value.response.headers


# Places.

def test_a_service_and_a_method_add_their_own(start, configuration, rest):
    def tag(name):
        return {"headers": {"request": {"add": {"x-tag": name}}}}

    setup = with_interceptors(
        configuration, tag("global"), service={"interceptors": [tag("service")]},
        methods={"GetBook": {"interceptors": [tag("method"), {"api_key": {"keys": ["k"]}}]}}, fallback="legacy")
    gateway = start(setup)
    assert gateway.fetch("GET", "/v1/books/b1").status == 401
    gateway.fetch("GET", "/v1/books/b1", [("X-Api-Key", "k")])
    gateway.fetch("GET", "/v1/books")
    gateway.fetch("GET", "/other")
    assert [request.all("x-tag") for request in rest.requests] == [
        ["global", "service", "method"], ["global", "service"], ["global"]]
    # Each loop writes its own lines.
    (refused,) = [line for line in gateway.access_log(4) if '"status":401' in line]
    assert '"code":"unauthenticated"' in refused
