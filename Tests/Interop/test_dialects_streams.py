"""Streams of every RPC dialect before backends of every RPC dialect: message by message, both ways, to their ends."""

import queue

import pytest

from support.echo import BINARY, DETAIL, MESSAGE, SERVICE, unpadded
from support.gateway import wait_until

CLIENTS = ["connect", "connect-json", "connect-h2", "grpc", "grpc-runtime", "grpc-json", "grpc-web", "grpc-web-h2",
           "grpc-web-text", "curl-text"]
BACKENDS = ["connect", "connect-json", "connect-h2", "grpc", "grpc-runtime", "grpc-json", "grpc-web", "grpc-web-h2"]
# What has HTTP/2 on both sides, for streams both ways.
DUPLEX_CLIENTS = ["connect-h2", "grpc", "grpc-runtime", "grpc-json", "grpc-web-h2"]
DUPLEX_BACKENDS = ["connect-h2", "grpc", "grpc-runtime", "grpc-json", "grpc-web-h2"]


def pairs(clients, backends):
    return pytest.fixture(
        params=[(client, backend) for client in clients for backend in backends], ids="-to-".join)


@pairs(CLIENTS, BACKENDS)
def pair(request, echo):
    return echo(*request.param)


@pairs(DUPLEX_CLIENTS, DUPLEX_BACKENDS)
def duplex(request, echo):
    return echo(*request.param)


def test_a_thousand_messages_and_metadata(pair, line):
    got = pair.call("Hear", line(count=1000), {"x-word": "w", "x-word-bin": unpadded(BINARY)}, timeout=25)
    assert got.code is None, got
    assert [one.number for one in got.lines] == list(range(1, 1001))
    assert got.lines[0].seen["x-word"] == "w" and got.lines[0].seen["x-word-bin"] == BINARY.hex()
    assert 5_000 < int(got.lines[0].seen["timeout_ms"]) <= 26_000
    assert (got.headers["x-head"], got.headers["x-head-bin"]) == ("h", BINARY)
    assert (got.trailers["x-tail"], got.trailers["x-tail-bin"]) == ("t", BINARY)


def test_no_message(pair, line):
    got = pair.call("Hear", line())
    assert (got.lines, got.code) == ([], None)
    assert got.trailers["x-tail"] == "t"


@pytest.mark.parametrize("count", [0, 2])
def test_an_error_with_details(pair, line, count):
    got = pair.call("Hear", line(count=count, code=15, message=MESSAGE, detail=True))
    assert (len(got.lines), got.code, got.message) == (count, "data_loss", MESSAGE)
    assert got.details == [("google.protobuf.Duration", DETAIL.SerializeToString())]
    assert got.trailers["x-tail-bin"] == BINARY


def test_messages_of_a_megabyte(pair, line):
    got = pair.call("Hear", line(count=3, size=1 << 20))
    assert [len(one.data) for one in got.lines] == [1 << 20] * 3, got.code


def test_a_stream_of_requests(pair, line):
    lines = [line("a", count=1), line("b"), line("c" * 100_000)]
    got = pair.call("Tell", iter(lines))
    assert (got.line.text, got.line.number) == ("ab" + "c" * 100_000, 3)


def test_an_error_for_a_stream_of_requests(pair, line):
    got = pair.call("Tell", iter([line("a", code=9, message="no"), line("b")]))
    assert (got.lines, got.code, got.message) == ([], "failed_precondition", "no")


def test_a_deadline_in_mid_stream(pair, line):
    # On a busy machine the shortest may be over before both messages have come.
    for seconds in (1.5, 5, 15):
        got = pair.call("Hear", line(count=2, delay=30), timeout=seconds)
        assert len(got.lines) <= 2 and got.code == "deadline_exceeded"
        if len(got.lines) == 2 and pair.memory.cancelled.wait(5):
            return
    pytest.fail(f"the last had {len(got.lines)} messages, or the backend was never told")


