"""gRPC health checking, answered by the gateway: the official client of gRPC, and the other dialects."""

import base64
import json
import queue
import struct
import threading

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from support.gateway import run, wait_until
from support.wire import request_bytes

HEALTH = "grpc.health.v1.Health"
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
LIBRARY = "library.v1.Library"


@pytest.fixture
def configured(configuration):
    """The configuration of the library, with a health service of the gateway's own."""

    def make(settings=None, **more):
        made = configuration(**more)
        made["services"][HEALTH] = {"answer": "gateway", **(settings or {})}
        return made

    return make


def channel(gateway, **more):
    return grpc.insecure_channel("%s:%d" % gateway.address, options=[("grpc.use_local_subchannel_pool", 1)], **more)


def check(stub, service=""):
    return stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=20).status


@pytest.fixture(params=[None, grpc.Compression.Gzip], ids=["plain", "gzip"])
def stub(request, start, configured):
    with channel(start(configured()), compression=request.param) as open_channel:
        yield health_pb2_grpc.HealthStub(open_channel)


def test_the_official_client(stub):
    assert check(stub) == SERVING
    assert check(stub, LIBRARY) == SERVING
    assert check(stub, HEALTH) == SERVING
    with pytest.raises(grpc.RpcError) as refused:
        check(stub, "library.v1.Nobody")
    assert refused.value.code() == grpc.StatusCode.NOT_FOUND
    assert "library.v1.Nobody" in refused.value.details()
    answers = stub.List(health_pb2.HealthListRequest(), timeout=20).statuses
    assert {name: answer.status for name, answer in answers.items()} == dict.fromkeys(["", LIBRARY, HEALTH], SERVING)
    answers = stub.Watch(health_pb2.HealthCheckRequest(service="library.v1.Nobody"), timeout=20)
    assert next(answers).status == SERVICE_UNKNOWN
    answers.cancel()


def test_the_other_dialects(start, configured):
    gateway = start(configured(settings={"methods": {"Check": {"http": {"get": "/health/{service=**}"}}}}))
    answer = gateway.fetch(
        "POST", f"/{HEALTH}/Check", [("Content-Type", "application/json")], b'{"service": "library.v1.Library"}')
    assert (answer.status, answer.json()) == (200, {"status": "SERVING"})
    answer = gateway.fetch("POST", f"/{HEALTH}/Check", [("Content-Type", "application/json")], b'{"service": "x"}')
    assert (answer.status, answer.json()["code"]) == (404, "not_found")
    answer = gateway.fetch("GET", "/health/library.v1.Library")
    assert (answer.status, answer.json()) == (200, {"status": "SERVING"})
    body = b"\0\0\0\0\0"
    answer = gateway.fetch("POST", f"/{HEALTH}/Check", [("Content-Type", "application/grpc-web")], body)
    assert answer.body.startswith(b"\0\0\0\0\2\x08\1\x80") and b"grpc-status: 0" in answer.body
    answer = gateway.fetch(
        "POST", f"/{HEALTH}/Check", [("Content-Type", "application/grpc-web-text")], base64.b64encode(body))
    assert base64.b64decode(answer.body[:12]).startswith(b"\0\0\0\0\2\x08\1")


def read_message(wire):
    """The next envelope of a chunked answer whose messages are a chunk each."""
    while b"\r\n" not in wire.buffer:
        assert wire._more()
    size, wire.buffer = wire.buffer.split(b"\r\n", 1)
    while len(wire.buffer) < int(size, 16) + 2:
        assert wire._more()
    chunk, wire.buffer = wire.buffer[:int(size, 16)], wire.buffer[int(size, 16) + 2:]
    return chunk[0], chunk[5:]


