"""Unary calls of every RPC dialect before backends of every RPC dialect, with official runtimes on both sides."""

import pytest

from support.echo import BINARY, DETAIL, MESSAGE, NAMES, unpadded

CLIENTS = ["connect", "connect-json", "grpc", "grpc-runtime", "grpc-json", "grpc-web", "grpc-web-h2", "grpc-web-text",
           "curl", "curl-h2", "curl-text"]
BACKENDS = ["connect", "connect-json", "connect-h2", "grpc", "grpc-runtime", "grpc-json", "grpc-web", "grpc-web-h2"]


@pytest.fixture(params=[(client, backend) for client in CLIENTS for backend in BACKENDS], ids="-to-".join)
def pair(request, echo):
    return echo(*request.param)


def test_an_answer_and_its_metadata(pair, line):
    got = pair.call("Say", line(number=7, data=b"\x00\xff"), {
        "x-word": "w", "x-word-bin": unpadded(BINARY)}, timeout=10)
    assert (got.line.text, got.line.number, got.line.data) == ("hello", 7, b"\x00\xff")
    assert got.line.seen["x-word"] == "w" and got.line.seen["x-word-bin"] == BINARY.hex()
    assert 5_000 < int(got.line.seen["timeout_ms"]) <= 11_000
    assert (got.headers["x-head"], got.headers["x-head-bin"]) == ("h", BINARY)
    assert (got.trailers["x-tail"], got.trailers["x-tail-bin"]) == ("t", BINARY)
    assert not [name for name in got.headers if name.startswith(("trailer-", "connect-"))]
    assert not [name for name in got.trailers if name.startswith("connect-")]
    assert pair.memory.calls == 1


def test_each_code(pair, line):
    for code, name in NAMES.items():
        got = pair.call("Say", line(code=code, message=MESSAGE, detail=True))
        assert (got.lines, got.code, got.message) == ([], name, MESSAGE), code
        assert got.details == [("google.protobuf.Duration", DETAIL.SerializeToString())], code
        assert got.trailers["x-tail"] == "t" and got.trailers["x-tail-bin"] == BINARY


def test_an_error_without_a_message(pair, line):
    got = pair.call("Say", line(code=5))
    assert (got.code, got.message, list(got.details)) == ("not_found", "", [])


def test_an_empty_message(pair, echo_schema):
    got = pair.call("Say", echo_schema.pb.Line())
    assert got.line.text == ""


def test_a_message_of_three_megabytes(pair, line):
    # As JSON it is just below the default limit of 4 MiB.
    data = (bytes(range(256)) * 11_719)[:3_000_000]
    got = pair.call("Say", line(data=data))
    assert got.line.data == data


def test_a_deadline(pair, line):
    # On a busy machine the shortest may be over before the backend has begun.
    for seconds in (0.3, 3, 15):
        got = pair.call("Say", line(delay=30), timeout=seconds)
        assert got.code == "deadline_exceeded"
        if pair.memory.cancelled.wait(5):
            return
    pytest.fail("the backend was never told")


@pytest.mark.parametrize("client", ["connect-gzip", "grpc-gzip", "grpc-web-gzip"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_compressed_both_ways(echo, line, client, backend):
    pair = echo(client, backend)
    got = pair.call("Say", line(size=50_000, text="x" * 5000))
    assert got.line.text == "x" * 5000 and got.line.data == b"d" * 50_000
