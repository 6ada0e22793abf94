"""`jwt` before real key servers: what is accepted, what is refused and how that is said, rotation, outages."""

import json
import threading
import time

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.certificates import Authority
from support.gateway import run, wait_until
from support.rest_service import Reply
from support.tokens import AUDIENCE, ISSUER, MAKERS, Key, KeyServer, bearer, key_set

BOOK = "/v1/books/b1"


@pytest.fixture
def key():
    return Key("k1")


@pytest.fixture
def server(key):
    return KeyServer(key)


def jwt(server, **more):
    return {"jwt": {"issuer": ISSUER, "audiences": [AUDIENCE], "jwks": {"url": f"{server.url}/keys"}, **more}}


def guarded(configuration, *interceptors, **more):
    return configuration(interceptors=[{"access_log": {"format": "json"}}, *interceptors], **more)


def status(gateway, *fields, target=BOOK):
    return gateway.fetch("GET", target, fields).status


def last_detail(gateway, count):
    return json.loads(gateway.access_log(count)[-1]).get("detail")


@pytest.mark.parametrize("algorithm", MAKERS)
def test_every_algorithm_of_the_key_set_is_taken(start, configuration, algorithm):
    key = Key("k", algorithm)
    gateway = start(guarded(configuration, jwt(KeyServer(key))))
    for _ in range(3):
        assert status(gateway, bearer(key.token())) == 200
    assert status(gateway, bearer(key.token()[:-8] + "AAAAAAAA")) == 401


def test_the_backend_is_told_who_calls_and_nobody_else_can(start, configuration, rest, rpc, client_of, pb, key, server):
    settings = jwt(server, forward={"sub": "x-user-id", "realm.roles": "x-roles"})
    for stage in ("rest", "rpc"):
        gateway = start(guarded(configuration, settings, stage=stage))
        token = bearer(key.token(sub="anna", realm={"roles": ["a", "b"]}))
        forged = [("X-User-Id", "root"), ("x_user_id", "root"), ("X-Roles", "admin"), ("X_Roles", "admin")]
        assert status(gateway, token, *forged) == 200
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"), headers=dict([token, *forged]))
    assert len(rest.requests) == 2 and len(rpc.calls) == 2
    for request in rest.requests:
        assert (request.all("x-user-id"), request.all("x-roles")) == (["anna"], ["a,b"])
        assert not request.all("x_user_id") and not request.all("x_roles")
        assert request["authorization"]
    for call in rpc.calls:
        assert (call.headers.getall("x-user-id"), call.headers.getall("x-roles")) == (["anna"], ["a,b"])
        assert "x_user_id" not in call.headers


def test_public_routes_and_the_fallback_get_no_forged_identity_either(start, configuration, rest, key, server):
    setup = guarded(
        configuration, jwt(server, forward={"sub": "x-user-id"}, optional=True), fallback="legacy",
        methods={"GetBook": {"public": True}})
    gateway = start(setup)
    forged = [("X-User-Id", "root"), ("X_USER_ID", "root")]
    assert status(gateway, *forged) == 200
    gateway.fetch("GET", "/elsewhere", forged)
    gateway.fetch("GET", "/v1/count?author=a", forged)
    assert len(rest.requests) == 3
    assert not any(request.all("x-user-id") + request.all("x_user_id") for request in rest.requests)


def test_a_public_route_asks_for_no_token(start, configuration, key, server):
    gateway = start(guarded(configuration, jwt(server), service={"public": True}, methods={"CountBooks": {
        "public": False, "http": {"get": "/v1/count"}}}))
    assert status(gateway) == 200
    assert status(gateway, bearer("junk")) == 200
    assert status(gateway, target="/v1/count") == 401
    assert status(gateway, bearer(key.token()), target="/v1/count") == 200


