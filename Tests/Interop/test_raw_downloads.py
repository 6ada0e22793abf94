"""google.api.HttpBody on the way down: kept as it is, and passed on without being gathered where it can be."""

import gzip
import hashlib
import threading

import pytest
from google.api.httpbody_pb2 import HttpBody

from support.gateway import wait_until
from support.http2 import HTTP2Client
from support.raw_bodies import Watched, blocks, digest_of, field, gateway, head_of, make, upload, upstream
from support.wire import NotWhole, request_bytes

BIG = 200 << 20

# What a debug build may hold beyond what it holds anyway.
BOUND = 8 << 20


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
    upstream.answers_with(b"", framing="chunked", pieces=[head_of(b"a/b", SIZE), DATA[:-1]])
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
