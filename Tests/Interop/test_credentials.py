"""The gateway's own credentials towards upstreams, with a token endpoint that counts, refuses and fails."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.echo_clients import CLIENTS
from support.gateway import wait_until
from support.http2 import HTTP2Client, HTTP2Upstream
from support.rest_service import Reply, RESTService, book
from support.wire import chunked

BOOK = "/v1/books/b1"
SECRET = "s3cr3t of the test"


class TokenEndpoint(RESTService):
    """Hands out `token-1`, `token-2` and so on."""

    def __init__(self):
        super().__init__()
        self.issued, self.life, self.status = 0, 3600, 200
        self.answers(self._issue)

    def _issue(self, request):
        if self.status != 200:
            return Reply.json({"error": "invalid_client", "error_description": SECRET}, self.status)
        self.issued += 1
        return Reply.json({"access_token": f"token-{self.issued}", "token_type": "Bearer", "expires_in": self.life})


@pytest.fixture
def endpoint():
    return TokenEndpoint()


def with_credentials(configuration, credentials, stage="rest", **more):
    setup = configuration(stage, **more)
    setup["upstreams"]["legacy" if stage == "rest" else "content"]["credentials"] = credentials
    return setup


def oauth2(endpoint, **more):
    return {"oauth2": {
        "token_url": f"{endpoint.url}/oauth/token?v=1", "client_id": "turn:out", "client_secret": "${env:SECRET}", **more}}


def start_with(start, configuration, endpoint, stage="rest", **more):
    setup = with_credentials(configuration, oauth2(endpoint, **more), stage)
    return start(setup, environment={"SECRET": SECRET})


def test_a_static_value_takes_the_place_of_what_callers_send(start, configuration, rest):
    credentials = {"static": {"header": "X-Api-Key", "value": "${env:SECRET}"}}
    gateway = start(with_credentials(configuration, credentials), environment={"SECRET": SECRET})
    assert gateway.fetch("GET", BOOK, [("X-API-KEY", "mine"), ("Authorization", "mine")]).status == 200
    assert (rest.only().all("x-api-key"), rest.only()["authorization"]) == ([SECRET], "mine")
    assert SECRET not in gateway.admin("GET", "/routes").body.decode() + gateway.log()


def test_a_file_is_read_anew_when_it_changes(start, configuration, rest, tmp_path):
    file = tmp_path / "token"
    file.write_text("first\n")
    gateway = start(with_credentials(configuration, {"file": {"path": str(file)}}))
    gateway.fetch("GET", BOOK)
    assert rest.requests[-1]["authorization"] == "Bearer first"
    new = tmp_path / "new"
    new.write_text("second")
    new.replace(file)
    wait_until(
        lambda: gateway.fetch("GET", BOOK) and rest.requests[-1]["authorization"] == "Bearer second",
        what="the new token")
    new.write_text("")
    new.replace(file)
    wait_until(lambda: "cannot be used: it is empty" in gateway.log(), what="the failed reload")
    gateway.fetch("GET", BOOK)
    assert rest.requests[-1]["authorization"] == "Bearer second"


@pytest.mark.parametrize("authentication", ["basic", "post"])
def test_one_token_is_fetched_for_all_calls(start, configuration, rest, endpoint, authentication):
    gateway = start_with(
        start, configuration, endpoint, scopes=["a", "b"], audience="depot & co", client_auth=authentication)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: gateway.fetch("GET", BOOK, [("Authorization", "mine")]).status, range(64)))
    assert answers == [200] * 64
    assert {tuple(request.all("authorization")) for request in rest.requests} == {("Bearer token-1",)}
    request = endpoint.only()
    assert (request.method, request.target) == ("POST", "/oauth/token?v=1")
    form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    credentials = {"client_id": "turn:out", "client_secret": SECRET} if authentication == "post" else {}
    assert form == {
        "grant_type": "client_credentials", "scope": "a b", "audience": "depot & co", **credentials}
    if authentication == "basic":
        import base64
        assert base64.b64decode(request["authorization"].split()[1]) == b"turn%3Aout:s3cr3t%20of%20the%20test"


def test_a_token_is_fetched_ahead_of_its_end(start, configuration, rest, endpoint):
    endpoint.life = 2
    gateway = start_with(start, configuration, endpoint)
    end = time.monotonic() + 5
    while time.monotonic() < end and endpoint.issued < 3:
        assert gateway.fetch("GET", BOOK).status == 200
    assert endpoint.issued >= 3


@pytest.mark.parametrize("stage", ["rest", "rpc"])
def test_a_refused_token_is_replaced_and_the_call_sent_once_more(
    start, configuration, rest, rpc, client_of, pb, endpoint, stage
):
    refused = {"Bearer token-1"}

    def rest_backend(request):
        if request["authorization"] in refused:
            return Reply.json({"message": "token revoked"}, 401)
        return Reply.json(book("b1"))

    def rpc_backend(call, context):
        if call.headers["authorization"] in refused:
            raise ConnectError(Code.UNAUTHENTICATED, "token revoked")

    rest.answers(rest_backend)
    rpc.script = rpc_backend
    gateway = start_with(start, configuration, endpoint, stage)
    assert gateway.fetch("GET", BOOK).status == 200
    client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    calls = rest.requests if stage == "rest" else rpc.calls
    assert (endpoint.issued, len(calls)) == (2, 3)
    # Whatever token it gets, it refuses: one more fetch at most, one more try at most, and the refusal is passed on.
    refused |= {"Bearer token-2", "Bearer token-3", "Bearer token-4"}
    answer = gateway.fetch("GET", BOOK)
    assert answer.status == 401
    assert endpoint.issued <= 3 and len(calls) <= 5
    for _ in range(10):
        assert gateway.fetch("GET", BOOK).status == 401
    assert endpoint.issued <= 3 and len(calls) <= 16


@pytest.mark.parametrize("chunks", [None, 3], ids=["length", "chunked"])
def test_a_body_that_passed_through_is_sent_once_more(start, configuration, rest, endpoint, chunks):
    """A refused request was not acted on, whatever its method: its body is kept for that."""
    rest.answers(lambda request: Reply.json(
        {"message": "no"}, 401) if request["authorization"] == "Bearer token-1" else Reply.json({"sent": True}))
    gateway = start_with(start, configuration, endpoint)
    body = b'{"title":"' + b"x" * 60_000 + b'"}'
    fields = [("Content-Type", "application/json")]
    if chunks:
        sent = chunked([body[:1], body[1:30_000], body[30_000:]])
        answer = gateway.fetch("POST", "/v1/shelves/s1/books", [*fields, ("Transfer-Encoding", "chunked")], sent)
    else:
        answer = gateway.fetch("POST", "/v1/shelves/s1/books", fields, body)
    assert answer.status == 200, answer
    assert [request.body for request in rest.requests] == [body, body]
    assert endpoint.issued == 2


def test_a_body_that_is_too_long_to_be_kept_is_not_sent_twice(start, configuration, rest, endpoint):
    rest.answers(lambda request: Reply.json({"message": "no"}, 401))
    gateway = start_with(start, configuration, endpoint)
    answer = gateway.fetch(
        "POST", "/v1/shelves/s1/books", [("Content-Type", "application/json")], b'{"title":"' + b"x" * 70_000 + b'"}')
    assert answer.status == 401
    assert len(rest.requests) == 1
    # But the next calls get a newer token.
    wait_until(lambda: endpoint.issued == 2, what="a newer token")


def test_the_refusal_is_passed_on_whole_when_there_is_no_newer_token(start, configuration, rest, endpoint):
    gateway = start_with(start, configuration, endpoint)
    assert gateway.fetch("GET", BOOK).status == 200
    endpoint.status = 500
    body = b"x" * 300_000
    rest.answers(lambda request: Reply(401, [("Content-Type", "text/plain"), ("X-Kept", "1")], body))
    answer = gateway.fetch("GET", BOOK)
    assert (answer.status, answer["x-kept"], answer.body) == (401, "1", body)


def test_an_old_token_serves_until_its_end_while_the_endpoint_is_away(start, configuration, rest, endpoint):
    endpoint.life = 4
    gateway = start_with(start, configuration, endpoint)
    assert gateway.fetch("GET", BOOK).status == 200
    endpoint.status = 503
    wait_until(lambda: "cannot be fetched: the answer has status 503: invalid_client" in gateway.log(), what="a failure")
    assert gateway.fetch("GET", BOOK).status == 200
    answer = wait_until(
        lambda: (found := gateway.fetch("GET", BOOK)).status == 503 and found, what="the end of the old token")
    assert answer["retry-after"] == "1"
    assert SECRET not in gateway.log()
    endpoint.status = 200
    wait_until(lambda: gateway.fetch("GET", BOOK).status == 200, what="a new token")


def test_calls_wait_for_the_first_token(start, configuration, rest, endpoint):
    released = threading.Event()
    issue = endpoint.script

    def slowly(request):
        released.wait(20)
        return issue(request)

    endpoint.answers(slowly)
    gateway = start_with(start, configuration, endpoint)
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(gateway.fetch, "GET", BOOK) for _ in range(8)]
        endpoint.wait_for(1)
        assert not rest.requests
        released.set()
        assert [answer.result(30).status for answer in answers] == [200] * 8
    assert endpoint.issued == 1


def test_a_refusal_of_grpc_in_an_answer_without_messages(start, echo_gateways, echo_schema, line, endpoint):
    def whole(exchange):
        if exchange["authorization"] == "Bearer token-1":
            return exchange.answer(200, [("content-type", "application/grpc"), ("grpc-status", "16")])
        reply = echo_schema.pb.Line(text="known").SerializeToString()
        exchange.answer(
            200, [("content-type", "application/grpc")], b"\0" + len(reply).to_bytes(4, "big") + reply,
            [("grpc-status", "0")])

    upstream = HTTP2Upstream(whole)
    setup = echo_gateways.configuration("grpc")
    setup["upstreams"]["echo"] |= {"endpoints": [upstream.url], "credentials": oauth2(endpoint)}
    gateway = start(setup, environment={"SECRET": SECRET})
    client = CLIENTS["connect"](echo_schema, gateway.address)
    assert client.call("Say", line()).line.text == "known"
    assert (len(upstream.exchanges), endpoint.issued) == (2, 2)
    client.close()
    upstream.close()


def framed(message, flags=0):
    return bytes([flags]) + len(message).to_bytes(4, "big") + message


class LateRefusals:
    """An upstream of each protocol that begins its answer well and says at its end that the token is not good."""

    def __init__(self, kind, reply, refused, before=b""):
        self.kind, self.reply, self.refused, self.before, self.tokens = kind, reply, refused, before, []
        if kind == "grpc":
            self.upstream = HTTP2Upstream(self._grpc)
        else:
            self.upstream = RESTService()
            self.upstream.answers(self._http1)
        self.settings = {"protocol": "connect" if kind == "connect" else kind, "endpoints": [self.upstream.url]}

    def _refuses(self, asked):
        self.tokens.append(asked["authorization"])
        return self.tokens[-1] in self.refused

    def _grpc(self, exchange):
        refuses = self._refuses(exchange)
        body = self.before if refuses else framed(self.reply)
        status = [("grpc-status", "16"), ("grpc-message", "token%20revoked")] if refuses else [("grpc-status", "0")]
        exchange.answer(200, [("content-type", "application/grpc"), ("x-kept", "1")], body, status)

    def _http1(self, request):
        refuses = self._refuses(request)
        message = self.before if refuses else framed(self.reply)
        if self.kind == "connect":
            error = {"error": {"code": "unauthenticated", "message": "token revoked"}} if refuses else {}
            end = framed(json.dumps(error).encode(), 2)
        else:
            status = b"grpc-status: 16\r\ngrpc-message: token%20revoked\r\n" if refuses else b"grpc-status: 0\r\n"
            end = framed(status, 0x80)
        type = request["content-type"]
        # In pieces, so that the end does not come with the head.
        return Reply(200, [("Content-Type", type), ("X-Kept", "1")], chunks=[message + end[:3], end[3:9], end[9:]])

    def close(self):
        if self.kind == "grpc":
            self.upstream.close()


@pytest.fixture
def refusing(start, echo_gateways, echo_schema, endpoint):
    made, clients = [], []

    def begin(kind, dialect, refused=("Bearer token-1",), before=b"", **more):
        reply = echo_schema.pb.Line(text="known").SerializeToString()
        upstream = LateRefusals(kind, reply, set(refused), before)
        setup = echo_gateways.configuration("grpc")
        setup["upstreams"]["echo"] = {**upstream.settings, "credentials": oauth2(endpoint), **more}
        gateway = start(setup, environment={"SECRET": SECRET})
        clients.append(CLIENTS[dialect](echo_schema, gateway.address))
        made.append(upstream)
        return upstream, clients[-1]

    yield begin
    for client in clients:
        client.close()
    for upstream in made:
        upstream.close()


@pytest.mark.parametrize("method", ["Say", "Hear"])
@pytest.mark.parametrize("dialect", ["connect", "grpc", "grpc-web"])
@pytest.mark.parametrize("kind", ["connect", "grpc", "grpc-web"])
def test_a_refusal_at_the_end_of_an_answer_without_messages(refusing, line, endpoint, kind, dialect, method):
    """As it passes through and as it is translated: the token is replaced once, and the call sent once more."""
    if kind == "connect" and method == "Say":
        pytest.skip("a unary error of Connect is a status")
    upstream, client = refusing(kind, dialect)
    answer = client.call(method, line())
    assert [line.text for line in answer.lines] == ["known"] and answer.code is None, answer
    assert upstream.tokens == ["Bearer token-1", "Bearer token-2"] and endpoint.issued == 2
    assert client.call(method, line()).code is None and upstream.tokens[2:] == ["Bearer token-2"]


@pytest.mark.parametrize("dialect", ["connect", "grpc", "grpc-web"])
@pytest.mark.parametrize("kind", ["connect", "grpc", "grpc-web"])
def test_an_upstream_that_refuses_every_token_at_the_end(refusing, line, endpoint, kind, dialect):
    """One more fetch and one more try, then its refusal is the answer, whole."""
    upstream, client = refusing(kind, dialect, [f"Bearer token-{number}" for number in range(1, 9)])
    for calls in range(1, 6):
        answer = client.call("Hear", line())
        assert (answer.code, answer.message, answer.lines) == ("unauthenticated", "token revoked", []), answer
        assert answer.headers.get("x-kept") == "1" or dialect != kind
    assert endpoint.issued == 2 and len(upstream.tokens) == 6


@pytest.mark.parametrize("kind", ["connect", "grpc", "grpc-web"])
def test_a_refusal_behind_a_message_is_passed_on(refusing, echo_schema, line, endpoint, kind):
    first = framed(echo_schema.pb.Line(text="first").SerializeToString())
    upstream, client = refusing(kind, kind, before=first)
    answer = client.call("Hear", line())
    assert ([line.text for line in answer.lines], answer.code) == (["first"], "unauthenticated")
    assert len(upstream.tokens) == 1


def test_one_token_is_fetched_for_all_who_are_refused_at_the_end(refusing, line, endpoint):
    upstream, client = refusing("grpc", "grpc")
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: client.call("Hear", line()), range(32)))
    assert {answer.code for answer in answers} == {None} and endpoint.issued == 2
    assert upstream.tokens.count("Bearer token-2") == 32


def test_a_refusal_is_passed_on_when_the_token_endpoint_is_away(refusing, line, endpoint):
    upstream, client = refusing("grpc", "grpc", refused=[])
    assert client.call("Hear", line()).code is None
    upstream.refused, endpoint.status = {"Bearer token-1"}, 500
    for _ in range(3):
        answer = client.call("Hear", line())
        assert (answer.code, answer.message, answer.headers.get("x-kept")) == ("unauthenticated", "token revoked", "1")
    assert len(upstream.tokens) == 4


def test_the_head_of_a_stream_does_not_wait_for_its_first_message(start, echo_gateways, endpoint):
    """A caller may want to know that its stream has begun before there is something to tell."""
    told = []

    def whole(exchange):
        exchange.head(200, [("content-type", "application/grpc"), ("x-begun", "1")])
        told.append(exchange)

    upstream = HTTP2Upstream(whole)
    setup = echo_gateways.configuration("grpc")
    setup["upstreams"]["echo"] |= {"endpoints": [upstream.url], "credentials": oauth2(endpoint)}
    gateway = start(setup, environment={"SECRET": SECRET})
    with HTTP2Client(gateway.address) as client:
        stream = client.start(
            "POST", "/echo.v1.Echo/Hear", [("content-type", "application/grpc"), ("te", "trailers")], framed(b""))
        client.wait_for(lambda: client.answers[stream]["x-begun"] == "1")
        assert not client.answers[stream].over
    upstream.close()


def test_a_try_begins_when_the_token_is_there(start, configuration, endpoint, rest):
    """The time of a try passes while the token is fetched: nothing is sent without it, and nothing twice."""
    release = threading.Event()
    endpoint.answers(lambda request: release.wait(30) and endpoint._issue(request))
    setup = with_credentials(configuration, oauth2(endpoint))
    setup["upstreams"]["legacy"]["retries"] = {
        "attempts": 3, "per_try_timeout": "50ms", "backoff": {"base": "1ms", "max": "5ms"}, "min_per_second": 100}
    gateway = start(setup, environment={"SECRET": SECRET})
    with gateway.connect() as wire:
        wire.send(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % BOOK.encode())
        endpoint.wait_for(1)
        time.sleep(0.5)
        assert not rest.requests
        rest.answers(lambda request: Reply.json(book("b1")))
        release.set()
        assert wire.answer().status == 200
    assert {request["authorization"] for request in rest.requests} == {"Bearer token-1"}
    assert gateway.metric("turnout_upstream_retries_total") == len(rest.requests) - 1
