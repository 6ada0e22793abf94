"""curl where the matrices have no place for it: Connect by GET, and the streams of REST callers."""

import json

import pytest

from support.curl import curl
from support.echo import DETAIL, MESSAGE, SERVICE
from support.gateway import Gateway

BACKENDS = ["connect", "connect-json", "grpc", "grpc-json", "grpc-web"]
HTTP = {
    "Hear": {"http": {"get": "/v1/hear/{text}", "additional_bindings": [{"post": "/v1/hear", "body": "*"}]}},
    "Tell": {"http": {"post": "/v1/tell", "body": "*"}},
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_get(echo, line, backend):
    client = echo("curl-get", backend)
    got = client.call("Say", line("a b/c+d&é", number=7, data=b"\x00\xff"), {"x-word": "w"}, timeout=10)
    assert (got.line.text, got.line.number, got.line.data) == ("a b/c+d&é", 7, b"\x00\xff")
    assert got.line.seen["x-word"] == "w" and 5_000 < int(got.line.seen["timeout_ms"]) <= 11_000
    assert (got.headers["x-head"], got.trailers["x-tail"]) == ("h", "t")
    assert "accept-encoding" in got.headers["vary"].lower()
    got = client.call("Say", line(code=5, message=MESSAGE, detail=True))
    assert (got.code, got.message) == ("not_found", MESSAGE)
    assert got.details == [("google.protobuf.Duration", DETAIL.SerializeToString())]


@pytest.fixture(scope="module")
def rest(echo_gateways, tmp_path_factory):
    """Gateways whose echo has REST bindings, by backend."""
    made = {}

    def get(backend):
        if backend not in made:
            configuration = echo_gateways.configuration(backend)
            configuration["services"][SERVICE]["methods"] = HTTP
            made[backend] = Gateway(tmp_path_factory.mktemp("curl"), configuration)
        return made[backend]

    yield get
    assert all(gateway.discard() in (0, -9) for gateway in made.values()), "a gateway crashed"


@pytest.mark.parametrize("version", ["--http1.1", "--http2-prior-knowledge"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_streams_of_answers(rest, backend, version):
    address = rest(backend).address
    answer = curl(address, "/v1/hear/h%20i?wish.count=3", version)
    assert (answer.status, answer["content-type"]) == (200, "application/x-ndjson")
    assert [json.loads(line)["text"] for line in answer.body.splitlines()] == ["h i"] * 3
    answer = curl(address, "/v1/hear/hi?wish.count=2", version, headers=[("Accept", "application/json")])
    assert [one["number"] for one in json.loads(answer.body)] == ["1", "2"]
    answer = curl(address, "/v1/hear/hi?wish.count=1&wish.code=9", version, headers=[("Accept", "text/event-stream")])
    assert answer.body.startswith(b"data: {") and b'event: error\ndata: {"code":9' in answer.body
    answer = curl(address, "/v1/hear/hi?wish.code=5", version)
    assert (answer.status, json.loads(answer.body)["code"]) == (404, 5)


@pytest.mark.parametrize("version", ["--http1.1", "--http2-prior-knowledge"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_stream_of_requests(rest, backend, version):
    body = b"".join(json.dumps({"text": f"{number}"}).encode() + b"\n" for number in range(100))
    for headers in ([], [("Transfer-Encoding", "chunked")] if version == "--http1.1" else []):
        answer = curl(
            rest(backend).address, "/v1/tell", version, body=body,
            headers=[("Content-Type", "application/x-ndjson"), *headers])
        assert answer.status == 200, answer.body
        assert json.loads(answer.body)["text"] == "".join(map(str, range(100)))