def test_refusals_tell_the_caller_nothing_and_the_log_why(start, configuration, rest, client_of, pb, key, server):
    gateway = start(guarded(configuration, jwt(server, required={"tenant": ["t1", "t2"]}), workers=1))
    now = int(time.time())
    good = {"tenant": "t1"}
    foreign = Key("k1")
    confused = Key("k1", "HS256", secret=(key.jwk["x"] + key.jwk["y"]).encode())
    cases = {
        "expired": key.token(exp=now - 120, **good), "audience": key.token(aud="others", **good),
        "issuer": key.token(iss="https://evil.test", **good), "tenant": key.token(tenant="t3"),
        "no claim": key.token(), "not valid yet": key.token(nbf=now + 300, **good), "`exp`": key.token(exp=None, **good),
        "signature": foreign.token(**good), "algorithm": confused.token(**good), "kid": key.token(kid="k9", **good),
        "three parts": "junk", "base64url": "a.b=.c",
        "algorithm is not": ".".join(["eyJhbGciOiJub25lIn0", key.token(**good).split(".")[1], ""]),
    }
    count = 0
    for reason, token in cases.items():
        answer = gateway.fetch("GET", BOOK, [bearer(token)])
        count += 1
        assert (answer.status, answer["www-authenticate"]) == (401, 'Bearer error="invalid_token"'), (reason, answer)
        assert answer.json()["message"] == "the token is not valid"
        assert reason in last_detail(gateway, count), (reason, last_detail(gateway, count))
        with pytest.raises(ConnectError) as failure:
            client_of(gateway).get_book(pb.GetBookRequest(id="b1"), headers={"authorization": f"Bearer {token}"})
        count += 1
        assert (failure.value.code, failure.value.message) == (Code.UNAUTHENTICATED, "the token is not valid")
    for fields in ([], [("Authorization", "Basic YTpi")], [bearer(key.token(**good)), bearer(key.token(**good))]):
        assert status(gateway, *fields) == 401
    assert gateway.fetch("GET", BOOK)["www-authenticate"] == "Bearer"
    assert not rest.requests
    assert status(gateway, bearer(key.token(**good))) == 200
    assert not any(token in gateway.log() for token in cases.values() if len(token) > 20)
    assert gateway.metric("turnout_auth_refused_total", interceptor="jwt", reason="expired") == 4


def test_a_new_key_is_fetched_when_it_is_first_seen_and_not_more_often(start, configuration, key, server):
    gateway = start(guarded(configuration, jwt(server)))
    assert status(gateway, bearer(key.token())) == 200
    wait_until(lambda: len(server.requests) == 1, what="the first fetch")
    new = Key("k2")
    server.keys = (key, new)
    assert status(gateway, bearer(new.token())) == 200
    assert len(server.requests) == 2
    for number in range(20):
        assert status(gateway, bearer(key.token(kid=f"unknown{number}"))) == 401
    assert len(server.requests) == 2
    server.keys = (new,)
    assert status(gateway, bearer(key.token()), bearer(key.token())) == 401
    assert status(gateway, bearer(new.token())) == 200


def test_keys_are_fetched_anew_by_themselves_and_old_ones_end(start, configuration, key, server):
    settings = jwt(server)
    settings["jwt"]["jwks"]["refresh"] = "1s"
    gateway = start(guarded(configuration, settings))
    old = bearer(key.token())
    assert status(gateway, old) == 200
    server.keys = (Key("k2"),)
    wait_until(lambda: status(gateway, old) == 401, what="the end of the old key")


def test_old_keys_serve_while_the_key_server_is_away(start, configuration, key, server):
    settings = jwt(server)
    settings["jwt"]["jwks"]["refresh"] = "1s"
    gateway = start(guarded(configuration, settings))
    assert status(gateway, bearer(key.token())) == 200
    server.status = 500
    wait_until(lambda: "cannot be fetched: the answer has status 500" in gateway.log(), what="a failed fetch")
    assert status(gateway, bearer(key.token(sub="other"))) == 200
    server.answers(Reply(200, [], b"<html>"))
    wait_until(lambda: "is no JSON" in gateway.log(), what="a fetch of junk")
    assert status(gateway, bearer(key.token(sub="third"))) == 200