@pytest.mark.parametrize("client", ["connect-gzip", "grpc-gzip", "grpc-web-gzip"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_compressed_messages(echo, line, client, backend):
    got = echo(client, backend).call("Hear", line("x" * 5000, count=50, size=5000))
    assert [(one.number, one.text) for one in got.lines] == [(n, "x" * 5000) for n in range(1, 51)], got.code


@pytest.mark.parametrize("client", ["connect", "grpc", "grpc-runtime", "grpc-web-h2"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_client_that_leaves(echo, line, client, backend):
    pair = echo(client, backend)
    answers = pair.begin("Hear", line(count=1, delay=60))
    assert next(answers).number == 1
    answers.cancel() if hasattr(answers, "cancel") else answers.close()
    assert pair.memory.cancelled.wait(20)
    wait_until(lambda: pair.gateway.metric("turnout_requests_total", method="Hear", code="canceled") > 0)


def test_both_ways_in_turns(duplex, line):
    """Each message is sent only when the one before it has come back."""
    to_send = queue.Queue()
    answers = duplex.begin("Talk", iter(to_send.get, None))
    for number in range(20):
        to_send.put(line(f"{number}", number=number))
        assert next(answers).text == f"{number}"
    to_send.put(None)
    assert list(answers) == []


def test_an_error_before_the_request_is_whole(duplex, line):
    """The answer does not wait for the rest of the request."""
    to_send = queue.Queue()
    to_send.put(line(code=7, message="no"))
    got = duplex.call("Talk", iter(to_send.get, None), timeout=25)
    assert (got.lines, got.code, got.message) == ([], "permission_denied", "no")
    to_send.put(None)


def test_many_messages_both_ways_at_once(duplex, line):
    got = duplex.call("Talk", iter([line("y" * 1000, number=n) for n in range(1, 501)]))
    assert got.code is None, got
    assert [one.number for one in got.lines] == list(range(1, 501))


@pytest.mark.parametrize("backend", ["connect", "grpc"])
def test_both_ways_over_http1_is_refused(echo, backend):
    """In the protocol's own way: by the status in Connect, in the trailers of gRPC-Web."""
    gateway = echo("connect", backend).gateway
    for type, status, told in (
            ("application/connect+proto", 505, b"HTTP/2"), ("application/grpc-web+proto", 200, b"grpc-status: 12")):
        with gateway.connect() as wire:
            answer = wire.request("POST", f"/{SERVICE}/Talk", [("Content-Type", type)], b"\0\0\0\0\0")
            assert (answer.status, answer.closes) == (status, True) and told in answer.body
            assert wire.is_closed()


@pytest.mark.parametrize("path, code, told", [
    ("Say", "12", "HTTP/2"), ("Hear", "12", "HTTP/2"), ("Talk", "12", "HTTP/2"), ("Nothing", "12", "")])
@pytest.mark.parametrize("backend", ["connect", "grpc"])
def test_grpc_over_http1_is_refused_in_grpc(echo, backend, path, code, told):
    """Its status stands in the head, where clients find it without trailers (gRPC's Trailers-Only)."""
    gateway = echo("connect", backend).gateway
    for type in ("application/grpc", "application/grpc+json"):
        with gateway.connect() as wire:
            answer = wire.request("POST", f"/{SERVICE}/{path}", [("Content-Type", type)], b"\0\0\0\0\0")
            assert (answer.status, answer["content-type"], answer["grpc-status"]) == (200, type, code), answer
            assert told in answer["grpc-message"] and answer["content-length"] == "0" and answer.body == b""
            assert answer.all("transfer-encoding") == [] and (answer.closes or not told)


def test_other_refusals_of_grpc_over_http1(start, configuration, rpc):
    """Who is refused for something else first is told that, in gRPC; a head that is no HTTP/1.1 is refused in HTTP."""
    gateway = start(configuration(interceptors=[{"api_key": {"keys": ["k"]}}]))
    with gateway.connect() as wire:
        answer = wire.request("POST", "/any.v1.Service/Method", [("Content-Type", "application/grpc")], b"")
        assert (answer.status, answer["grpc-status"], answer["content-type"]) == (200, "16", "application/grpc")
    with gateway.connect() as wire:
        wire.send(b"POST /a/b HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nHost: b\r\n\r\n")
        answer = wire.answer()
        assert answer.status == 400 and answer.closes and answer["grpc-status"] is None
    assert not rpc.calls
