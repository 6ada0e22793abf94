"""A client that sends exactly the bytes it is told and reads answers strictly."""

import json
import socket


class NotWhole(Exception):
    """The connection ended inside an answer."""


class Answer:
    def __init__(self, version, status, reason, fields):
        self.version, self.status, self.reason, self.fields = version, status, reason, fields
        self.body, self.trailers, self.chunks = b"", [], 0

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def __getitem__(self, name):
        values = self.all(name)
        return values[0] if values else None

    @property
    def closes(self):
        return any("close" in value.lower() for value in self.all("connection"))

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.fields} {self.body[:300]!r}>"


def request_bytes(method, target, fields=(), body=b"", host="gateway.test", version="HTTP/1.1"):
    lines = [f"{method} {target} {version}"]
    names = {name.lower() for name, _ in fields}
    if host is not None and "host" not in names:
        lines.append(f"Host: {host}")
    lines += [f"{name}: {value}" for name, value in fields]
    if body and not names & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def chunked(parts, trailers=()):
    """The parts as chunks, and the trailers."""
    data = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts if part)
    return data + b"0\r\n" + b"".join(f"{n}: {v}\r\n".encode() for n, v in trailers) + b"\r\n"


class Wire:
    """One TCP connection; with a context for TLS, one to the server of that name."""

    def __init__(self, address, timeout=30, receive_buffer=None, tls=None, name="localhost"):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=name, suppress_ragged_eofs=False)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def _more(self):
        data = self.socket.recv(1 << 16)
        self.buffer += data
        return bool(data)

    def _line(self):
        while b"\r\n" not in self.buffer:
            if not self._more():
                raise NotWhole(f"ended in a line: {self.buffer[:200]!r}")
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line.decode("latin-1")

    def exactly(self, count):
        parts = [self.buffer[:count]]
        self.buffer = self.buffer[count:]
        left = count - len(parts[0])
        while left:
            data = self.socket.recv(min(left, 1 << 20))
            if not data:
                raise NotWhole(f"{left} bytes are missing")
            parts.append(data)
            left -= len(data)
        return b"".join(parts)

    def _fields(self):
        fields = []
        while line := self._line():
            name, _, value = line.partition(":")
            fields.append((name, value.strip()))
        return fields

    def head(self):
        version, status, *reason = self._line().split(" ", 2)
        return Answer(version, int(status), reason[0] if reason else "", self._fields())

    def body_of(self, answer, method="GET"):
        if method == "HEAD" or answer.status in (204, 304) or answer.status < 200:
            return answer
        if (answer["transfer-encoding"] or "").lower() == "chunked":
            parts = []
            while size := int(self._line().split(";")[0], 16):
                parts.append(self.exactly(size))
                answer.chunks += 1
                if self._line():
                    raise NotWhole("a chunk has no end")
            answer.body, answer.trailers = b"".join(parts), self._fields()
        elif answer["content-length"] is not None:
            answer.body = self.exactly(int(answer["content-length"]))
        else:
            while self._more():
                pass
            answer.body, self.buffer = self.buffer, b""
        return answer

    def answer(self, method="GET"):
        """The next final answer; interim ones are skipped."""
        while True:
            answer = self.head()
            if answer.status >= 200:
                return self.body_of(answer, method)

    def request(self, method, target, fields=(), body=b"", **more):
        self.send(request_bytes(method, target, fields, body, **more))
        return self.answer(method)

    def is_closed(self):
        """Waits for the end of the connection; false when bytes come instead."""
        if self.buffer:
            return False
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True


def fetch(address, method, target, fields=(), body=b"", tls=None, **more):
    """One request on a connection of its own."""
    with Wire(address, tls=tls) as wire:
        return wire.request(method, target, fields, body, **more)
