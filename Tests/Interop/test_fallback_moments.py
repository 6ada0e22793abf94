"""`fallback: true` beside guard, canary, shadow and deadline, and at odd moments (decision 0028)."""

import asyncio
import json
import random
import threading
import time

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.api.httpbody_pb2 import HttpBody
from google.protobuf import json_format

from support.curl import curl
from support.fallback import QUICK, canary, counted, fails, fallbacks, nothing_is_held, rest_user, route
from support.gateway import run, wait_until
from support.rest_service import Reply, book, hang
from support.scripted import Scripted, read_all, read_head
from support.sides import PROCEDURE, place, side, sign

# Who else has to do with it.

def test_the_guard_trips_although_nobody_saw_a_failure(started, rest, rpc):
    gateway = started(canary(guard={"min_requests": 20, "max_error_rate": "10%"}))
    fails(rpc)
    with gateway.connect() as wire:
        assert {side(wire) for _ in range(30)} == {"rest"}
        wait_until(lambda: route(gateway)["guard"]["state"] == "tripped", what="the trip")
        calls = len(rpc.calls)
        assert {side(wire) for _ in range(5)} == {"rest"}
        # A failure of the rest side leads nobody back.
        rest.answers(Reply(500))
        assert wire.request("GET", "/v1/books/b1").status == 500
    assert len(rpc.calls) == calls
    assert gateway.metric("turnout_rollbacks_total", method="GetBook", reason="error_rate") == 1


def test_methods_with_side_effects_are_asked_once(started, rest, rpc):
    """`fallback:` of a service is for those of its methods that have none."""
    gateway = started({}, service={"fallback": True, "stage": "rpc"}, methods={
        "MoveBook": {"fallback": {"unsafe": True}}})
    fails(rpc)
    headers = [("Content-Type", "application/json")]
    assert gateway.fetch("POST", "/v1/shelves/s/books", headers, b'{"title": "t"}').status == 500
    assert not rest.requests
    rest.answers(Reply.json(book("moved")))
    answer = gateway.fetch("POST", "/v1/books/b1:move", headers, b'{"shelf": "s"}')
    assert answer.json()["id"] == "moved"
    assert (rest.only().method, rest.only().body) == ("POST", b'{"shelf": "s"}')


def test_a_caller_who_leaves_ends_both(started, rest, rpc):
    gateway = started(canary())
    fails(rpc)
    rest.answers(hang)
    with gateway.connect() as wire:
        wire.send(b"GET /v1/books/b1 HTTP/1.1\r\nHost: x\r\n\r\n")
        rest.wait_for(1)
    assert rest.only().gone.wait(30)
    counted(gateway, "rpc", "canceled")


def test_testers_see_the_side_that_they_name(started, rest, rpc):
    gateway = started(canary(override={"addresses": ["127.0.0.1"]}))
    fails(rpc)
    assert gateway.fetch("GET", "/v1/books/b1", [("X-Turnout-Side", "rpc")]).status == 500
    assert not rest.requests and fallbacks(gateway) == 0


def test_a_caller_stays_on_its_side_for_the_next_call(started, rest, rpc):
    gateway = started(canary("50%"))
    rest.answers(Reply(500))
    with gateway.connect() as wire:
        assert side(wire, rest_user()) == "rpc"
        sign(rest, rpc)
        assert side(wire, rest_user()) == "rest"


def test_the_comparison_is_about_the_first_answer(started, rest, rpc, client_of, pb):
    """Of a call that was translated, and of one that passed."""
    gateway = started(canary(stage="rpc", shadow={"back": True, "max_samples": 10}))
    fails(rpc)
    with gateway.connect() as wire:
        assert side(wire) == "rest"
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b1")).title == "rest"
    wait_until(lambda: gateway.metric("turnout_shadow_total", outcome="mismatch") == 2, what="two comparisons")
    # Each was asked once for the comparison, and once for the caller.
    assert len(rest.requests) == 4
    samples = gateway.admin("GET", f"/routes/{PROCEDURE}/samples").json()["samples"]
    assert [sample["status"] for sample in samples] == [{"rest": "ok", "rpc": "internal"}] * 2


def test_the_deadline_is_for_both(started, rest, rpc):
    gateway = started(canary(timeout="1s"), {"content": {"retries": QUICK}})

    async def forever(call):
        await asyncio.sleep(60)

    rpc.script = lambda call, context: forever(call)
    rest.answers(hang)
    assert gateway.fetch("GET", "/v1/books/b1").status == 504
    counted(gateway, "rpc", "failed")
    assert len(rest.requests) == 1


def test_a_head_request(started, rest):
    gateway = started(canary("50%"))
    rest.answers(Reply(500))
    answer = gateway.fetch("HEAD", "/v1/books/b1", rest_user())
    assert (answer.status, answer.body) == (200, b"")


