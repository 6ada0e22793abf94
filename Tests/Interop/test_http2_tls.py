"""HTTP/2 over TLS on both sides, and the interceptors on it: curl, h2load, the `h2` package, the Connect runtime."""

import json
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

import h2.errors
import pyqwest
import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.certificates import Authority
from support.gateway import wait_until
from support.http2 import HTTP2Client, HTTP2Upstream
from support.rest_service import Reply, RESTService, book
from support.schema import SERVICE
from support.wire import Wire, request_bytes

Codes = h2.errors.ErrorCodes
JSON = [("content-type", "application/json")]
UNARY = [*JSON, ("connect-protocol-version", "1")]


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "certificates")


@pytest.fixture
def server(authority):
    return authority.issue("server", "DNS:localhost", "IP:127.0.0.1")


@pytest.fixture
def secured(configuration, server):
    """A configuration whose one listener speaks TLS, with one loop; `tls` are further keys of the listener's."""

    def make(tls=None, **top):
        setup = configuration(**{"workers": 1, "fallback": "legacy", **top})
        setup["listeners"] = [{"address": "127.0.0.1:0", "tls": {**server, **(tls or {})}}]
        return setup

    return make


@pytest.fixture
def open_client(authority):
    """Makes clients that have agreed on HTTP/2."""
    made = []

    def make(gateway, identity=None, **more):
        made.append(HTTP2Client(gateway.address, tls=authority.client_context(identity, alpn=["h2"]), **more))
        assert made[-1].socket.selected_alpn_protocol() == "h2"
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def upstream(authority, server):
    """Makes upstreams that speak HTTP/2 over TLS. Scripts answer on the connection's own thread only."""
    made = []

    def make(*arguments, alpn=("h2",), **more):
        made.append(HTTP2Upstream(*arguments, tls=authority.server_context(server, alpn=list(alpn) or None), **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


def towards(setup, authority, service, http="2", **keys):
    """All upstreams are this one, over TLS."""
    for one in setup["upstreams"].values():
        one.update({"endpoints": [service.url], "http": http, "tls": {"ca": str(authority.file)}, **keys})
    return setup


def with_interceptors(*more):
    return [{"access_log": {"format": "json"}}, *more]


def lines(gateway, count):
    return [json.loads(line) for line in gateway.access_log(count)]


def echo(request):
    return Reply(200, [("Content-Type", "application/octet-stream")], request.body)


def pattern(size):
    return (bytes(range(251)) * (size // 251 + 1))[:size]


# Who speaks what.


def test_curl_agrees_on_http2(start, secured, authority, rest):
    gateway = start(secured())
    for flags, version in [(["--http2"], "2"), (["--http1.1"], "1.1"), (["--no-alpn"], "1.1")]:
        done = subprocess.run(
            ["curl", "-sS", "--max-time", "30", *flags, "--cacert", authority.file, "-w", "\n%{http_version}",
             "--resolve", f"localhost:{gateway.address[1]}:127.0.0.1",
             f"https://localhost:{gateway.address[1]}/v1/books/b1"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert '"The book b1"' in done.stdout and done.stdout.endswith("\n" + version)
    assert [request["host"] for request in rest.requests] == [f"localhost:{gateway.address[1]}"] * 3


@pytest.mark.skipif(not shutil.which("h2load"), reason="h2load is not installed")
def test_h2load(start, secured, rest):
    gateway = start(secured(workers=2))
    done = subprocess.run(
        ["h2load", "-n", "600", "-c", "6", "-m", "20", "-H", ":authority: localhost",
         f"https://127.0.0.1:{gateway.address[1]}/v1/books/b1"], capture_output=True, text=True, timeout=90)
    assert "Application protocol: h2" in done.stdout
    assert "600 succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout, done.stdout
    wait_until(lambda: gateway.metric("turnout_tls_handshakes_total", outcome="ok") == 6, what="the handshakes")


def test_prior_knowledge_over_tls_without_alpn(start, secured, authority):
    """The preface tells, too, when the handshake does not."""
    gateway = start(secured())
    with HTTP2Client(gateway.address, tls=authority.client_context()) as client:
        assert client.socket.selected_alpn_protocol() is None
        assert client.ask("GET", "/v1/books/b1").json() == book("b1")


@pytest.mark.parametrize("agreed, sent", [("http/1.1", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                                          ("h2", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")])
def test_something_else_than_agreed(start, secured, authority, rest, agreed, sent):
    gateway = start(secured())
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
def test_the_preface_in_records_of_any_size(start, secured, authority, rest, size, pause):
    """Records end where they like: inside the preface, a frame's head, a field section."""
    gateway = start(secured())
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
def test_bytes_that_come_with_the_handshake(start, secured, authority, rest, cut, version):
    """What is decrypted together with the last handshake message is not announced again."""
    gateway = start(secured())
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


def test_an_end_of_the_session_without_one_of_the_connection(start, secured, authority, rest):
    """A close-notify behind the last frame is not announced either; the gateway ends its side."""
    gateway = start(secured())
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


def test_the_connect_runtime(start, secured, authority, client_of, pb, rpc, rest):
    gateway = start(secured())
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


def test_client_certificates(start, secured, authority, rest, open_client):
    gateway = start(secured({"client_ca": str(authority.file)}))
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


def test_another_authority_than_the_certificates(start, secured, rest, open_client):
    """One stream is misdirected, the others of its connection are not."""
    gateway = start(secured())
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


# Messages.


def test_what_has_no_body_and_interim_answers(start, secured, rest, open_client):
    client = open_client(start(secured()))
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


def test_expect_continue(start, secured, rest, open_client):
    client = open_client(start(secured(interceptors=with_interceptors({"api_key": {"keys": ["k"]}}))))
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


def test_upgrades_are_refused(start, secured, rest, open_client):
    gateway = start(secured())
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
def test_large_bodies_beside_small_calls(start, secured, rest, open_client, framing):
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
    gateway = start(secured())
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


# Upstreams.


def on_path(exchange):
    exchange.answer(200, [("x-scheme", exchange[":scheme"])], bytes(exchange.body) or b"none")


def test_an_upstream_over_tls_and_http2(start, secured, authority, upstream, open_client, rest):
    one = upstream(on_path)
    gateway = start(towards(secured(), authority, one))
    client = open_client(gateway)
    for number in range(5):
        answer = client.ask("GET", f"/a{number}")
        assert (answer.status, answer.body, answer["x-scheme"]) == (200, b"none", "https")
    data = pattern(20_000_000)
    assert client.ask("POST", "/large", body=data).body == data
    assert len(one.connections) == 1
    assert gateway.metric("turnout_upstream_tls_handshakes_total", outcome="ok") == 1


def test_translated_calls_over_http2(start, secured, authority, upstream, open_client, client_of, pb, rpc):
    def answer(exchange):
        assert exchange[":path"] == f"/{SERVICE}/GetBook"
        exchange.answer(200, [("content-type", "application/json")], json.dumps(book("b1")).encode())

    one = upstream(answer)
    setup = towards(secured(stage="rpc", codec="json"), authority, one)
    client = open_client(start(setup))
    assert client.ask("GET", "/v1/books/b1").json()["title"] == "The book b1"


@pytest.mark.parametrize("alpn", [(), ("http/1.1",)], ids=["none", "http/1.1"])
def test_an_upstream_that_does_not_agree_on_http2(start, secured, authority, upstream, open_client, alpn):
    """Nothing is sent to it: HTTP/2 over TLS is agreed on and never guessed."""
    one = upstream(on_path, alpn=alpn)
    gateway = start(towards(secured(), authority, one))
    client = open_client(gateway)
    assert client.ask("GET", "/a").status == 503
    assert not one.exchanges
    assert "does not agree on HTTP/2" in gateway.access_log()[0]


def test_an_upstream_that_ends_its_session_only(start, secured, authority, upstream, open_client):
    """After its close-notify it does not answer, though its connection is open: another one is opened."""
    def answer(exchange):
        exchange.answer(200, [], b"ok")
        if exchange.connection.number == 0:
            session = exchange.connection.socket
            session.settimeout(0)
            try:
                session.unwrap()
            except OSError:
                pass
            time.sleep(2)

    one = upstream(answer)
    gateway = start(towards(secured(), authority, one))
    client = open_client(gateway)
    assert client.ask("GET", "/a").body == b"ok"
    wait_until(lambda: gateway.metric("turnout_upstream_connections") == 0, 10, "the end of the connection")
    assert client.ask("GET", "/b").body == b"ok"
    assert len(one.connections) == 2


@pytest.mark.parametrize("alpn", [None, ["http/1.1"], ["h2", "http/1.1"]], ids=["none", "1.1", "both"])
def test_an_upstream_of_http1_over_tls(start, secured, authority, server, open_client, alpn):
    service = RESTService(authority.server_context(server, alpn=alpn))
    service.answers(echo)
    client = open_client(start(towards(secured(), authority, service, http="1.1")))
    data = pattern(5_000_000)
    for _ in range(3):
        assert client.ask("POST", "/echo", body=data).body == data


def test_trailers_over_all_pairs(start, secured, authority, upstream, open_client, rest):
    one = upstream(lambda exchange: exchange.answer(
        200, [], b"x" * len(exchange.body), [("x-sum", dict(exchange.trailers).get("x-end", "none"))]))
    gateway = start(towards(secured(), authority, one))
    client = open_client(gateway)
    for body in (b"", b"abc", b"z" * 100_000):
        stream = client.start("POST", "/a", end=False)
        if body:
            client.data(stream, body)
        client.trailers(stream, [("x-end", "7")])
        answer = client.finish(stream)
        assert (len(answer.body), answer.trailers) == (len(body), [("x-sum", "7")])
    with Wire(gateway.address, tls=authority.client_context()) as wire:
        answer = wire.request("POST", "/a", [("Transfer-Encoding", "chunked"), ("TE", "trailers")],
                              b"3\r\nabc\r\n0\r\nX-End: 7\r\n\r\n", host="localhost")
        assert (answer.body, dict(answer.trailers)) == (b"xxx", {"x-sum": "7"})


def test_deadlines_and_leaving_across_the_versions(start, secured, authority, upstream, open_client, rest):
    """A deadline, and a client that resets its stream, cancel the request at the upstream: h2 to h2 and 1.1 to h2."""
    one = upstream(lambda exchange: None if "hang" in exchange[":path"] else exchange.answer(200, [], b"ok"))
    gateway = start(towards(secured(service={"timeout": "400ms"}), authority, one))
    client = open_client(gateway)
    assert client.ask("GET", "/v1/books/hang").status == 504
    one.wait_until(lambda: one.exchanges[0].reset == Codes.CANCEL)
    stream = client.start("GET", "/hang")
    one.wait_for(2)
    client.reset(stream)
    one.wait_until(lambda: one.exchanges[1].reset == Codes.CANCEL)
    with Wire(gateway.address, tls=authority.client_context()) as wire:
        assert wire.request("GET", "/v1/books/hang", host="localhost").status == 504
        wire.send(request_bytes("GET", "/hang", host="localhost"))
        one.wait_for(4)
    one.wait_until(lambda: one.exchanges[3].reset == Codes.CANCEL)
    assert client.ask("GET", "/fine").body == b"ok"
    assert len(one.connections) == 1


def test_deadlines_and_leaving_towards_http1(start, secured, authority, server, open_client):
    service = RESTService(authority.server_context(server))
    left = threading.Event()

    def hang(request):
        if "hang" not in request.path:
            return Reply(200, [], b"ok")
        try:
            assert request.connection.recv(1) == b""
        except OSError:
            pass
        left.set()

    service.answers(hang)
    gateway = start(towards(secured(service={"timeout": "400ms"}), authority, service, http="1.1"))
    client = open_client(gateway)
    assert client.ask("GET", "/v1/books/hang").status == 504
    assert left.wait(10)
    left.clear()
    stream = client.start("GET", "/hang")
    service.wait_for(2)
    client.reset(stream)
    assert left.wait(10)
    assert client.ask("GET", "/fine").body == b"ok"


# What lasts.


def test_a_new_certificate_while_streams_run(start, secured, authority, rest, open_client):
    gateway = start(secured())
    release = threading.Event()

    def slow(request):
        if "slow" in request.path:
            release.wait(60)
        return Reply.json(book(request.path.rsplit("/", 1)[1]))

    rest.answers(slow)
    client = open_client(gateway)
    old = client.socket.getpeercert()["serialNumber"]
    stream = client.start("GET", "/v1/books/slow")
    rest.wait_for(1)
    authority.issue("server", "DNS:localhost", "IP:127.0.0.1")

    def shown():
        with HTTP2Client(gateway.address, tls=authority.client_context(alpn=["h2"])) as other:
            return other.socket.getpeercert()["serialNumber"]

    wait_until(lambda: shown() != old, what="the new certificate")
    assert client.ask("GET", "/v1/books/b2").json() == book("b2")
    release.set()
    assert client.finish(stream).json() == book("slow")
    assert client.goaway is None and "error" not in gateway.log()


def test_draining(start, secured, authority, rest, open_client):
    """GOAWAY at once, running streams are answered, then the session ends well."""
    gateway = start(secured())
    release = threading.Event()

    def slow(request):
        release.wait(60)
        return Reply.json(book("slow"))

    rest.answers(slow)
    client, idle = open_client(gateway), open_client(gateway)
    stream = client.start("GET", "/v1/books/slow")
    rest.wait_for(1)
    gateway.signal(signal.SIGTERM)
    assert client.wait_for(lambda: client.goaway is not None) and client.goaway == 0
    # An end without close-notify would raise SSLEOFError here.
    assert idle.wait_for_end(10)
    release.set()
    assert client.finish(stream).json() == book("slow")
    assert client.wait_for_end(10)
    assert gateway.process.wait(30) == 0


def test_the_age_of_a_connection(start, secured, rest, open_client):
    gateway = start(secured(timeouts={"connection_age": "500ms"}))
    client = open_client(gateway)
    assert client.ask("GET", "/v1/books/b1").status == 200
    assert client.wait_for(lambda: client.goaway is not None, 10) and client.goaway == 0
    assert client.wait_for_end(10)


# Interceptors.


CORS = {"cors": {"origins": ["https://app.test"], "expose": ["x-request-id"]}}
ORIGIN = ("origin", "https://app.test")


def test_preflights(start, secured, rest, open_client):
    gateway = start(secured(interceptors=with_interceptors(CORS, {"api_key": {"keys": ["k"]}})))
    client = open_client(gateway)
    for target in ("/v1/books/b1", f"/{SERVICE}/GetBook", "/anything"):
        answer = client.ask("OPTIONS", target, [ORIGIN, ("access-control-request-method", "POST")])
        assert (answer.status, answer["access-control-allow-origin"], answer.ended) == (204, ORIGIN[1], True)
        assert "content-length" not in dict(answer.fields)
    answer = client.ask("GET", "/v1/books/b1", [ORIGIN])
    assert (answer.status, answer["access-control-allow-origin"]) == (401, ORIGIN[1])
    answer = client.ask("GET", "/v1/books/b1", [ORIGIN, ("x-api-key", "k")])
    assert (answer.status, answer["access-control-allow-origin"]) == (200, ORIGIN[1])
    assert rest.only()["x-api-key"] is None


def test_refusals_and_headers(start, secured, rest, open_client):
    gateway = start(secured(interceptors=with_interceptors(
        {"request_id": {}}, {"headers": {
            "request": {"set": {"X-App": "1"}, "remove": ["X-Gone"]},
            "response": {"set": {"Strict-Transport-Security": "max-age=1"}}}},
        {"rate_limit": {"requests": 3, "per": "1h"}})))
    client = open_client(gateway)
    answer = client.ask("GET", "/v1/books/b1", [("x-gone", "1"), ("x-request-id", "mine")])
    assert (answer.status, answer["x-request-id"], answer["strict-transport-security"]) == (200, "mine", "max-age=1")
    request = rest.only()
    assert (request["x-app"], request["x-gone"], request["x-request-id"]) == ("1", None, "mine")
    assert client.ask("POST", f"/{SERVICE}/GetBook", UNARY, b'{"id":"b1"}').status == 200
    assert client.ask("GET", "/v1/nothing/at/all").status == 404
    answer = client.ask("GET", "/v1/books/b1")
    assert (answer.status, answer["strict-transport-security"]) == (429, "max-age=1")
    assert int(answer["retry-after"]) > 0 and answer["x-request-id"]
    # A body that is under way when its stream is refused stops nothing else.
    stream = client.start("POST", f"/{SERVICE}/GetBook", UNARY, end=False)
    answer = client.finish(stream)
    assert (answer.status, answer.json()["code"]) == (429, "resource_exhausted")
    stream = client.start("PUT", "/anything", body=b"x" * 30_000, end=False)
    assert client.finish(stream).status == 429
    found = lines(gateway, 6)
    assert [line["status"] for line in found] == [200, 200, 404, 429, 429, 429]
    assert gateway.metric("turnout_requests_total", code="resource_exhausted") == 3


def test_a_refusal_before_the_body_is_whole(start, secured, authority, rest, open_client):
    """It is seen by who sends on, and who never ends is stopped. (curl 7.88 loses an answer that a reset follows.)"""
    gateway = start(secured(interceptors=with_interceptors({"api_key": {"keys": ["k"]}})))
    for size in (11, 11, 11, 11, 300_000, 3_000_000):
        done = subprocess.run(
            ["curl", "-sS", "--max-time", "30", "--http2", "--cacert", authority.file, "--data-binary", "@-",
             "--resolve", f"localhost:{gateway.address[1]}:127.0.0.1", "-w", "%{http_code}", "-o", "/dev/null",
             f"https://localhost:{gateway.address[1]}/anything"], input=b"b" * size, capture_output=True, timeout=60)
        assert done.stdout == b"401", done.stderr
    client = open_client(gateway)
    stream = client.start("POST", "/anything", end=False)
    assert client.finish(stream).status == 401
    client.data(stream, b"b" * 1_000_000)
    client.data(stream, b"", end=True)
    never = client.start("POST", "/anything", end=False)
    assert client.finish(never).status == 401
    assert client.h2.open_outbound_streams == 1
    assert client.wait_for(lambda: client.h2.open_outbound_streams == 0, 10), "the stream stays open"
    rest.answers(echo)
    assert client.ask("POST", "/echo", [("x-api-key", "k")], b"abc").body == b"abc"


def test_refused_streams_are_logged(start, secured, rest, open_client):
    """What is no request is answered, or reset, and the log says why; the connection goes on."""
    gateway = start(secured(limits={"target": 1024, "header": 4096}, interceptors=with_interceptors(CORS)))
    client = open_client(gateway)
    assert client.ask("GET", "/" + "a" * 2000, [ORIGIN]).status == 414
    assert client.ask("GET", "/v1/books/b1", [("x-large", "b" * 5000)]).status == 431
    never = client.start("POST", "/" + "a" * 2000, end=False)
    assert client.finish(never).status == 414 and client.h2.open_outbound_streams == 1
    assert client.wait_for(lambda: client.h2.open_outbound_streams == 0, 10), "the stream stays open"
    assert client.ask("GET", "/v1/books/b1", [("te", "gzip")]).reset == Codes.PROTOCOL_ERROR
    assert client.ask("GET", "/v1/books/b1").status == 200
    assert [line["status"] for line in lines(gateway, 4)] == [414, 431, 414, 200]
    for status in (414, 431):
        assert f"refused a request of 127.0.0.1 with {status}: " in gateway.log()
    assert gateway.metric("turnout_http2_faults_total") == 4
    assert len(rest.requests) == 1