def test_a_watch_in_connect_follows_a_reload(start, configured):
    """JSON over HTTP/1.1: the watch begins with what is so, and learns of services that come and go."""
    settings = configured()
    library = settings["services"].pop(LIBRARY)
    gateway = start(settings)
    message = json.dumps({"service": LIBRARY}).encode()
    with gateway.connect() as wire:
        wire.send(request_bytes(
            "POST", f"/{HEALTH}/Watch", [("Content-Type", "application/connect+json")],
            struct.pack(">BI", 0, len(message)) + message))
        while b"\r\n\r\n" not in wire.buffer:
            assert wire._more()
        head, wire.buffer = wire.buffer.split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 200 ")
        assert read_message(wire) == (0, b'{"status":"SERVICE_UNKNOWN"}')
        settings["services"][LIBRARY] = library
        gateway.write(settings)
        assert gateway.admin("POST", "/reload").status == 200
        assert read_message(wire) == (0, b'{"status":"SERVING"}')


def test_a_watch_outlives_the_idle_time(start, configured):
    """The status is repeated before the stream would count as idle."""
    with channel(start(configured(timeouts={"stream_idle": "600ms"}))) as open_channel:
        answers = health_pb2_grpc.HealthStub(open_channel).Watch(health_pb2.HealthCheckRequest(), timeout=30)
        assert [next(answers).status for _ in range(6)] == [SERVING] * 6
        answers.cancel()


def test_a_drain_is_told_and_not_held_up(start, configured):
    gateway = start(configured(drain="25s"))
    with channel(gateway) as open_channel:
        got = queue.Queue()

        def watch():
            try:
                for answer in health_pb2_grpc.HealthStub(open_channel).Watch(health_pb2.HealthCheckRequest()):
                    got.put(answer.status)
            except grpc.RpcError as error:
                got.put(error.code())

        threading.Thread(target=watch, daemon=True).start()
        assert got.get(timeout=20) == SERVING
        gateway.process.terminate()
        assert got.get(timeout=20) == NOT_SERVING
        assert got.get(timeout=20) == grpc.StatusCode.UNAVAILABLE
        assert gateway.process.wait(20) == 0


def test_interceptors_apply(start, configured):
    gateway = start(configured(settings={"interceptors": [{"api_key": {"keys": ["sesame"]}}]}))
    with channel(gateway) as open_channel:
        stub = health_pb2_grpc.HealthStub(open_channel)
        with pytest.raises(grpc.RpcError) as refused:
            check(stub)
        assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
        request = health_pb2.HealthCheckRequest()
        assert stub.Check(request, metadata=[("x-api-key", "sesame")], timeout=20).status == SERVING
    wait_until(lambda: gateway.metric("turnout_requests_total", service=HEALTH, face="grpc", code="ok") == 1)
    refused = gateway.admin("PUT", f"/routes/{HEALTH}/Check/stage", {"stage": "rest"})
    assert refused.status == 400


def test_malformed_questions(start, configured):
    gateway = start(configured())
    with channel(gateway) as open_channel:
        for method, kind in (("Check", open_channel.unary_unary), ("Watch", open_channel.unary_stream)):
            with pytest.raises(grpc.RpcError) as refused:
                list(kind(f"/{HEALTH}/{method}")(b"\x0a\x05ab", timeout=20)) if method == "Watch" else kind(
                    f"/{HEALTH}/{method}")(b"\x0a\x05ab", timeout=20)
            assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT, method
        many = open_channel.stream_unary(f"/{HEALTH}/Check")
        for messages in ([], [b"", b""]):
            with pytest.raises(grpc.RpcError) as refused:
                many(iter(messages), timeout=20)
            assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED, messages
        with pytest.raises(grpc.RpcError) as refused:
            open_channel.unary_unary(f"/{HEALTH}/Check")(b"\x0a" + b"\xff\xff\x07" + b"a" * 131_071, timeout=20)
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_explain_names_the_gateway(configured, tmp_path):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configured()))
    told = run("explain", "--config", file, "POST", f"/{HEALTH}/Check", "--data", "{}")
    assert "gateway (grpc), the gateway itself" in told.stdout, told
