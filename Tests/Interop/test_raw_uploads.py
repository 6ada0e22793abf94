"""google.api.HttpBody on the way up: kept as it is, and passed on without being gathered where it can be."""

import hashlib
import threading

import pytest
from google.api.httpbody_pb2 import HttpBody

from support.gateway import wait_until
from support.raw_bodies import BLOCK, Watched, blocks, digest_of, field, gateway, head_of, make, upload, upstream
from support.raw_upstream import RawUpstream
from support.schema import SERVICE
from support.wire import request_bytes

BIG = 200 << 20

# What a debug build may hold beyond what it holds anyway.
BOUND = 8 << 20


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


def test_limits_message_is_for_what_is_gathered(make, upstream):
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


def test_json_and_chunks_are_gathered(make, upstream):
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


def test_an_answer_before_the_end_of_the_upload(start, configuration):
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
