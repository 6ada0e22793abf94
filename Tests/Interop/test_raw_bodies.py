"""google.api.HttpBody: kept as it is, and passed on without being gathered where it can be."""

import gzip
import hashlib
import threading

import pytest
from google.api.httpbody_pb2 import HttpBody

from support.gateway import wait_until
from support.http2 import HTTP2Client
from support.raw_upstream import RawUpstream
from support.schema import SERVICE
from support.wire import NotWhole, request_bytes

BLOCK = bytes(range(256)) * 256
BIG = 200 << 20
# What a debug build may hold beyond what it holds anyway.
BOUND = 8 << 20


def varint(number):
    out = b""
    while number >= 0x80:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def field(number, content, length=None):
    return varint(number << 3 | 2) + varint(len(content) if length is None else length) + content


class Upstream(RawUpstream):
    """A Connect service that takes messages of any size and answers by a script."""

    def __init__(self):
        self.requests = []
        self.answers_with(b"")
        super().__init__(self.serve)

    def answers_with(self, head, data=0, tail=b"", framing="length", pieces=None):
        """`head`, so many bytes of data made of blocks, `tail`; or the pieces one by one."""
        self.head, self.data, self.tail, self.framing, self.pieces = head, data, tail, framing, pieces

    def serve(self, connection):
        while head := connection.head():
            lines = head.decode("latin-1").split("\r\n")
            fields = dict(line.lower().split(": ", 1) for line in lines[1:])
            length = int(fields["content-length"])
            digest, beginning, left = hashlib.sha256(), b"", length
            self.requests.append((lines[0].split()[1], fields, None, None))
            while left:
                data, connection.unread = connection.unread[:left], connection.unread[left:]
                if not data and not (data := connection.socket.recv(min(left, 1 << 20))):
                    return
                left -= len(data)
                if len(beginning) < 4096:
                    beginning += data[: 4096 - len(beginning)]
                digest.update(data)
            self.requests[-1] = (lines[0].split()[1], fields, beginning, digest.hexdigest())
            self.answer(connection)

    def answer(self, connection):
        total = len(self.head) + self.data + len(self.tail)
        framing = "Transfer-Encoding: chunked" if self.framing == "chunked" else f"Content-Length: {total}"
        connection.send(
            f"HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nX-Made: here\r\nTrailer-X-End: there\r\n"
            f"{framing}\r\n\r\n".encode())

        def send(data):
            if data:
                connection.send(b"%x\r\n%s\r\n" % (len(data), data) if self.framing == "chunked" else data)

        if self.pieces is not None:
            for piece in self.pieces:
                send(piece)
        else:
            send(self.head)
            for start in range(0, self.data, len(BLOCK)):
                send(BLOCK[: self.data - start])
            send(self.tail)
        if self.framing == "chunked":
            connection.send(b"0\r\n\r\n")


@pytest.fixture
def upstream():
    service = Upstream()
    yield service
    service.close()


@pytest.fixture
def make(start, configuration, upstream):
    def make(codec="proto", **top):
        config = configuration(stage="rpc", codec=codec, service={"timeout": "300s"}, **top)
        config["upstreams"]["content"]["endpoints"] = [upstream.url]
        return start(config)

    return make


@pytest.fixture
def gateway(make):
    return make()


class Watched:
    """How much memory the gateway took at the most while something ran."""

    def __init__(self, gateway):
        self.gateway, self.most, self.over = gateway, 0, threading.Event()
        self.before = gateway.resident_bytes()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self):
        while not self.over.wait(0.02):
            self.most = max(self.most, self.gateway.resident_bytes())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    @property
    def grown(self):
        return self.most - self.before


def blocks(size):
    for start in range(0, size, len(BLOCK)):
        yield BLOCK[: size - start]


def digest_of(beginning, size):
    digest = hashlib.sha256(beginning)
    for block in blocks(size):
        digest.update(block)
    return digest.hexdigest()


def upload(gateway, size, type="video/mp4", target="/v1/books/b%201/cover"):
    with gateway.connect(timeout=300) as wire:
        wire.send(request_bytes("PUT", target, [("Content-Type", type), ("Content-Length", str(size))]))
        for block in blocks(size):
            wire.send(block)
        return wire.answer()


