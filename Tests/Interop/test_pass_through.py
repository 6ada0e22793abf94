"""What both sides agree on passes untouched: REST to REST, Connect to Connect, and what no route matches."""

import hashlib
import subprocess
import threading

import pytest
from google.api.httpbody_pb2 import HttpBody

from support.rest_service import Reply, book
from support.schema import SERVICE
from support.wire import NotWhole, Wire, chunked, request_bytes

SIZES = [0, 1, 64 << 10, 20 << 20]


def noise(size):
    """Bytes that no coding makes smaller and no mistake leaves the same."""
    seed = hashlib.sha256(b"noise").digest()
    return (seed * (size // 32 + 1))[:size] if size < 1 << 20 else hashlib.shake_256(b"noise").digest(size)


def echo(request):
    return Reply(200, [("Content-Type", "application/x-echo"), ("X-Was", request.method)], request.body)


def echo_in_chunks(request):
    parts = [request.body[i : i + 100_000] for i in range(0, len(request.body), 100_000)]
    return Reply(200, [("X-Was", request.method)], chunks=parts, trailers=[("X-Sum", str(len(request.body)))])


@pytest.mark.parametrize("size", SIZES)
def test_bodies_with_a_length(gateway_on_rest, rest, size):
    rest.answers(echo)
    data = noise(size)
    fields = [("Content-Length", str(size)), ("Content-Type", "application/x-noise")]
    answer = gateway_on_rest.fetch("POST", "/echo?a=%20b&a=+", fields, data)
    assert answer.status == 200
    assert answer.body == data
    assert answer["content-length"] == str(size)
    request = rest.only()
    assert (request.target, request.body == data) == ("/echo?a=%20b&a=+", True)
    assert request["content-length"] == str(size) and not request.all("transfer-encoding")


@pytest.mark.parametrize("size", SIZES)
def test_bodies_in_chunks_with_trailers(gateway_on_rest, rest, size):
    rest.answers(echo_in_chunks)
    data = noise(size)
    parts = [data[i : i + 77_777] for i in range(0, size, 77_777)]
    head = request_bytes("PUT", "/echo", [("Transfer-Encoding", "chunked"), ("TE", "trailers"), ("Trailer", "X-Ours")])
    with gateway_on_rest.connect() as wire:
        # Sent while the answer is read: neither side can hold 20 MiB.
        sender = threading.Thread(target=wire.send, args=(head + chunked(parts, [("X-Ours", "yes")]),))
        sender.start()
        answer = wire.answer()
        sender.join(30)
    assert answer.body == data
    assert answer.trailers == [("x-sum", str(size))] or answer.trailers == [("X-Sum", str(size))]
    request = rest.only()
    assert request.body == data
    assert [(name.lower(), value) for name, value in request.trailers] == [("x-ours", "yes")]


def test_curl_uploads_and_downloads(gateway_on_rest, rest, tmp_path):
    rest.answers(echo)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(noise(3 << 20))
    subprocess.run(
        ["curl", "-sSf", "-m", "60", "-T", source, "-o", target, f"{gateway_on_rest.url}/upload"], check=True)
    assert target.read_bytes() == source.read_bytes()


def test_a_described_rest_route_is_not_touched_either(gateway_on_rest, rest):
    body = b'{ "id":"b1" , "unknownToTheSchema":[1.50] }'
    rest.answers(Reply(200, [("Content-Type", "application/json"), ("ETag", '"strong"'), ("Set-Cookie", "a=1"),
                             ("Set-Cookie", "b=2")], body))
    answer = gateway_on_rest.fetch("GET", "/v1/books/b1?anything=goes", [("Cookie", "a=0; b=0")])
    assert (answer.body, answer["etag"], answer.all("set-cookie")) == (body, '"strong"', ["a=1", "b=2"])
    request = rest.only()
    assert (request.target, request["host"]) == ("/v1/books/b1?anything=goes", "gateway.test")


def test_hop_by_hop_fields_stay_on_their_side(gateway_on_rest, rest):
    rest.answers(Reply(200, [("Connection", "x-secret"), ("X-Secret", "1"), ("Keep-Alive", "timeout=5"), ("X-Kept", "1"),
                             ("Proxy-Authenticate", "Basic")], b"ok"))
    answer = gateway_on_rest.fetch("GET", "/healthy", [
        ("Connection", "x-drop, keep-alive"), ("X-Drop", "1"), ("Keep-Alive", "1"), ("TE", "trailers"),
        ("Proxy-Connection", "keep-alive"), ("X-Stay", "1")])
    names = {name.lower() for name, _ in answer.fields}
    assert "x-kept" in names and not names & {"x-secret", "keep-alive", "proxy-authenticate"}
    names = {name.lower() for name, _ in rest.only().fields}
    assert "x-stay" in names and not names & {"x-drop", "keep-alive", "proxy-connection"}


@pytest.mark.parametrize("version", ["--http1.1", "--http2-prior-knowledge"])
def test_no_caller_sees_by_trace_what_the_backend_gets(start, configuration, rest, version):
    """A server that answers TRACE sends the request back, the gateway's own credentials with it."""
    setup = configuration(fallback="legacy")
    setup["upstreams"]["legacy"]["credentials"] = {"static": {"header": "x-api-key", "value": "of the gateway alone"}}
    gateway = start(setup)
    answer = subprocess.run(
        ["curl", "-sS", "-m", "60", "-w", " %{http_code}", version, "-X", "TRACE", f"{gateway.url}/elsewhere"],
        check=True, capture_output=True, text=True).stdout
    assert answer.endswith(" 501") and "TRACE is not served" in answer
    assert not rest.requests
    gateway.fetch("GET", "/elsewhere")
    assert rest.only()["x-api-key"] == "of the gateway alone"


def test_statuses_pass(gateway_on_rest, rest):
    with gateway_on_rest.connect() as wire:
        for status in [200, 201, 202, 204, 206, 301, 304, 400, 404, 409, 418, 429, 500, 503]:
            rest.answers(Reply(status, [("X-Status", str(status))], b"" if status in (204, 304) else b"body"))
            answer = wire.request("GET", "/anything")
            assert (answer.status, answer["x-status"]) == (status, str(status))
            assert answer.body == (b"" if status in (204, 304) else b"body")


def test_connections_to_the_upstream_are_used_again(gateway_on_rest, rest):
    before = rest.connections
    with gateway_on_rest.connect() as wire:
        for _ in range(20):
            assert wire.request("GET", "/healthy").body == b"legacy"
    assert rest.connections - before <= 1


def test_an_upstream_connection_that_was_closed_meanwhile(gateway_on_rest, rest):
    """The gateway may find out only when it writes; a GET is then sent on another one."""
    with gateway_on_rest.connect() as wire:
        for _ in range(20):
            rest.answers(Reply(200, body=b"last", raw=b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast"))
            assert wire.request("GET", "/healthy").body == b"last"


# Connect to Connect.


@pytest.mark.parametrize("by_get", [False, True])
@pytest.mark.parametrize("codec", ["proto", "json"])
def test_connect_clients(shared_gateways, used, rest, rpc, client_of, pb, codec, by_get):
    gateway = shared_gateways("rpc", codec)
    used.append(gateway)
    got = client_of(gateway, codec).get_book(pb.GetBookRequest(id="b1"), use_get=by_get)
    assert got == rpc.book("b1")
    assert rpc.only().http_method == ("GET" if by_get else "POST")
    assert not rest.requests


@pytest.mark.parametrize("codec", ["proto", "json"])
def test_another_codec_than_the_upstreams(shared_gateways, used, rpc, client_of, pb, codec):
    gateway = shared_gateways("rpc", "json" if codec == "proto" else "proto")
    used.append(gateway)
    client = client_of(gateway, codec)
    assert client.get_book(pb.GetBookRequest(id="b1")) == rpc.book("b1")
    assert client.get_book(pb.GetBookRequest(id="b1"), use_get=True) == rpc.book("b1")
    assert rpc.calls[0].headers["content-type"] == ("application/json" if codec == "proto" else "application/proto")


@pytest.mark.parametrize("size", SIZES)
def test_connect_messages_of_any_size(gateway_on_rpc, rpc, client_of, pb, size):
    content = HttpBody(content_type="x/y", data=noise(size))
    got = client_of(gateway_on_rpc, timeout_ms=60_000).set_cover(pb.SetCoverRequest(id="b1", content=content))
    assert got.size == size
    assert rpc.only().message.content.data == noise(size)


def test_a_service_that_speaks_http_1_0(start, configuration, schema, client_of, pb):
    from support.connect_service import WSGIService

    service = WSGIService(schema)
    try:
        setup = configuration(stage="rpc")
        setup["upstreams"]["content"]["endpoints"] = [service.url]
        gateway = start(setup)
        for _ in range(5):
            assert gateway.fetch("GET", "/v1/books/b1").json() == book("b1")
            assert client_of(gateway).get_book(pb.GetBookRequest(id="b2")) == service.library.book("b2")
    finally:
        service.stop()


# Back-pressure.


def test_a_slow_reader_slows_the_upstream_and_loses_nothing(gateway_on_rest, rest):
    """The kernel's buffers may hold some 40 MiB of it, the gateway next to nothing."""
    block, count = noise(1 << 20), 128
    sent = threading.Event()

    def script(request):
        request.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (count << 20))
        for _ in range(count):
            request.send(block)
        sent.set()

    rest.answers(script)
    with Wire(gateway_on_rest.address, receive_buffer=4096) as wire:
        wire.send(request_bytes("GET", "/big"))
        assert wire.head().status == 200
        assert not sent.wait(2), "128 MiB went somewhere although nobody read them"
        assert gateway_on_rest.resident_bytes() < 100 << 20
        for _ in range(count):
            assert wire.exactly(1 << 20) == block
    assert sent.wait(20)


def test_an_unknown_length_ends_whole_or_visibly_cut(gateway_on_rest, rest):
    rest.answers(lambda request: request.send(b"HTTP/1.1 200 OK\r\n\r\nuntil the end"))
    assert gateway_on_rest.fetch("GET", "/a").body == b"until the end"
    rest.answers(lambda request: request.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nnot all"))
    with pytest.raises((NotWhole, ConnectionError)):
        gateway_on_rest.fetch("GET", "/a")


def test_the_procedure_path_of_an_rpc_stays_one(gateway_on_rpc, rpc):
    answer = gateway_on_rpc.fetch(
        "POST", f"/{SERVICE}/GetBook", [("Content-Type", "application/proto")], b"\x0a\x02b1")
    assert (answer.status, answer["content-type"]) == (200, "application/proto")
    assert rpc.only().scope["path"] == f"/{SERVICE}/GetBook"
