"""`fallback: true` for callers of each RPC dialect, and under load (decision 0028)."""

import threading

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.echo import SERVICE as ECHO
from support.fallback import canary, counted, fallbacks, nothing_is_held
from support.fleet import Fleet
from support.gateway import wait_until
from support.rest_service import Reply, book
from support.sides import place, side, sign

# RPC callers.

PAIRS = [("connect", "connect"), ("connect-json", "connect-json"), ("connect-json", "connect"), ("curl-get", "connect-json"),
         ("curl-h2", "connect-h2"), ("grpc", "grpc"), ("grpc", "connect"), ("grpc-runtime", "grpc-runtime"),
         ("grpc-json", "grpc-json"), ("grpc-web", "grpc-web"), ("grpc-web-h2", "grpc-web-h2"), ("grpc-web-text", "grpc-web"),
         ("connect", "grpc"), ("grpc-web", "grpc")]


@pytest.mark.parametrize("dialect, backend", PAIRS, ids=["-to-".join(pair) for pair in PAIRS])
def test_every_dialect(echo_pair, rest, line, dialect, backend):
    client = echo_pair(dialect, backend)
    data = bytes(range(256)) * 20
    # A success passes, with all that belongs to it.
    got = client.call("Say", line(data=data), {"x-word": "w"})
    assert (got.line.text, got.line.data, got.headers["x-head"], got.trailers["x-tail"]) == ("hello", data, "h", "t")
    # So does a fault of the caller.
    got = client.call("Say", line(code=5, message="none", detail=True))
    assert (got.code, got.message, len(got.details), got.trailers["x-tail"]) == ("not_found", "none", 1, "t")
    assert not rest.requests
    for code in (2, 12, 13, 14):
        got = client.call("Say", line(code=code, message="broken", data=data), {"x-word": "w"})
        assert (got.line.text, got.line.data) == ("rest:hello", data)
        assert "x-head" not in got.headers and "x-tail" not in got.trailers
    assert [request["x-word"] for request in rest.requests] == ["w"] * 4
    assert rest.requests[0].json()["wish"] == {"code": 2, "message": "broken"}
    counted(client.gateway, "rpc", "answered", 4, "Say")
    assert client.memory.calls == 6
    assert client.gateway.metric("turnout_requests_total", side="rest", code="ok") == 4
    nothing_is_held(client.gateway)


@pytest.mark.parametrize("dialect, backend", [("connect", "connect"), ("grpc", "grpc"), ("grpc-web", "grpc-web"), ("grpc", "connect")])
def test_rest_to_rpc_for_rpc_callers(echo_pair, rest, line, dialect, backend):
    client = echo_pair(dialect, backend, {"stage": "canary", "canary": {
        "percent": "50%", "sticky_by": "header:x-user"}})
    user = next(f"user-{n}" for n in range(100) if place(f"user-{n}", ECHO) >= 5000)
    for reply in (Reply(500, body=b"<html>"), Reply(raw=b"HTTP/1.1 2"), Reply.json({"text": {}})):
        rest.answers(reply)
        got = client.call("Say", line(data=b"abc"), {"x-user": user})
        assert (got.line.text, got.line.data, got.headers["x-head"]) == ("hello", b"abc", "h")
    assert (len(rest.requests), client.memory.calls) == (3, 3)
    counted(client.gateway, "rest", "answered", 3, "Say")


@pytest.mark.parametrize("dialect, backend", [("connect", "connect"), ("grpc", "grpc"), ("grpc-web", "grpc-web")])
def test_what_is_too_long_to_be_kept_is_asked_once(echo_pair, rest, line, dialect, backend):
    client = echo_pair(dialect, backend, {"fallback": {"max_body": "8KiB"}})
    got = client.call("Say", line(code=13, message="broken", data=b"x" * 9000))
    assert (got.code, got.message, got.trailers["x-tail"]) == ("internal", "broken", "t")
    assert not rest.requests
    counted(client.gateway, "rpc", "too_large", 1, "Say")
    # An answer that is long passes, and a shorter one after it as ever.
    got = client.call("Say", line(size=100_000))
    assert got.line.data == b"d" * 100_000
    assert client.call("Say", line(code=13)).line.text == "rest:hello"
    nothing_is_held(client.gateway)


def test_a_backend_that_is_killed_and_comes_back(start, configuration, rest, rpc, client_of, pb):
    """Under load, with one side away now and then: no call fails."""
    sign(rest, rpc)
    fleet = Fleet(1)
    fleet[0].answers(lambda request: Reply.json({**book("b1"), "title": "rest"}))
    setup = configuration(methods={"GetBook": canary("50%")})
    setup["upstreams"]["legacy"]["endpoints"] = [fleet[0].url]
    gateway = start(setup)
    stop, failed, counts = threading.Event(), [], [0, 0]
    users = [f"user-{n}" for n in range(20)]

    def by_rest():
        with gateway.connect() as wire:
            while not stop.is_set():
                for user in users:
                    answer = wire.request("GET", "/v1/books/b1", [("X-User", user)])
                    counts[0] += 1
                    if answer.status != 200:
                        failed.append(answer)

    def by_rpc():
        client = client_of(gateway)
        while not stop.is_set():
            for user in users:
                try:
                    client.get_book(pb.GetBookRequest(id="b1"), headers={"x-user": user})
                    counts[1] += 1
                except ConnectError as error:
                    failed.append(error)

    threads = [threading.Thread(target=work) for work in (by_rest, by_rpc)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(4):
            fleet[0].stop()
            before = fallbacks(gateway, outcome="answered")
            wait_until(lambda: fallbacks(gateway, outcome="answered") > before + 10, what="fallbacks")
            fleet[0].start()
            before = len(fleet[0].requests)
            wait_until(lambda: len(fleet[0].requests) > before + 10, what="its return")
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
        fleet.stop()
    assert not failed, failed[:3]
    assert min(counts) > 20


def test_failures_at_random_reach_nobody(started, rest, rpc, client_of, pb):
    gateway = started(canary("50%"))
    turns = iter(range(1 << 30))

    def script(call, context):
        if next(turns) % 3 == 0:
            raise ConnectError(Code.UNAVAILABLE, "now and then")
        return rpc.book("b1", title="rpc")

    rpc.script = script
    client = client_of(gateway)
    with gateway.connect() as wire:
        for number in range(150):
            assert side(wire, [("X-User", f"user-{number}")]) in ("rest", "rpc")
            assert client.get_book(pb.GetBookRequest(id="b1"), headers={"x-user": f"user-{number}"}).title in ("rest", "rpc")
    assert fallbacks(gateway, outcome="answered") > 20
    assert gateway.metric("turnout_requests_total", method="GetBook") == gateway.metric(
        "turnout_requests_total", method="GetBook", code="ok")
