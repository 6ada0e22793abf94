"""Shapes that two parsers read differently: refused with 4xx and a closed connection, nothing reaches a backend."""

import pytest

from support.http2 import HTTP2Upstream
from support.schema import SERVICE
from support.scripted import Scripted, read_all, read_head
from support.wire import NotWhole, Wire, request_bytes

HEAD = b"GET /healthy HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /healthy HTTP/1.1\r\nHost: x\r\n"
NEXT = request_bytes("GET", "/smuggled")


def envelope(message):
    return b"\0" + len(message).to_bytes(4, "big") + message


SHAPES = {
    "both framings": POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both framings, the other order": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
    "two lengths in one": POST + b"Content-Length: 4, 5\r\n\r\nabcd",
    "a signed length": POST + b"Content-Length: +4\r\n\r\nabcd",
    "a negative length": POST + b"Content-Length: -1\r\n\r\n",
    "a hexadecimal length": POST + b"Content-Length: 0x4\r\n\r\nabcd",
    "a length with a blank": POST + b"Content-Length: 4 4\r\n\r\nabcd",
    "an empty length": POST + b"Content-Length: \r\n\r\n",
    "a length that overflows": POST + b"Content-Length: 18446744073709551617\r\n\r\na",
    "a blank before the colon": POST + b"Content-Length : 4\r\n\r\nabcd",
    "a tab before the colon": POST + b"Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
    "a folded line": HEAD + b"X-A: b\r\n c\r\n\r\n",
    "a first line that is folded": b"GET /healthy HTTP/1.1\r\n Host: x\r\n\r\n",
    "a bare LF": b"GET /healthy HTTP/1.1\nHost: x\n\n",
    "a bare LF in a field": HEAD + b"X-A: b\nX-B: c\r\n\r\n",
    "a bare CR": HEAD + b"X-A: b\rX-B: c\r\n\r\n",
    "a NUL in a value": HEAD + b"X-A: b\x00c\r\n\r\n",
    "a control byte in a value": HEAD + b"X-A: b\x01c\r\n\r\n",
    "a NUL in a name": HEAD + b"X\x00A: b\r\n\r\n",
    "an empty name": HEAD + b": b\r\n\r\n",
    "a line without a colon": HEAD + b"X-A\r\n\r\n",
    "no Host": b"GET /healthy HTTP/1.1\r\n\r\n",
    "two Hosts": HEAD + b"Host: y\r\n\r\n",
    "a Host with a path": b"GET /healthy HTTP/1.1\r\nHost: x/y\r\n\r\n",
    "a Host with a user": b"GET /healthy HTTP/1.1\r\nHost: a@x\r\n\r\n",
    "no Host beside an absolute form": b"GET http://y/healthy HTTP/1.1\r\n\r\n",
    "a Host that is none beside an absolute form": b"GET http://y/healthy HTTP/1.1\r\nHost: x/y\r\n\r\n",
    "two Hosts beside an absolute form": b"GET http://x/healthy HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "a relative target": b"GET healthy HTTP/1.1\r\nHost: x\r\n\r\n",
    "a fragment": b"GET /healthy#a HTTP/1.1\r\nHost: x\r\n\r\n",
    "a blank in the target": b"GET /heal thy HTTP/1.1\r\nHost: x\r\n\r\n",
    "a control byte in the target": b"GET /heal\x01thy HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method that is no token": b"GE(T /healthy HTTP/1.1\r\nHost: x\r\n\r\n",
    "a chunk size with a sign": POST + b"Transfer-Encoding: chunked\r\n\r\n+4\r\nabcd\r\n0\r\n\r\n",
    "a chunk size with 0x": POST + b"Transfer-Encoding: chunked\r\n\r\n0x4\r\nabcd\r\n0\r\n\r\n",
    "an empty chunk size": POST + b"Transfer-Encoding: chunked\r\n\r\n\r\nabcd\r\n0\r\n\r\n",
    "a chunk size that overflows": POST + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\na",
    "a chunk that is too long": POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
    "a chunk that ends with LF": POST + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\n0\r\n\r\n",
    "a chunk size that ends with LF": POST + b"Transfer-Encoding: chunked\r\n\r\n4\nabcd\r\n0\r\n\r\n",
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked not last": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "an unknown framing": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a vertical tab in chunked": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "chunked in 1.0": b"POST /healthy HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES.keys())
def test_refused_and_closed(gateway_on_rest, rest, data):
    with Wire(gateway_on_rest.address) as wire:
        wire.send(data + NEXT)
        answer = wire.answer()
        assert answer.status in (400, 501), answer
        assert answer.closes
        # One answer, whatever came behind it.
        assert wire.is_closed()
    # The head of a body that went wrong was fine, and may have reached the backend; what came behind it never.
    assert not [request for request in rest.requests if request.target != "/healthy"]
    assert all(request["transfer-encoding"] == "chunked" for request in rest.requests)


@pytest.mark.parametrize("name", [name for name in SHAPES if "chunk size" in name or "a chunk" in name])
def test_a_broken_body_never_ends_as_a_whole_one_upstream(gateway_on_rpc, rest, rpc, name):
    """On a translated route nothing at all is sent."""
    data = SHAPES[name].replace(
        b"POST /healthy HTTP/1.1\r\n", b"POST /v1/shelves/s1/books HTTP/1.1\r\nContent-Type: application/json\r\n")
    with Wire(gateway_on_rpc.address) as wire:
        wire.send(data + NEXT)
        answer = wire.answer()
        assert answer.status == 400 and answer.closes
        assert wire.is_closed()
    assert not rpc.calls and not rest.requests


@pytest.mark.parametrize("data, status", [
    (b"PRI * HTTP/2.0\r\n\r\nNO\r\n\r\n", (505,)),
    (b"GET / HTTP/3.0\r\nHost: x\r\n\r\n", (505,)),
    (b"GET / HTTP/1.2\r\nHost: x\r\n\r\n", (400, 505)),
    (b"GET / http/1.1\r\nHost: x\r\n\r\n", (400, 505)),
    (b"CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", (400, 405, 501)),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50 + b"\r\n\r\n", (400,)),
    (b"nonsense\r\n\r\n", (400,)),
])
def test_what_is_no_http_1(gateway_on_rest, rest, data, status):
    with Wire(gateway_on_rest.address) as wire:
        wire.send(data)
        answer = wire.answer()
        assert answer.status in status
        assert wire.is_closed()
    assert not rest.requests


