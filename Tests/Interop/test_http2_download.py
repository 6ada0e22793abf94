"""A gigabyte beside small calls on one connection, with a client that reads slowly."""

import os

from support.http2 import HTTP2Client
from support.rest_service import Reply, book

SIZE = 1 << 30
WINDOW = 1 << 20
PIECE = 1 << 20


class Downloader(HTTP2Client):
    """Takes the DATA frames of one stream itself: `h2` would need minutes for them. Each must continue the pattern.

    The connection's window is returned at once, the stream's when the test says so."""

    DATA, END_STREAM = 0, 1

    def __init__(self, address, pattern):
        super().__init__(address, window=WINDOW)
        self.big, self.taken, self.owed, self.ended = None, 0, 0, False
        self.pattern = memoryview(pattern + pattern[:1 << 14])

    def _frames(self):
        data, at, rest = memoryview(self.unread), 0, []
        while len(data) - at >= 9:
            length = 9 + int.from_bytes(data[at:at + 3], "big")
            if len(data) - at < length:
                break
            kind, flags, stream = data[at + 3], data[at + 4], int.from_bytes(data[at + 5:at + 9], "big")
            if kind == self.DATA and stream == self.big:
                self._take(data[at + 9:at + length], flags)
            else:
                rest.append(bytes(data[at:at + length]))
            at += length
        self.unread = bytes(data[at:])
        return b"".join(rest)

    def _take(self, payload, flags):
        start = self.taken % PIECE
        assert payload == self.pattern[start:start + len(payload)], f"wrong bytes at {self.taken}"
        self.taken += len(payload)
        self.owed += len(payload)
        self.ended = bool(flags & self.END_STREAM)
        self.window(0, len(payload))

    def window(self, stream, count):
        if count:
            self.send(b"\0\0\4\x08\0" + stream.to_bytes(4, "big") + count.to_bytes(4, "big"))

    def read_on(self):
        """Lets the gateway send as much again as has come."""
        count, self.owed = self.owed, 0
        self.window(self.big, count)


def test_a_gigabyte_beside_small_calls(start, configuration, rest):
    pattern = os.urandom(PIECE)
    sent = []

    def script(request):
        if request.path != "/big":
            return Reply.json(book(request.path))
        request.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % SIZE)
        for _ in range(SIZE // PIECE):
            request.send(pattern)
            sent.append(PIECE)

    rest.answers(script)
    gateway = start(configuration(fallback="legacy", workers=1))
    with Downloader(gateway.address, pattern) as client:
        count = 0

        def small():
            nonlocal count
            count += 1
            answer = client.ask("GET", f"/small/{count}")
            assert answer.status == 200 and answer.json() == book(f"/small/{count}")

        small()
        before = most = gateway.resident_bytes()
        client.big = client.start("GET", "/big")
        assert client.wait_for(lambda: client.taken == WINDOW)
        assert client.answers[client.big].status == 200

        # It stands still: nothing more comes of it, the backend waits, and the others go on.
        for _ in range(100):
            small()
        assert client.taken == WINDOW
        most = max(most, gateway.resident_bytes())
        assert sum(sent) < 128 << 20, "the backend was not stopped"

        # It goes on, a window at a time.
        while not client.ended:
            client.read_on()
            goal = min(client.taken + WINDOW, SIZE)
            assert client.wait_for(lambda: client.taken == goal), f"stuck at {client.taken}"
            if goal % (16 << 20) == 0:
                small()
                most = max(most, gateway.resident_bytes())
        assert client.taken == SIZE == sum(sent)
        small()
        print(f"resident: {before >> 10} KiB before, at most {most >> 10} KiB; {count} small calls")
        assert most - before < 8 << 20
