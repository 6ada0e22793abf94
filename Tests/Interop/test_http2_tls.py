"""HTTP/2 over TLS: who speaks what, the handshake, and what is asked over it, by curl, h2load, the `h2` package, the Connect runtime."""

import shutil
import socket
import ssl
import subprocess
import time

import h2.errors
import pyqwest
import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.gateway import wait_until
from support.http2 import HTTP2Client
from support.http2_tls import echo, lines, pattern, with_interceptors
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.wire import Wire

Codes = h2.errors.ErrorCodes

JSON = [("content-type", "application/json")]

UNARY = [*JSON, ("connect-protocol-version", "1")]


def test_curl_agrees_on_http2(start, secured_http2, authority, rest):
    gateway = start(secured_http2())
    for flags, version in [(["--http2"], "2"), (["--http1.1"], "1.1"), (["--no-alpn"], "1.1")]:
        done = subprocess.run(
            ["curl", "-sS", "--max-time", "30", *flags, "--cacert", authority.file, "-w", "\n%{http_version}",
             "--resolve", f"localhost:{gateway.address[1]}:127.0.0.1",
             f"https://localhost:{gateway.address[1]}/v1/books/b1"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert '"The book b1"' in done.stdout and done.stdout.endswith("\n" + version)
    assert [request["host"] for request in rest.requests] == [f"localhost:{gateway.address[1]}"] * 3


@pytest.mark.skipif(not shutil.which("h2load"), reason="h2load is not installed")
def test_h2load(start, secured_http2, rest):
    gateway = start(secured_http2(workers=2))
    done = subprocess.run(
        ["h2load", "-n", "600", "-c", "6", "-m", "20", "-H", ":authority: localhost",
         f"https://127.0.0.1:{gateway.address[1]}/v1/books/b1"], capture_output=True, text=True, timeout=90)
    assert "Application protocol: h2" in done.stdout
    assert "600 succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout, done.stdout
    wait_until(lambda: gateway.metric("turnout_tls_handshakes_total", outcome="ok") == 6, what="the handshakes")


def test_prior_knowledge_over_tls_without_alpn(start, secured_http2, authority):
    """The preface tells, too, when the handshake does not."""
    gateway = start(secured_http2())
    with HTTP2Client(gateway.address, tls=authority.client_context()) as client:
        assert client.socket.selected_alpn_protocol() is None
        assert client.ask("GET", "/v1/books/b1").json() == book("b1")


@pytest.mark.parametrize("agreed, sent", [("http/1.1", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                                          ("h2", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")])
def test_something_else_than_agreed(start, secured_http2, authority, rest, agreed, sent):
    gateway = start(secured_http2())
    with Wire(gateway.address, tls=authority.client_context(alpn=[agreed])) as wire:
        wire.send(sent)
        data = b""
        while part := wire.socket.recv(1 << 16):
            data += part
    if agreed == "h2":
        assert b"HTTP/1.1" not in data and b"\x07\0\0\0\0\0" in data
    else:
        assert data.startswith(b"HTTP/1.1 505 ")
    assert not rest.requests


@pytest.mark.parametrize("pause", [0, 0.02], ids=["at once", "slowly"])
@pytest.mark.parametrize("size", [1, 3, 7, 24, 25, 100])
def test_the_preface_in_records_of_any_size(start, secured_http2, authority, rest, size, pause):
    """Records end where they like: inside the preface, a frame's head, a field section."""
    gateway = start(secured_http2())
    context = authority.client_context(alpn=["h2"])

    class Slow(HTTP2Client):
        def send(self, data):
            for at in range(0, len(data), size):
                self.socket.sendall(data[at:at + size])
                if pause and at < 60:
                    time.sleep(pause)

    with Slow(gateway.address, tls=context) as client:
        assert client.ask("GET", "/v1/books/b1").json() == book("b1")
        assert client.ask("GET", "/v1/books/b2").json() == book("b2")


def exchange_in_memory(context, name, address, first):
    """A connection whose first bytes leave in the same segment as the end of the handshake."""
    raw = socket.create_connection(address, timeout=30)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context.wrap_bio(incoming, outgoing, server_hostname=name)
    while True:
        try:
            session.do_handshake()
            break
        except ssl.SSLWantReadError:
            raw.sendall(outgoing.read())
            incoming.write(raw.recv(1 << 16))
    session.write(first)
    raw.sendall(outgoing.read())
    return raw, session, incoming, outgoing


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload

# GET https://localhost/v1/books/b1, without the dynamic table.
HEAD = (b"\x82\x87" + b"\x01\x09localhost" + b"\x04\x0c/v1/books/b1")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
@pytest.mark.parametrize("cut", [24, 10, 1, 33, 50, None])
def test_bytes_that_come_with_the_handshake(start, secured_http2, authority, rest, cut, version):
    """What is decrypted together with the last handshake message is not announced again."""
    gateway = start(secured_http2())
    context = authority.client_context(alpn=["h2"])
    context.minimum_version = context.maximum_version = version
    whole = PREFACE + frame(4) + frame(1, 5, 1, HEAD)
    raw, session, incoming, outgoing = exchange_in_memory(context, "localhost", gateway.address, whole[:cut])
    if cut:
        time.sleep(0.05)
        session.write(whole[cut:])
        raw.sendall(outgoing.read())
    data = b""
    while b'"The book b1"' not in data:
        try:
            data += session.read(1 << 16)
        except ssl.SSLWantReadError:
            part = raw.recv(1 << 16)
            assert part, data
            incoming.write(part)
    raw.close()
    assert len(rest.requests) == 1


def test_an_end_of_the_session_without_one_of_the_connection(start, secured_http2, authority, rest):
    """A close-notify behind the last frame is not announced either; the gateway ends its side."""
    gateway = start(secured_http2())
    context = authority.client_context(alpn=["h2"])
    raw, session, incoming, outgoing = exchange_in_memory(
        context, "localhost", gateway.address, PREFACE + frame(4) + frame(6, payload=b"12345678"))
    time.sleep(0.1)
    session.write(frame(6, payload=b"abcdefgh"))
    try:
        session.unwrap()
    except ssl.SSLError:
        pass
    raw.sendall(outgoing.read())
    raw.settimeout(10)
    while raw.recv(1 << 16):
        pass
    raw.close()


def test_the_connect_runtime(start, secured_http2, authority, client_of, pb, rpc, rest):
    gateway = start(secured_http2())
    transport = pyqwest.SyncHTTPTransport(
        tls_ca_cert=authority.file.read_bytes(), http_version=pyqwest.HTTPVersion.HTTP2)
    client = client_of(
        gateway, address="https://localhost:%d" % gateway.address[1], http_client=pyqwest.SyncClient(transport))
    assert client.get_book(pb.GetBookRequest(id="b1")) == rpc.book("b1")
    assert len(client.get_book(pb.GetBookRequest(id="b1", title_size=2_000_000)).title) == 2_000_000
    rest.answers(Reply.json({"message": "gone"}, 404))
    with pytest.raises(ConnectError) as caught:
        client.get_book(pb.GetBookRequest(id="b2"))
    assert caught.value.code == Code.NOT_FOUND
    assert gateway.metric("turnout_tls_handshakes_total", outcome="ok") == 1
    assert lines(gateway, 3)[0]["status"] == 200


def test_client_certificates(start, secured_http2, authority, rest, open_client):
    gateway = start(secured_http2({"client_ca": str(authority.file)}))
    client = open_client(gateway, authority.issue("client"))
    assert client.ask("GET", "/v1/books/b1").json() == book("b1")
    with pytest.raises((ssl.SSLError, OSError)):
        # In TLS 1.3 the refusal comes after the client's handshake.
        with HTTP2Client(gateway.address, tls=authority.client_context(alpn=["h2"])) as nobody:
            nobody.pump()
            if nobody.closed:
                raise OSError
    assert gateway.metric("turnout_tls_handshakes_total", outcome="no_certificate") == 1
    assert len(rest.requests) == 1


def test_another_authority_than_the_certificates(start, secured_http2, rest, open_client):
    """One stream is misdirected, the others of its connection are not."""
    gateway = start(secured_http2())
    client = open_client(gateway)
    assert client.ask("GET", "/v1/books/b1").status == 200
    answer = client.ask("GET", "/v1/books/b1", authority="other.test")
    assert answer.status == 421 and b"certificate" in answer.body
    answer = client.ask("POST", f"/{SERVICE}/GetBook", UNARY, b'{"id":"b1"}', authority="other.test")
    assert (answer.status, answer.json()["code"]) == (421, "failed_precondition")
    assert client.ask("POST", "/v1/shelves/s/books", JSON, b"{}", authority="other.test").status == 421
    assert client.ask("GET", "/v1/books/b2", authority=f"localhost:{gateway.address[1]}").status == 200
    assert len(rest.requests) == 2
    assert [line["status"] for line in lines(gateway, 5)] == [200, 421, 421, 421, 200]


def test_what_has_no_body_and_interim_answers(start, secured_http2, rest, open_client):
    client = open_client(start(secured_http2()))
    assert client.ask("HEAD", "/v1/books/b1").body == b""
    rest.answers(Reply(204))
    answer = client.ask("DELETE", "/v1/books/b1")
    assert (answer.status, answer["content-length"], answer.ended) == (204, None, True)
    rest.answers(Reply(304, [("ETag", '"1"')]))
    answer = client.ask("GET", "/v1/books/b1")
    assert (answer.status, answer["etag"], answer.ended) == (304, '"1"', True)
    rest.answers(Reply(raw=b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
    answer = client.ask("GET", "/v1/books/b1")
    assert answer.interim[0][0] == (":status", "103") and answer.body == b"ok"
    rest.answers(Reply(200, [], chunks=[b"a", b"b"], trailers=[("X-End", "1")]))
    answer = client.ask("GET", "/v1/books/b1")
    assert (answer.body, answer.trailers) == (b"ab", [("x-end", "1")])


def test_expect_continue(start, secured_http2, rest, open_client):
    client = open_client(start(secured_http2(interceptors=with_interceptors({"api_key": {"keys": ["k"]}}))))
    rest.answers(echo)
    fields = [("expect", "100-continue"), ("content-length", "3"), ("x-api-key", "k")]
    stream = client.start("POST", "/echo", fields, end=False)
    assert client.wait_for(lambda: client.answers[stream].interim)
    assert client.answers[stream].interim == [[(":status", "100")]]
    client.data(stream, b"abc", end=True)
    assert client.finish(stream).body == b"abc"
    # Who is refused anyway is not told to go on.
    stream = client.start("POST", "/echo", fields[:2], end=False)
    answer = client.finish(stream)
    assert (answer.status, answer.interim) == (401, [])


def test_upgrades_are_refused(start, secured_http2, rest, open_client):
    gateway = start(secured_http2())
    client = open_client(gateway)
    stream = client.start("CONNECT", "/socket", pseudo=[
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/socket"),
        (":authority", "localhost")], end=False)
    answer = client.finish(stream)
    assert answer.status == 501 or answer.reset == Codes.PROTOCOL_ERROR
    for fields in ([("upgrade", "websocket")], [("connection", "upgrade")]):
        assert client.ask("GET", "/socket", fields).reset == Codes.PROTOCOL_ERROR
    assert client.ask("GET", "/v1/books/b1").status == 200
    assert len(rest.requests) == 1


@pytest.mark.parametrize("framing", ["length", "chunked", "until close"])
def test_large_bodies_beside_small_calls(start, secured_http2, rest, open_client, framing):
    """20 MB up and down, while one stream is not read and others come and go."""
    size = 20_000_000
    data = pattern(size)

    def answer(request):
        if request.path == "/slow":
            return Reply(200, [], data)
        if request.path != "/echo":
            return Reply(200, [], b"small")
        if framing == "chunked":
            return Reply(200, [], chunks=[request.body[at:at + 70_000] for at in range(0, size, 70_000)])
        if framing == "until close":
            return Reply(raw=b"HTTP/1.1 200 OK\r\n\r\n" + request.body)
        return Reply(200, [], request.body)

    rest.answers(answer)
    gateway = start(secured_http2())
    client = open_client(gateway)
    slow = client.start("GET", "/slow")
    client.reads = lambda stream: stream != slow
    assert client.wait_for(lambda: len(client.answers[slow].body) > 60_000)
    small = [client.ask("GET", f"/small/{number}").body for number in range(20)]
    assert small == [b"small"] * 20
    stream = client.start("POST", "/echo", body=data)
    assert client.finish(stream).body == data
    assert client.ask("GET", "/small").body == b"small"
    assert gateway.resident_bytes() < 150 << 20
    client.reads = True
    client.take(slow)
    client.flush()
    assert client.finish(slow).body == data