def test_without_any_keys_calls_get_503_until_there_are_some(start, configuration, rest, client_of, pb, key, server):
    server.status = 503
    gateway = start(guarded(configuration, jwt(server)))
    answer = gateway.fetch("GET", BOOK, [bearer(key.token())])
    assert (answer.status, answer["retry-after"]) == (503, "1")
    with pytest.raises(ConnectError) as failure:
        client_of(gateway).get_book(
            pb.GetBookRequest(id="b1"), headers={"authorization": f"Bearer {key.token()}"})
    assert failure.value.code == Code.UNAVAILABLE
    assert not rest.requests
    assert status(gateway) == 401
    server.status = 200
    wait_until(lambda: status(gateway, bearer(key.token())) == 200, what="keys")


def test_calls_wait_for_the_first_keys_inside_their_deadline(start, configuration, rest, key, server):
    released = threading.Event()

    def slowly(request):
        released.wait(20)
        return Reply.json(key_set(key))

    server.answers(slowly)
    gateway = start(guarded(configuration, jwt(server), methods={"CountBooks": {
        "timeout": "50ms", "http": {"get": "/v1/count"}}}))
    assert status(gateway, bearer(key.token()), target="/v1/count") == 504
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(status(gateway, bearer(key.token())))) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert not rest.requests
    released.set()
    for thread in threads:
        thread.join(30)
    assert answers == [200] * 8
    assert len(server.requests) == 1


def test_tokens_come_from_where_the_configuration_says(start, configuration, rest, key, server):
    token = key.token()
    gateway = start(guarded(configuration, jwt(server, **{"from": "cookie:session", "strip": True})))
    assert status(gateway, ("Cookie", f"a=1; session={token}; b=2")) == 200
    assert rest.only().all("cookie") == ["a=1; b=2"]
    assert status(gateway, bearer(token)) == 401
    rest.reset()
    gateway = start(guarded(configuration, jwt(server, **{"from": "query:access_token"})))
    assert status(gateway, target=f"{BOOK}?access_token={token}&shelf=s") == 200
    assert rest.only().target == f"{BOOK}?shelf=s"
    gateway = start(guarded(configuration, jwt(server, **{"from": "header:x-token", "strip": True})))
    rest.reset()
    assert status(gateway, ("X-Token", token)) == 200
    assert rest.only()["x-token"] is None


def test_each_issuer_has_its_own_keys_and_files_are_read_anew(start, configuration, tmp_path, key, server):
    secret = Key("s1", "HS256", secret=b"x" * 32)
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(key_set(secret)))
    gateway = start(guarded(configuration, {"jwt": {"issuers": [
        {"issuer": ISSUER, "jwks": {"url": server.url}},
        {"issuer": "depot", "jwks": {"file": str(file)}, "algorithms": ["HS256"]}]}}))
    own = bearer(secret.token(iss="depot"))
    assert status(gateway, bearer(key.token())) == 200
    assert status(gateway, own) == 200
    assert status(gateway, bearer(key.token(iss="depot"))) == 401
    assert status(gateway, bearer(secret.token())) == 401
    assert status(gateway, bearer(key.token(iss="unknown"))) == 401
    new = tmp_path / "new.json"
    new.write_text(json.dumps(key_set(Key("s2", "HS256", secret=b"y" * 32))))
    new.replace(file)
    wait_until(lambda: status(gateway, own) == 401, what="the new keys")