def test_a_large_upload_is_not_gathered(gateway, upstream, pb):
    upstream.answers_with(pb.Cover(content_type="x", size=7).SerializeToString())
    upload(gateway, 1 << 20)
    with Watched(gateway) as watched:
        answer = upload(gateway, BIG)
    assert (answer.status, answer.json()) == (200, {"contentType": "x", "size": 7}), answer
    target, fields, beginning, digest = upstream.requests[-1]
    assert (target, fields["content-type"]) == (f"/{SERVICE}/SetCover", "application/proto")
    inner = field(1, b"video/mp4") + field(2, b"", BIG)
    expected = field(1, b"b 1") + field(2, inner, len(inner) + BIG)
    assert beginning[: len(expected)] == expected
    assert digest == digest_of(expected, BIG)
    assert watched.grown < BOUND, f"{watched.grown >> 20} MiB"


def test_what_is_begun_is_the_message(gateway, upstream, pb):
    upstream.answers_with(b"")
    for size in [(256 << 10) + 1, 300_000, 1 << 20]:
        upload(gateway, size)
        beginning, digest = upstream.requests[-1][2:]
        body = b"".join(blocks(size))
        message = pb.SetCoverRequest(id="b 1", content=HttpBody(content_type="video/mp4", data=body))
        assert digest == hashlib.sha256(message.SerializeToString()).hexdigest()


@pytest.mark.parametrize("size", [0, 1, 1000, 256 << 10])
def test_a_small_upload_is_the_same_message(gateway, upstream, pb, size):
    upload(gateway, size)
    body = b"".join(blocks(size))
    message = pb.SetCoverRequest(id="b 1", content=HttpBody(content_type="video/mp4", data=body))
    assert upstream.requests[-1][3] == hashlib.sha256(message.SerializeToString()).hexdigest()


def test_limits_message_is_for_what_is_gathered(make, upstream, pb):
    gateway = make(limits={"message": "64KiB", "raw": "0B"})
    upstream.answers_with(b"")
    assert upload(gateway, 65_536).status == 200
    assert upload(gateway, 65_537).status == 200
    with gateway.connect() as wire:
        wire.send(request_bytes(
            "PUT", "/v1/books/b1/cover", [("Content-Type", "a/b"), ("Transfer-Encoding", "chunked")]))
        wire.send(b"%x\r\n%s\r\n" % (70_000, BLOCK + BLOCK[:4464]) + b"0\r\n\r\n")
        assert wire.answer().status == 413


@pytest.mark.parametrize("limits", [{"raw": "400KiB"}, {"message": "400KiB"}, {"message": "1KiB", "raw": "400KiB"}])
def test_a_bound_on_raw_bodies(make, upstream, limits):
    gateway = make(limits=limits)
    upstream.answers_with(b"")
    assert upload(gateway, 400 << 10).status == 200
    assert upload(gateway, (400 << 10) + 1).status == 413
    assert len(upstream.requests) == 1
    for size, status in [(400 << 10, 200), ((400 << 10) + 1, 502)]:
        upstream.answers_with(head_of(b"a/b", size), size)
        assert gateway.fetch("GET", "/v1/books/b1/cover").status == status


@pytest.mark.parametrize("length", [2**63 - 1, 2**63 - 8])
def test_a_length_that_no_message_can_have_is_too_large(gateway, upstream, length):
    with gateway.connect() as wire:
        wire.send(request_bytes("PUT", "/v1/books/b1/cover", [("Content-Type", "a/b"), ("Content-Length", str(length))]))
        assert wire.answer().status == 413
    assert not upstream.requests and gateway.process.poll() is None


def test_json_and_chunks_are_gathered(make, upstream, pb):
    gateway = make(codec="json", limits={"message": "64KiB"})
    assert upload(gateway, 65_537).status == 413
    assert not upstream.requests