def test_what_is_shown(started, rest, rpc):
    gateway = started(canary("50%"))
    fails(rpc)
    with gateway.connect() as wire:
        for number in range(20):
            side(wire, [("X-User", f"user-{number}")])
    count = sum(place(f"user-{number}") < 5000 for number in range(20))
    counted(gateway, "rpc", "answered", count)
    assert route(gateway)["fallback"] == {"rpc": {"answered": count}, "rest": {}}
    status = run("status", "--admin", gateway.admin_url)
    assert f"{count} asked again" in status.stdout
    report = run("report", "--admin", gateway.admin_url)
    assert f"{count} asked again" in report.stdout
    explained = run("explain", "--config", gateway.file, "GET", "/v1/books/b1")
    assert "fallback  " in explained.stdout and "is asked once more, if it fails" in explained.stdout


@pytest.mark.parametrize("methods, words", [
    ({"CreateBook": {"fallback": True}}, "may have side effects, so it cannot be asked again"),
    ({"GetBook": {"fallback": "legacy"}}, "named by `fallback:` at the top level"),
    ({"GetBook": {"guard": {"min_requests": 1, "max_error_rate": "1%", "fallback": True}}}, "write it beside `guard:`"),
])
def test_what_check_refuses(configuration, tmp_path, methods, words):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(methods=methods), indent=1))
    result = run("check", "--config", file)
    assert result.returncode == 1 and words in result.stdout + result.stderr


# Odd moments.

@pytest.mark.parametrize("percent, breaks", [("100%", "rpc"), ("50%", "rest")])
def test_rest_callers_over_http2(started, rest, rpc, percent, breaks):
    gateway = started(canary(percent))
    if breaks == "rpc":
        fails(rpc)
    else:
        rest.answers(Reply(500, body=b"x" * 5000))
    for body in (None, b""):
        answer = curl(gateway.address, "/v1/books/b1", "--http2-prior-knowledge", "-X", "GET", body=body,
                      headers=rest_user())
        assert (answer.status, json.loads(answer.body)["title"]) == (200, "rest" if breaks == "rpc" else "rpc")
    counted(gateway, breaks, "answered", 2)


@pytest.mark.parametrize("caller", [b"application/proto", b"application/json"])
def test_a_side_that_fails_before_the_request_is_whole(started, rest, pb, caller):
    """What passed to the first side was kept; the rest of it comes for the other one."""
    answered = threading.Event()

    def early(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 503 no\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n"
                           b'{"code":"unavailable"}')
        answered.set()
        read_all(connection)

    server = Scripted(early)
    codec = caller.decode().split("/")[1]
    gateway = started(canary(stage="rpc"), {"content": {"endpoints": [server.url], "codec": codec}})

    def ask(message, code):
        answered.clear()
        body = message.SerializeToString() if codec == "proto" else json_format.MessageToJson(message).encode()
        with gateway.connect() as wire:
            wire.send(b"POST /%s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (
                PROCEDURE.encode(), caller, len(body), body[:2]))
            assert answered.wait(30)
            wait_until(lambda: gateway.metric("turnout_upstream_duration_seconds_count", upstream="content") >= code,
                       what="the end of the first question")
            wire.send(body[2:])
            return wire.answer()

    assert ask(pb.GetBookRequest(id="b1", title_size=7), 1).status == 200
    assert rest.only().target == "/v1/books/b1?titleSize=7"
    counted(gateway, "rpc", "answered")
    # No path can say this, so the failure stands.
    answer = ask(pb.GetBookRequest(id="..", title_size=7), 2)
    assert (answer.status, answer.json()["code"]) == (503, "unavailable")
    counted(gateway, "rpc", "refused")
    nothing_is_held(gateway)
    server.close()


def test_raw_answers(started, rest, rpc):
    """Of either side, long and short."""
    gateway = started({}, methods={"GetCover": canary("50%")})
    long = b"\x89PNG" + bytes(range(256)) * 2000
    users = {name: next(f"user-{n}" for n in range(100) if (place(f"user-{n}") < 5000) == (name == "rpc"))
             for name in ("rest", "rpc")}
    for body in (b"\x89PNG", long):
        fails(rpc)
        rest.answers(Reply(200, [("Content-Type", "image/png")], body))
        answer = gateway.fetch("GET", "/v1/books/b1/cover", [("X-User", users["rpc"])])
        assert (answer.status, answer["content-type"], answer.body) == (200, "image/png", body)
        rpc.script = lambda call, context: HttpBody(content_type="image/gif", data=body)
        rest.answers(Reply(500))
        answer = gateway.fetch("GET", "/v1/books/b1/cover", [("X-User", users["rest"])])
        assert (answer.status, answer["content-type"], answer.body) == (200, "image/gif", body)
    nothing_is_held(gateway)