def test_a_key_server_over_tls_has_to_be_who_it_says(start, configuration, tmp_path, key):
    authority = Authority(tmp_path / "ca")
    server = KeyServer(key, tls=authority.server_context(authority.issue("keys", "IP:127.0.0.1")))
    trusting = jwt(server)
    trusting["jwt"]["jwks"]["tls"] = {"ca": str(authority.file)}
    assert status(start(guarded(configuration, trusting)), bearer(key.token())) == 200
    strict = start(guarded(configuration, jwt(server)))
    assert status(strict, bearer(key.token())) == 503
    assert "cannot be fetched" in strict.log() and "certificate" in strict.log()


def test_a_claim_decides_who_is_in_a_canary(start, configuration, rest, rpc, key, server):
    canary = {"stage": "canary", "canary": {"percent": "50%", "sticky_by": "claim:sub"}}
    gateway = start(guarded(configuration, jwt(server, forward={"sub": "x-user-id"}), methods={"GetBook": canary}))
    users = [f"user{number}" for number in range(40)]
    for user in users * 2:
        assert status(gateway, bearer(key.token(sub=user))) == 200
    sides = [[request["x-user-id"] for request in rest.requests], [call.headers["x-user-id"] for call in rpc.calls]]
    assert sorted(sides[0] + sides[1]) == sorted(users * 2)
    assert not set(sides[0]) & set(sides[1]) and all(len(side) >= 20 for side in sides)


def test_the_fallback_may_be_public_or_ask_for_more(start, configuration, rest, key, server):
    """At an edge with `jwt` for all: what no route matches is let through, keeps its own rules, and brings no identity."""
    limit = {"rate_limit": {"requests": 2, "per": "1h", "key": "none"}}
    gateway = start(guarded(
        configuration, jwt(server, forward={"sub": "x-user-id"}), fallback={
            "upstream": "legacy", "public": True, "limits": {"request": "1KiB", "response": "1KiB"},
            "interceptors": [{"headers": {"request": {"set": {"x-side": "fallback"}}}}]}))
    rest.answers(lambda request: Reply(200, body=b"x" * (2000 if "big" in request.target else 10)))
    assert status(gateway) == 401
    assert status(gateway, ("X-User-Id", "root"), target="/elsewhere") == 200
    assert (rest.only()["x-user-id"], rest.only()["x-side"]) == (None, "fallback")
    assert status(gateway, bearer(key.token(sub="anna"))) == 200
    assert rest.requests[-1]["x-user-id"] == "anna" and rest.requests[-1]["x-side"] is None
    assert gateway.fetch("POST", "/elsewhere", [], b"x" * 1024).status == 200
    assert gateway.fetch("POST", "/elsewhere", [], b"x" * 1025).status == 413
    assert status(gateway, target="/big") == 502
    setup = guarded(configuration, fallback={"upstream": "legacy", "interceptors": [jwt(server), limit]})
    gateway = start(setup)
    assert status(gateway) == 200
    assert status(gateway, target="/elsewhere") == 401
    assert [status(gateway, bearer(key.token()), target="/elsewhere") for _ in range(3)] == [200, 200, 429]
    assert status(gateway) == 200


@pytest.mark.parametrize("fallback, message", [
    ({"public": True}, "the fallback needs `upstream`"), ({"upstream": "none"}, "which is not given"),
    ({"upstream": "legacy", "publik": True}, "public"),
    ({"upstream": "legacy", "public": True, "interceptors": [{"api_key": {"keys": ["k"]}}]}, "the fallback is public"),
])
def test_a_fallback_that_makes_no_sense(tmp_path, configuration, fallback, message):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(fallback=fallback)))
    answer = run("check", "--config", file)
    assert answer.returncode == 1 and message in answer.stdout + answer.stderr


def test_a_public_route_that_checks_callers_is_a_fault(tmp_path, configuration, server):
    setup = configuration(methods={"GetBook": {"public": True, "interceptors": [jwt(server)]}})
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(setup))
    answer = run("check", "--config", file)
    assert answer.returncode == 1 and "`GetBook` is public" in answer.stdout + answer.stderr