def test_a_fault_of_the_path_or_query_reaches_nobody(gateway, upstream):
    for target in ["/v1/books/%FF/cover", "/v1/books/b1/cover?content.data=x", "/v1/books/b1/cover?id=other"]:
        with gateway.connect() as wire:
            wire.send(request_bytes("PUT", target, [("Content-Type", "a/b"), ("Content-Length", str(1 << 20))]))
            assert wire.answer().status == 400, target
    assert not upstream.requests


def test_a_client_that_leaves_ends_the_upload(gateway, upstream):
    with gateway.connect() as wire:
        wire.send(request_bytes("PUT", "/v1/books/b1/cover", [("Content-Length", str(1 << 20))]) + BLOCK)
        wait_until(lambda: upstream.requests, what="the upload")
    wait_until(lambda: '"status":499' in gateway.stdout.read_text(), what="the end of the call")
    assert upstream.requests[-1][3] is None


def test_an_upstream_that_does_not_take_it_stops_the_client(make, configuration, start):
    arrived, go = threading.Event(), threading.Event()

    def lazy(connection):
        connection.head()
        arrived.set()
        go.wait(60)
        left = BIG
        while left > 0 and connection.more(1 << 20):
            left -= len(connection.unread)
            connection.unread = connection.received = b""

    service = RawUpstream(lazy, receive_buffer=64 << 10)
    config = configuration(stage="rpc", service={"timeout": "300s"})
    config["upstreams"]["content"]["endpoints"] = [service.url]
    gateway = start(config)
    sent = 0
    with gateway.connect() as wire, Watched(gateway) as watched:
        wire.send(request_bytes("PUT", "/v1/books/b1/cover", [("Content-Length", str(BIG))]))
        wire.socket.settimeout(3)
        with pytest.raises(TimeoutError):
            for block in blocks(BIG):
                wire.send(block)
                sent += len(block)
    assert arrived.is_set() and sent < BIG // 4
    assert watched.grown < BOUND, f"{watched.grown >> 20} MiB"
    go.set()
    service.close()


