"""The legacy REST service: a small threaded HTTP/1.1 server that records requests and answers by a script."""

import json
import select
import socket
import threading
import urllib.parse
from dataclasses import dataclass, field

from .wire import chunked


@dataclass
class Reply:
    """`raw` is written as it is and the connection closed; `cut`: closes after so many bytes of the body."""

    status: int = 200
    fields: list = field(default_factory=list)
    body: bytes = b""
    chunks: list | None = None
    trailers: list = field(default_factory=list)
    raw: bytes | None = None
    cut: int | None = None
    closes: bool = False

    @staticmethod
    def json(value, status=200, fields=()):
        return Reply(status, [("Content-Type", "application/json"), *fields], json.dumps(value).encode())


class Request:
    def __init__(self, method, target, version, fields, body, trailers, connection, number):
        self.method, self.target, self.version, self.fields = method, target, version, fields
        self.body, self.trailers, self.connection, self.number = body, trailers, connection, number
        path, _, query = target.partition("?")
        self.path, self.query = path, query
        self.gone = threading.Event()

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def __getitem__(self, name):
        values = self.all(name)
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)

    def send(self, data):
        self.connection.sendall(data)

    def was_left(self, seconds=30):
        """Whether the other side closes within this time; for a script, on the connection's own thread."""
        readable, _, _ = select.select([self.connection], [], [], seconds)
        try:
            if readable and self.connection.recv(1, socket.MSG_PEEK) == b"":
                self.gone.set()
        except ConnectionError:
            self.gone.set()
        return self.gone.is_set()

    def __repr__(self):
        return f"<{self.method} {self.target} {self.fields} {self.body[:200]!r}>"


class RESTService:
    """Speaks TLS when it is given a context for that."""

    tls = None

    def __init__(self, tls=None):
        self.tls = tls
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.socket.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.lock = threading.Condition()
        self.connections = 0
        self.reset()
        threading.Thread(target=self._accept, daemon=True).start()

    def reset(self):
        with self.lock:
            self.requests, self.script = [], library

    def answers(self, script):
        """A Reply, or a function of the request; one that returns None has written its answer itself."""
        self.script = script if callable(script) else lambda _: script

    def wait_for(self, count, seconds=20):
        """The requests, when there are so many of them."""
        with self.lock:
            assert self.lock.wait_for(lambda: len(self.requests) >= count, seconds), self.requests
            return list(self.requests)

    def only(self):
        """The one request that came."""
        with self.lock:
            assert len(self.requests) == 1, self.requests
            return self.requests[0]

    def _accept(self):
        while True:
            connection, _ = self.socket.accept()
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True).start()

    def _serve(self, connection, number):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls:
            try:
                connection = self.tls.wrap_socket(connection, server_side=True)
            except OSError:
                connection.close()
                return
        self._converse(connection, number)

    def _converse(self, connection, number):
        """Answers what comes over one connection, to its end."""
        with connection, connection.makefile("rb") as file:
            try:
                while request := self._read(file, connection, number):
                    with self.lock:
                        script = self.script
                        self.requests.append(request)
                        self.lock.notify_all()
                    reply = script(request)
                    if reply is None or not self._write(connection, request, reply):
                        return
            except (ValueError, OSError):
                return

    @staticmethod
    def _read(file, connection, number):
        line = file.readline()
        if not line:
            return None
        method, target, version = line.decode("latin-1").split()
        fields = RESTService._fields(file)
        values = {name.lower(): value for name, value in fields}
        trailers, body = [], b""
        if values.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if values.get("transfer-encoding", "").lower() == "chunked":
            parts = []
            while size := int(file.readline().split(b";")[0], 16):
                parts.append(file.read(size))
                file.readline()
            body, trailers = b"".join(parts), RESTService._fields(file)
        elif length := int(values.get("content-length", 0)):
            body = file.read(length)
            if len(body) < length:
                return None
        return Request(method, target, version, fields, body, trailers, connection, number)

    @staticmethod
    def _fields(file):
        fields = []
        while (line := file.readline().decode("latin-1").rstrip("\r\n")):
            name, _, value = line.partition(":")
            fields.append((name, value.strip()))
        return fields

    @staticmethod
    def _write(connection, request, reply):
        if reply.raw is not None:
            connection.sendall(reply.raw)
            return False
        fields = list(reply.fields)
        names = {name.lower() for name, _ in fields}
        body = reply.body
        if reply.chunks is not None:
            fields.append(("Transfer-Encoding", "chunked"))
            body = chunked(reply.chunks, reply.trailers)
        elif reply.status not in (204, 304) and "content-length" not in names:
            fields.append(("Content-Length", str(len(body))))
        if reply.closes:
            fields.append(("Connection", "close"))
        head = f"HTTP/1.1 {reply.status} Whatever\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields) + "\r\n"
        if request.method == "HEAD":
            body = b""
        # In one write: a service that is stopped between two has begun an answer, which nobody may ask for again.
        connection.sendall(head.encode("latin-1") + (body if reply.cut is None else body[: reply.cut]))
        return reply.cut is None and not reply.closes


def hang(request):
    """A script that never answers; `request.gone` tells when the gateway has left."""
    request.was_left()


def library(request):
    """What the legacy library answers: the same data as the Connect service has."""
    parts = [urllib.parse.unquote(part) for part in request.path.split("/")[2:]]
    query = urllib.parse.parse_qs(request.query)
    match "GET" if request.method == "HEAD" else request.method, parts:
        case "GET", ["books"]:
            return Reply.json([book("one"), book("two")])
        case "GET", ["books", id, "cover"]:
            return Reply(200, [("Content-Type", "image/png")], b"\x89PNG\x00" + id.encode())
        case "PUT", ["books", _, "cover"]:
            return Reply.json({"contentType": request["content-type"], "size": len(request.body)})
        case "GET", ["books", id]:
            return Reply.json(book(id, title_size=int(query.get("titleSize", ["0"])[0])))
        case "PATCH", ["books", id]:
            return Reply.json({**book(id), **request.json(), "id": id})
        case "DELETE", ["books", _]:
            return Reply(204)
        case "POST", ["books", id]:
            return Reply.json({**book(id.removesuffix(":move")), "shelf": request.json()["shelf"]})
        case "GET", ["shelves", shelf, "books", id]:
            return Reply.json({**book(id), "shelf": shelf})
        case "POST", ["shelves", shelf, "books"]:
            return Reply.json({**request.json(), "id": "new", "shelf": shelf}, 201)
        case "GET", ["files", *path]:
            return Reply.json({"path": "/".join(path)})
        case "GET", ["count"]:
            return Reply.json({"count": len(query.get("author", [""])[0])})
    if request.path == "/healthy":
        return Reply(200, [("Content-Type", "text/plain")], b"legacy")
    return Reply.json({"message": f"nothing at {request.path}"}, 404)


def book(id, title_size=0):
    """The JSON of a book as both services have it."""
    return {
        "id": id,
        "title": "x" * title_size or f"The book {id}",
        "authors": ["Ann", "Béla"],
        "pages": "9007199254740993",
        "kind": "KIND_ATLAS",
        "published": "2024-02-29T12:30:45.120Z",
        "digest": "3q2+7w==",
        "labels": {"lang": "hu"},
    }