@pytest.mark.parametrize("data, body", [
    (POST + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", b"abcd"),
    (POST + b"Content-Length: 4, 4\r\n\r\nabcd", b"abcd"),
    (POST + b"Transfer-Encoding: Chunked\r\n\r\n004;ext=\"a;b\"\r\nabcd\r\n0\r\n\r\n", b"abcd"),
    (POST + b"transfer-encoding:chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n", b"0123456789"),
])
def test_what_is_odd_but_plain_is_sent_on_plainly(gateway_on_rest, rest, data, body):
    with Wire(gateway_on_rest.address) as wire:
        wire.send(data)
        answer = wire.answer()
    if answer.status == 400 and b"Content-Length" in data:
        # Repeated equal lengths may be refused or made one (RFC 9112 section 6.3).
        assert not rest.requests
        return
    request = rest.only()
    assert request.body == body
    assert len(request.all("content-length") + request.all("transfer-encoding")) == 1


@pytest.mark.parametrize("name", ["content-length", "transfer-encoding", "host", "authorization", "cookie"])
def test_forbidden_trailers_are_dropped(gateway_on_rest, rest, name):
    data = POST + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n%s: 1\r\nX-Fine: 1\r\n\r\n" % name.encode()
    with Wire(gateway_on_rest.address) as wire:
        wire.send(data)
        wire.answer()
    for request in rest.requests:
        assert name not in {found.lower() for found, _ in request.trailers}


def test_a_head_that_never_ends_is_not_kept(gateway_on_rest, rest):
    with Wire(gateway_on_rest.address) as wire:
        with pytest.raises((ConnectionError, AssertionError)):
            for _ in range(10_000):
                wire.send(b"X" * 1024)
            raise AssertionError("10 MiB of a head were taken")


@pytest.mark.parametrize("chunks", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize("bad", [b"", envelope(b"")], ids=["no envelope", "one message too many"])
def test_what_a_stream_refuses_is_not_its_connections_next_request(start, configuration, rest, chunks, bad):
    """The call fails behind its answer's head, so the connection stays: what follows the fault belongs to the body."""

    def early(connection):
        read_head(connection)
        # A head and a message before the request is whole.
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/grpc-web+proto\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"
            + envelope(b"") + b"\r\n")
        return read_all(connection)

    backend = Scripted(early)
    setup = configuration(stage="rpc", fallback="legacy")
    setup["upstreams"]["content"] = {"protocol": "grpc-web", "endpoints": [backend.url]}
    gateway = start(setup)
    first, rest_of_body = envelope(b""), bad + NEXT
    if chunks:
        framing, parts = ("Transfer-Encoding", "chunked"), [b"5\r\n" + first + b"\r\n", b"%x\r\n" % len(rest_of_body) + rest_of_body]
    else:
        framing, parts = ("Content-Length", str(len(first + rest_of_body))), [first, rest_of_body]
    fields = [("Content-Type", "application/connect+proto"), framing]
    head = "".join(f"{name}: {value}\r\n" for name, value in [("Host", "x"), *fields])
    with Wire(gateway.address) as wire:
        wire.send(f"POST /{SERVICE}/WatchBooks HTTP/1.1\r\n{head}\r\n".encode() + parts[0])
        answer = wire.head()
        assert answer.status == 200
        wire.send(parts[1])
        assert b'"code":' in wire.body_of(answer).body
        # It ends here, or goes on behind the body.
        if chunks:
            wire.send(b"\r\n0\r\n\r\n")
        wire.send(request_bytes("GET", "/healthy"))
        try:
            assert wire.answer().body == b"legacy"
        except (NotWhole, ConnectionError):
            assert not rest.requests
    assert "/smuggled" not in [request.target for request in rest.requests]
    backend.close()


@pytest.mark.parametrize("upstream", ["1.1", "2"])
def test_the_authority_of_an_absolute_target_is_the_only_one_that_is_seen(start, configuration, upstream):
    """RFC 9112 section 3.2.2: it counts in place of Host, for routes, for upstreams and for what they are told."""
    hosts = []

    def one(connection):
        hosts.append(read_head(connection)[0])
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        read_head(connection)

    server = HTTP2Upstream(lambda exchange: exchange.answer(200)) if upstream == "2" else Scripted(one)
    setup = configuration(fallback="legacy", service={"hosts": ["inside.test"]})
    setup["upstreams"]["legacy"] |= {"endpoints": [server.url], "http": upstream}
    gateway = start(setup)
    cases = [("outside.test", "inside.test", "outside.test"), ("INSIDE.test:80", "outside.test", "inside.test:80")]
    for number, (target, host, seen) in enumerate(cases, 1):
        with gateway.connect() as wire:
            wire.send(b"GET http://%s/v1/books/b1 HTTP/1.1\r\nHost: %s\r\n\r\n" % (target.encode(), host.encode()))
            assert wire.answer().status == 200
        if upstream == "2":
            fields = dict(server.exchanges[-1].fields)
            assert (fields[":authority"], fields.get("host")) == (seen, None)
            assert fields["x-forwarded-host"] == seen
        else:
            head = hosts[-1].decode().lower().split("\r\n")
            assert [line for line in head if line.startswith("host:")] == [f"host: {seen}"]
            assert f"x-forwarded-host: {seen}" in head
            assert head[0] == "get /v1/books/b1 http/1.1"
        # Whose route it is follows the target too.
        assert ("service" in gateway.access_log(number)[-1]) == (seen != "outside.test")
    server.close()
