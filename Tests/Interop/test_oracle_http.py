"""Random messages of random schemas through a gateway and real sockets, compared with Python's protobuf."""

import http.client
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from google.protobuf import json_format

from oracle.canonical import canonical
from oracle.messages import Filler
from oracle.schemas import Schema
from support.gateway import Gateway
from test_oracle import SEED, Case

SETS = 4
MESSAGES = 10


class Echo(BaseHTTPRequestHandler):
    """Answers with what it got, and keeps it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append(body)
        self.send_response(200)
        self.send_header("content-type", self.headers["content-type"])
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def echo():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    server.received = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module", params=range(SETS))
def schema(request):
    return Schema(random.Random(f"{SEED} http {request.param}"), f"http{SEED}x{request.param}")


@pytest.fixture(scope="module")
def gateways(schema, echo, tmp_path_factory):
    """By stage: a gateway whose only backend is the echo, with a method for each message of the schema."""
    folder = tmp_path_factory.mktemp(schema.package)
    service = schema.set.file[-1].service.add(name="Echo")
    for full_name in schema.messages:
        service.method.add(
            name=f"Send{full_name.split('.')[-1]}", input_type=f".{full_name}", output_type=f".{full_name}")
    (folder / "schema.binpb").write_bytes(schema.set.SerializeToString())
    url = "http://127.0.0.1:%d" % echo.server_address[1]
    started = {}
    for stage in ("rest", "rpc"):
        started[stage] = Gateway(folder / stage, {
            "listeners": [{"address": "127.0.0.1:0"}],
            "schema": [{"descriptor_set": str(folder / "schema.binpb")}],
            "upstreams": {
                "legacy": {"protocol": "rest", "endpoints": [url]},
                "content": {"protocol": "connect", "codec": "proto", "endpoints": [url]},
            },
            "services": {f"{schema.package}.Echo": {
                "rest": "legacy", "rpc": "content", "stage": stage,
                "methods": {method.name: {"http": {"post": f"/v1/{method.name}", "body": "*"}}
                            for method in service.method},
            }},
        })
    yield started
    for gateway in started.values():
        assert gateway.discard() == 0


def exchange(gateway, path, body, headers):
    connection = http.client.HTTPConnection(*gateway.address, timeout=60)
    try:
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def cases(schema, name):
    for full_name, cls in schema.messages.items():
        filler = Filler(random.Random(f"{SEED} {name} {full_name}"), schema.messages.values())
        for _ in range(MESSAGES):
            yield full_name.split(".")[-1], cls, Case(schema, filler.message(cls))


def test_rest_clients_reach_an_rpc_backend(schema, gateways, echo):
    for name, cls, case in cases(schema, "rest client"):
        echo.received.clear()
        text = json_format.MessageToJson(case.message)
        status, answer = exchange(
            gateways["rpc"], f"/v1/Send{name}", text.encode(), {"content-type": "application/json"})
        assert status == 200, case.explain(f"{status}: {answer.decode()}", text)
        [received] = echo.received
        assert canonical(cls.FromString(received)) == case.expected, case.explain("another request", text, received)
        parsed = json_format.Parse(answer, cls())
        assert canonical(parsed) == case.expected, case.explain("another answer", text, answer.decode())


def test_connect_clients_reach_a_rest_backend(schema, gateways, echo):
    for name, cls, case in cases(schema, "connect client"):
        echo.received.clear()
        wire = case.message.SerializePartialToString()
        status, answer = exchange(
            gateways["rest"], f"/{schema.package}.Echo/Send{name}", wire,
            {"content-type": "application/proto", "connect-protocol-version": "1"})
        assert status == 200, case.explain(f"{status}: {answer.decode()}", wire)
        [received] = echo.received
        parsed = json_format.Parse(received, cls())
        assert canonical(parsed) == case.expected, case.explain("another request", wire, received.decode())
        assert canonical(cls.FromString(answer)) == case.expected, case.explain("another answer", wire, answer)
