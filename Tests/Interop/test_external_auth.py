"""`external_auth` before a service that allows, refuses, hangs and dies; and keys that are kept as digests."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.gateway import wait_until
from support.rest_service import Reply, RESTService, hang
from support.schema import SERVICE

BOOK = "/v1/books/b1"


def judge(request):
    """Knows one caller."""
    match request["authorization"]:
        case "Bearer good":
            return Reply(200, [("X-User-Id", "anna"), ("X-Internal", "1"), ("Authorization", "Bearer inner")])
        case "Bearer shy":
            return Reply(403, [("X-Reason", "too shy")], b"<html>inner detail</html>")
        case "Bearer many":
            return Reply(429, [("Retry-After", "7")])
        case "Bearer elsewhere":
            return Reply(302, [("Location", "https://login.test/")])
    return Reply(401, [("WWW-Authenticate", 'Bearer realm="depot"')])


@pytest.fixture
def service():
    service = RESTService()
    service.answers(judge)
    return service


def guarded(configuration, service, stage="rest", top=None, **more):
    check = {"url": f"{service.url}/check?v=1", "upstream_headers": ["x-user-id", "authorization"], "client_headers": [
        "www-authenticate", "retry-after", "x-reason"], **more}
    return configuration(stage, interceptors=[
        {"access_log": {"format": "json"}}, {"external_auth": check}], **(top or {}))


def bearer(name):
    return ("Authorization", f"Bearer {name}")


@pytest.mark.parametrize("stage", ["rest", "rpc"])
def test_whoever_is_known_gets_through_and_the_backend_learns_who(
    start, configuration, rest, rpc, client_of, pb, service, stage
):
    gateway = start(guarded(configuration, service, stage))
    forged = [("X-User-Id", "root"), ("x_user_id", "root")]
    assert gateway.fetch("GET", f"{BOOK}?shelf=s", [bearer("good"), *forged, ("X-Request-Id", "r1")]).status == 200
    client_of(gateway).get_book(pb.GetBookRequest(id="b1"), headers={"authorization": "Bearer good"})
    if stage == "rest":
        seen = [(request.all("x-user-id"), request.all("x_user_id"), request["x-internal"]) for request in rest.requests]
        assert seen == [(["anna"], [], None)] * 2
        assert [request.all("authorization") for request in rest.requests] == [["Bearer inner"]] * 2
    else:
        assert [call.headers.getall("x-user-id") for call in rpc.calls] == [["anna"]] * 2
    first, second = service.requests
    assert (first.method, first.target, first.body) == ("GET", "/check?v=1", b"")
    wanted = {
        "x-forwarded-method": "GET", "x-forwarded-uri": f"{BOOK}?shelf=s", "x-forwarded-host": "gateway.test",
        "x-turnout-procedure": f"{SERVICE}/GetBook", "x-turnout-template": "GET /v1/books/{id}", "x-request-id": "r1",
        "x-forwarded-for": "127.0.0.1", "x-user-id": None}
    assert {name: first[name] for name in wanted} == wanted
    assert (second["x-forwarded-method"], second["x-turnout-template"]) == ("POST", None)


@pytest.mark.parametrize("name, status, code, fields", [
    ("none", 401, Code.UNAUTHENTICATED, {"www-authenticate": 'Bearer realm="depot"'}),
    ("shy", 403, Code.PERMISSION_DENIED, {"x-reason": "too shy"}),
    ("many", 429, Code.RESOURCE_EXHAUSTED, {"retry-after": "7"}),
    ("elsewhere", 403, Code.PERMISSION_DENIED, {"location": None}),
])
def test_a_refusal_is_told_in_the_callers_protocol(
    start, configuration, rest, client_of, pb, service, name, status, code, fields
):
    gateway = start(guarded(configuration, service))
    answer = gateway.fetch("GET", BOOK, [bearer(name)])
    assert answer.status == status
    assert {field: answer[field] for field in fields} == fields
    assert b"inner detail" not in answer.body and "message" in answer.json()
    with pytest.raises(ConnectError) as failure:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"), headers={"authorization": f"Bearer {name}"})
    assert failure.value.code == code
    assert not rest.requests


@pytest.mark.parametrize("trouble", [Reply(500), Reply(200, cut=0, body=b"xx"), hang, Reply(raw=b"junk\r\n\r\n")])
def test_without_a_verdict_nobody_gets_through_unless_that_is_wanted(start, configuration, rest, service, trouble):
    service.answers(trouble)
    gateway = start(guarded(configuration, service, timeout="300ms"))
    answer = gateway.fetch("GET", BOOK, [bearer("good")])
    assert (answer.status, answer["retry-after"]) == (503, "1")
    assert not rest.requests
    open_one = start(guarded(configuration, service, timeout="300ms", on_failure="allow"))
    assert open_one.fetch("GET", BOOK, [bearer("good"), ("X-User-Id", "root")]).status == 200
    assert rest.only()["x-user-id"] is None


def test_a_service_that_is_not_there_is_no_pass(start, configuration, rest, service):
    setup = guarded(configuration, service)
    setup["interceptors"][1]["external_auth"]["url"] = "http://127.0.0.1:1/check"
    gateway = start(setup)
    assert gateway.fetch("GET", BOOK, [bearer("good")]).status == 503
    assert not rest.requests


def test_public_routes_do_not_ask(start, configuration, rest, service):
    gateway = start(guarded(configuration, service, top={"methods": {"GetBook": {"public": True}}}))
    assert gateway.fetch("GET", BOOK).status == 200
    assert gateway.fetch("GET", "/v1/books").status == 401
    assert len(service.requests) == 1


def test_a_good_verdict_is_remembered_for_the_same_question(start, configuration, rest, service):
    gateway = start(guarded(configuration, service, cache="1m", method="POST", top={"workers": 1}))
    for _ in range(5):
        assert gateway.fetch("GET", BOOK, [bearer("good")]).status == 200
        assert rest.requests[-1].all("x-user-id") == ["anna"]
    assert len(service.requests) == 1 and service.requests[0].method == "POST"
    assert gateway.fetch("GET", "/v1/books/b2", [bearer("good")]).status == 200
    for _ in range(2):
        assert gateway.fetch("GET", BOOK, [bearer("shy")]).status == 403
    assert len(service.requests) == 4


def test_callers_that_leave_while_it_is_asked_leave_nothing_behind(start, configuration, rest, service):
    released = threading.Event()

    def slowly(request):
        released.wait(20)
        return judge(request)

    service.answers(slowly)
    gateway = start(guarded(configuration, service, timeout="20s", top={"workers": 1}))
    for number in range(20):
        with gateway.connect() as wire:
            wire.send(b"GET /v1/books/left%d HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n" % number)
            service.wait_for(number + 1)
    released.set()
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda _: gateway.fetch("GET", BOOK, [bearer("good")]).status, range(32))
    assert set(answers) == {200}
    assert not any("left" in request.target for request in rest.requests)


# Keys.

def test_no_backend_sees_a_key_on_public_routes_either(start, configuration, rest):
    keys = {"keys": ["k-plain"], "query": "key", "header": "x-key"}
    gateway = start(configuration(
        interceptors=[{"access_log": {"format": "json"}}, {"api_key": keys}], service={"public": True}))
    for target, fields in ((BOOK, [("X-Key", "k-plain")]), (f"{BOOK}?key=junk&shelf=s", [])):
        assert gateway.fetch("GET", target, fields).status == 200
    assert [(request.target, request["x-key"]) for request in rest.requests] == [
        (BOOK, None), (f"{BOOK}?shelf=s", None)]


def digest(key):
    return hashlib.sha256(key.encode()).hexdigest()


def test_keys_are_kept_as_digests_and_read_anew(start, configuration, rest, tmp_path):
    file = tmp_path / "keys"
    file.write_text(f"# keys of the depot\n\n{digest('k-anna')}  anna of the apps\n{digest('k-nobody').upper()}\n")
    keys = {"keys_file": str(file), "keys": ["k-plain"], "query": "key", "header": "x-key", "forward": "x-api-client"}
    gateway = start(configuration(interceptors=[{"access_log": {"format": "json"}}, {"api_key": keys}]))
    forged = ("X-Api-Client", "root")
    for key, name in ("k-anna", "anna of the apps"), ("k-nobody", None), ("k-plain", None):
        assert gateway.fetch("GET", BOOK, [("X-Key", key), forged]).status == 200
        assert (rest.requests[-1]["x-api-client"], rest.requests[-1]["x-key"]) == (name, None)
    assert gateway.fetch("GET", f"{BOOK}?key=k-anna").status == 200
    assert rest.requests[-1].target == BOOK
    for key in "k-ann", digest("k-anna"), "":
        assert gateway.fetch("GET", BOOK, [("X-Key", key)]).status == 401
    new = tmp_path / "new"
    new.write_text(f"{digest('k-new')} new\n")
    new.replace(file)
    wait_until(lambda: gateway.fetch("GET", BOOK, [("X-Key", "k-new")]).status == 200, what="the new key")
    assert gateway.fetch("GET", BOOK, [("X-Key", "k-anna")]).status == 401
    new.write_text("not a digest\n")
    new.replace(file)
    wait_until(lambda: "line 1: it does not begin with the SHA-256" in gateway.log(), what="the failed reload")
    assert gateway.fetch("GET", BOOK, [("X-Key", "k-new")]).status == 200