def test_an_upload_that_went_on_as_it_came_has_no_second_side(started, rest):
    """Nothing of it is kept, so the other side would get an empty body."""
    received = []

    def refuse(connection):
        head, body = read_head(connection)
        length = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))[15:])
        while len(body) < length and (more := connection.recv(65536)):
            body += more
        received.append(len(body) - length)
        connection.sendall(b"HTTP/1.1 503 no\r\nContent-Type: application/json\r\nContent-Length: 22\r\n"
                           b'Connection: close\r\n\r\n{"code":"unavailable"}')

    server = Scripted(refuse)
    gateway = started({}, {"content": {"endpoints": [server.url]}}, {
        "SetCover": canary(stage="rpc", fallback={"unsafe": True})})
    cover = [("Content-Type", "image/png")]
    answer = gateway.fetch("PUT", "/v1/books/b1/cover", cover, b"x" * (300 << 10))
    assert (answer.status, received, rest.requests) == (503, [0], [])
    counted(gateway, "rpc", "too_large", method="SetCover")
    # What is gathered can be sent again.
    answer = gateway.fetch("PUT", "/v1/books/b1/cover", cover, b"x" * 1000)
    assert (answer.status, rest.only().body) == (200, b"x" * 1000)
    nothing_is_held(gateway)
    server.close()


def test_no_room_for_an_answer_that_is_held_back(started, rest, pb):
    """It is the answer then, and counted as what it is."""
    def fail(connection):
        read_head(connection)
        body = b'{"code":"unavailable","message":"' + b"x" * 3000 + b'"}'
        connection.sendall(b"HTTP/1.1 503 no\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
            len(body), body))
        read_all(connection)

    server = Scripted(fail)
    gateway = started(canary(stage="rpc"), {"content": {"endpoints": [server.url]}},
                      limits={"message": "2KiB", "buffers": "2KiB"})
    message = pb.GetBookRequest(id="b1").SerializeToString()
    answer = gateway.fetch("POST", f"/{PROCEDURE}", [("Content-Type", "application/proto")], message)
    assert (answer.status, len(answer.json()["message"]), rest.requests) == (503, 3000, [])
    counted(gateway, "rpc", "buffers")
    nothing_is_held(gateway)
    server.close()


def test_a_translated_answer_that_is_dropped_takes_no_room(echo_pair, rest, line):
    """`limits.buffers` has room for the request and one answer, not for two."""
    client = echo_pair("grpc", "connect", limits={"message": "7KiB", "buffers": "7KiB"})
    rest.answers(lambda request: Reply.json({"text": "y" * 2500}))
    assert client.call("Say", line(code=13, message="x" * 2500)).line.text == "y" * 2500
    counted(client.gateway, "rpc", "answered", 1, "Say")
    nothing_is_held(client.gateway)


def test_no_room_for_what_would_be_kept(echo_pair, rest, line):
    """The call goes on as it would without."""
    client = echo_pair("grpc", "grpc", limits={"message": "2KiB", "buffers": "2KiB"})
    got = client.call("Say", line(code=13, message="broken", data=b"x" * 4000))
    assert (got.code, got.message) == ("internal", "broken")
    counted(client.gateway, "rpc", "buffers", 1, "Say")
    assert client.call("Say", line(code=13)).line.text == "rest:hello"
    nothing_is_held(client.gateway)


def test_callers_who_leave_at_any_moment(start, configuration, rest, rpc, pb):
    """Before, between and after the two questions: nothing is kept of their calls, and the next ones are answered."""
    choose = random.Random(7)
    sign(rest, rpc)

    async def slowly(call, wait, code):
        await asyncio.sleep(wait)
        if code:
            raise ConnectError(code, "broken")
        return rpc.book("b1", title="rpc")

    rpc.script = lambda call, context: slowly(
        call, choose.choice([0, 0, 0.002, 0.01]), choose.choice([None, Code.INTERNAL, Code.UNAVAILABLE]))
    replies = [
        Reply.json(book("b1")), Reply(500, body=b"x" * 3000), Reply(503, body=b"y" * 100_000), Reply(raw=b"HTTP/1.1 5"),
        Reply(500, body=b"z" * 900, cut=400)]
    rest.answers(lambda request: choose.choice(replies))
    gateway = start(configuration(methods={"GetBook": canary("50%", shadow={"back": True})}))
    message = pb.GetBookRequest(id="b1", title_size=5).SerializeToString()
    heads = [
        b"GET /v1/books/b1 HTTP/1.1\r\nHost: x\r\nX-User: user-%d\r\n\r\n",
        b"POST /%s HTTP/1.1\r\nHost: x\r\nX-User: user-%%d\r\nContent-Type: application/proto\r\nContent-Length: %d\r\n\r\n%s" % (
            PROCEDURE.encode(), len(message), message)]
    for number in range(400):
        with gateway.connect() as wire:
            sent = choose.choice(heads) % (number % 40)
            wire.send(sent[:len(sent) - choose.choice([0, 0, 0, 1])])
            time.sleep(choose.choice([0, 0, 0.001, 0.004, 0.015]))
    nothing_is_held(gateway)
    sign(rest, rpc)
    with gateway.connect() as wire:
        assert {side(wire, [("X-User", f"user-{number}")]) for number in range(40)} == {"rest", "rpc"}
    wait_until(lambda: gateway.metric("turnout_connections") == 0, what="the end of all connections")
    assert fallbacks(gateway, outcome="answered") + fallbacks(gateway, outcome="canceled") > 20