def test_an_answer_before_the_end_of_the_upload(start, configuration, pb):
    def refusing(connection):
        connection.head()
        body = b'{"code":"unauthenticated","message":"who are you"}'
        connection.send(
            b"HTTP/1.1 401 No\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        while connection.more():
            pass

    service = RawUpstream(refusing)
    config = configuration(stage="rpc", service={"timeout": "300s"})
    config["upstreams"]["content"]["endpoints"] = [service.url]
    gateway = start(config)
    with gateway.connect() as wire:
        wire.send(request_bytes("PUT", "/v1/books/b1/cover", [("Content-Length", str(1 << 20))]) + BLOCK)
        answer = wire.answer()
    assert (answer.status, answer.json()["message"]) == (401, "who are you")
    service.close()


# MARK: Down


def head_of(type, size, more=b""):
    return (field(1, type) if type else b"") + more + field(2, b"", size)


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_large_download_is_not_gathered(gateway, upstream, framing):
    upstream.answers_with(head_of(b"video/mp4", 1 << 20), 1 << 20, framing=framing)
    gateway.fetch("GET", "/v1/books/b1/cover")
    upstream.answers_with(head_of(b"video/mp4", BIG), BIG, framing=framing)
    digest = hashlib.sha256()
    with Watched(gateway) as watched, gateway.connect(timeout=300) as wire:
        wire.send(request_bytes("GET", "/v1/books/b1/cover"))
        answer = wire.head()
        left = int(answer["content-length"])
        assert left == BIG
        while left:
            data = wire.exactly(min(left, 1 << 20))
            digest.update(data)
            left -= len(data)
        # The connection goes on.
        upstream.answers_with(field(1, b"x"))
        wire.send(request_bytes("GET", "/v1/files/x"))
        assert wire.answer().json() == {"path": "x"}
    assert (answer.status, answer["content-type"], answer["x-made"], answer["trailer-x-end"]) == (
        200, "video/mp4", "here", "there")
    assert digest.hexdigest() == digest_of(b"", BIG)
    assert watched.grown < BOUND, f"{watched.grown >> 20} MiB"


def test_a_client_that_does_not_read_stops_the_upstream(gateway, upstream):
    upstream.answers_with(head_of(b"a/b", BIG), BIG)
    with Watched(gateway) as watched, gateway.connect(receive_buffer=64 << 10) as wire:
        wire.send(request_bytes("GET", "/v1/books/b1/cover"))
        wire.head()
        threading.Event().wait(1.5)
    assert watched.grown < BOUND, f"{watched.grown >> 20} MiB"
    wait_until(lambda: '"status":200' in gateway.stdout.read_text(), what="the end of the call")


SIZE = 300_000
DATA = b"".join(blocks(SIZE))


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize(
    "message, type",
    [
        (head_of(b"a/b", SIZE) + DATA, "a/b"), (head_of(b"", SIZE) + DATA, "application/octet-stream"),
        (head_of(b"a/b", SIZE, b"\x20\x05\xa2\x06\x03new") + DATA, "a/b"),
        (head_of(b"a/b", SIZE) + DATA + field(3, field(1, b"x/y")), "a/b"),
        (head_of(b"x", SIZE, field(1, b"a/b")) + DATA, "a/b"), (head_of(b"a\r\nb", SIZE) + DATA, "application/octet-stream"),
        # Small enough to be gathered, in whatever order.
        (field(2, DATA[:1000]) + field(1, b"a/b"), "a/b"), (field(1, b"a/b") + field(2, b"x") + field(2, DATA[:9]), "a/b"),
        (b"", "application/octet-stream"), (field(1, b"a/b"), "a/b"),
    ],
)
def test_messages_of_every_order(gateway, upstream, framing, message, type):
    expected = HttpBody.FromString(message)
    upstream.answers_with(message, framing=framing)
    answer = gateway.fetch("GET", "/v1/books/b1/cover")
    assert (answer.status, answer["content-type"]) == (200, type), answer
    assert answer.body == expected.data


def test_an_order_that_forbids_it_is_gathered(gateway, upstream, make):
    message = field(2, DATA) + field(1, b"a/b")
    upstream.answers_with(message)
    answer = gateway.fetch("GET", "/v1/books/b1/cover")
    assert (answer.status, answer["content-type"], answer.body) == (200, "a/b", DATA)
    # Then it has to fit.
    answer = make(limits={"message": "64KiB"}).fetch("GET", "/v1/books/b1/cover")
    assert answer.status in (429, 500, 502)


@pytest.mark.parametrize("tail", [field(2, b"other"), field(1, b"c/d"), b"\x0a\x05x", b"\xff" * 20, b"\x20\x01" * 40_000])
def test_what_contradicts_the_beginning_is_never_taken_as_whole(gateway, upstream, tail):
    upstream.answers_with(head_of(b"a/b", SIZE) + DATA + tail, framing="chunked")
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/v1/books/b1/cover"))
        with pytest.raises((NotWhole, ConnectionError)):
            wire.answer()


def test_a_tail_that_is_too_long_and_comes_with_the_beginning(gateway, upstream):
    more = field(3, b"x" * 400_000)
    for _ in range(10):
        # The connection's window grows, so that much arrives at once.
        upstream.answers_with(head_of(b"a/b", 16 << 20), 16 << 20, framing="chunked")
        assert gateway.fetch("GET", "/v1/books/b1/cover").status == 200
        upstream.answers_with(
            b"", framing="chunked", pieces=[head_of(b"a/b", SIZE, more) + DATA + field(3, b"x" * 100_000)])
        with gateway.connect() as wire:
            wire.send(request_bytes("GET", "/v1/books/b1/cover"))
            with pytest.raises((NotWhole, ConnectionError)):
                wire.answer()
    assert gateway.process.poll() is None


def test_an_upstream_that_breaks_off(gateway, upstream):
    upstream.answers_with(head_of(b"a/b", SIZE), SIZE, framing="chunked")
    upstream.pieces = [head_of(b"a/b", SIZE), DATA[:-1]]
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/v1/books/b1/cover"))
        with pytest.raises((NotWhole, ConnectionError)):
            wire.answer()


COVERS = """
syntax = "proto3";
package covers.v1;
import "google/api/annotations.proto";
import "google/api/httpbody.proto";
service Covers {
  rpc Get(Request) returns (Reply) {
    option (google.api.http) = {get: "/covers/{id}" response_body: "content"};
  }
  rpc Put(google.api.HttpBody) returns (Reply) {
    option (google.api.http) = {put: "/covers" body: "*" response_body: "content"};
  }
}
message Request { string id = 1; }
message Reply { string id = 1; google.api.HttpBody content = 2; string note = 3; }
"""


def test_the_field_that_is_the_answer_and_the_whole_that_is_the_request(start, configuration, upstream, tmp_path):
    (tmp_path / "covers.proto").write_text(COVERS)
    config = configuration()
    config["schema"] = [{"protos": ["covers.proto"], "import_paths": [str(tmp_path)]}]
    config["services"] = {"covers.v1.Covers": {"rpc": "content", "stage": "rpc"}}
    config["upstreams"]["content"]["endpoints"] = [upstream.url]
    gateway = start(config)
    body = head_of(b"a/b", SIZE) + DATA
    for message in [
        field(1, b"one") + field(2, body) + field(3, b"note"), field(2, body), field(3, b"n") + field(2, body + b"\x20\x01"),
        field(2, field(2, DATA) + field(1, b"a/b")), field(2, field(1, b"a/b")) + field(2, field(2, DATA)),
    ]:
        for framing in ["length", "chunked"]:
            upstream.answers_with(message, framing=framing)
            answer = gateway.fetch("GET", "/covers/x")
            assert (answer.status, answer["content-type"], answer.body == DATA) == (200, "a/b", True)
    upstream.answers_with(field(2, field(1, b"c/d") + field(2, b"x")))
    answer = upload(gateway, SIZE, target="/covers")
    assert (answer["content-type"], answer.body) == ("c/d", b"x")
    assert upstream.requests[-1][3] == hashlib.sha256(
        HttpBody(content_type="video/mp4", data=DATA).SerializeToString()).hexdigest()


def test_a_coding_is_undone(gateway, upstream, pb):
    gateway.fetch(
        "PUT", "/v1/books/b1/cover", [("Content-Type", "a/b"), ("Content-Encoding", "gzip")], gzip.compress(DATA))
    message = pb.SetCoverRequest(id="b1", content=HttpBody(content_type="a/b", data=DATA))
    assert upstream.requests[-1][3] == hashlib.sha256(message.SerializeToString()).hexdigest()


def test_byte_by_byte(gateway, upstream):
    message = head_of(b"a/b", SIZE) + DATA + b"\x20\x05"
    pieces = [message[i : i + 1] for i in range(20)] + [message[20:-5]] + [message[-5 + i :][:1] for i in range(5)]
    upstream.answers_with(b"", framing="chunked", pieces=pieces)
    answer = gateway.fetch("GET", "/v1/books/b1/cover")
    assert (answer["content-type"], answer.body) == ("a/b", DATA)


def test_a_head_request(gateway, upstream):
    upstream.answers_with(head_of(b"a/b", SIZE), SIZE)
    with gateway.connect() as wire:
        answer = wire.request("HEAD", "/v1/books/b1/cover")
        assert (answer.status, answer["content-type"], answer["content-length"]) == (200, "a/b", str(SIZE))
        answer = wire.request("GET", "/v1/books/b1/cover")
        assert answer.body == DATA


def test_over_http2(make, upstream, pb):
    gateway = make()
    upstream.answers_with(head_of(b"a/b", SIZE), SIZE)
    with HTTP2Client(gateway.address) as client:
        answer = client.ask("GET", "/v1/books/b1/cover")
        assert (answer.status, answer["content-type"], bytes(answer.body)) == (200, "a/b", DATA)
        upstream.answers_with(b"")
        answer = client.ask(
            "PUT", "/v1/books/b1/cover", [("content-type", "c/d"), ("content-length", str(SIZE))], DATA)
        assert answer.status == 200, answer
    message = pb.SetCoverRequest(id="b1", content=HttpBody(content_type="c/d", data=DATA))
    assert upstream.requests[-1][3] == hashlib.sha256(message.SerializeToString()).hexdigest()
