"""A Connect service of raw bodies of any size, and what a gateway before it may hold."""

import hashlib
import threading

import pytest

from support.raw_upstream import RawUpstream
from support.wire import request_bytes

BLOCK = bytes(range(256)) * 256


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
        # As one value: the next script may come while the end of this answer is still being sent.
        self.script = head, data, tail, framing, pieces

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
        head, size, tail, framing, pieces = self.script
        is_chunked = framing == "chunked"
        length = "Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {len(head) + size + len(tail)}"
        connection.send(
            f"HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nX-Made: here\r\nTrailer-X-End: there\r\n"
            f"{length}\r\n\r\n".encode())

        def send(data):
            if data:
                connection.send(b"%x\r\n%s\r\n" % (len(data), data) if is_chunked else data)

        if pieces is not None:
            for piece in pieces:
                send(piece)
        else:
            send(head)
            for start in range(0, size, len(BLOCK)):
                send(BLOCK[: size - start])
            send(tail)
        if is_chunked:
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


def head_of(type, size, more=b""):
    return (field(1, type) if type else b"") + more + field(2, b"", size)
