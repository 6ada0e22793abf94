"""A legacy service that answers `Hear` of the echo service as REST, in each form in which such services stream."""

import base64
import json
import threading
import urllib.parse

from .rest_service import RESTService

RULES = {
    "Hear": {"http": {"get": "/v1/hear/{text}", "additional_bindings": [{"post": "/v1/hear/{text}", "body": "*"}]}},
    "Tell": {"http": {"post": "/v1/tell/{number}", "body": "*"}},
    "Talk": {"http": {"post": "/v1/talk", "body": "*"}},
}

TYPES = {
    "ndjson": "application/x-ndjson",
    "jsonl": "application/jsonl; charset=utf-8",
    "values": "application/json",
    "array": "application/json",
    "sequence": "application/json-seq",
    "sse": "text/event-stream",
    "sse-crlf": "text/event-stream; charset=utf-8",
}

ERROR = {"code": 9, "message": "not ünow", "details": [
    {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "30s"}]}


class RESTStreams:
    """`form`, `coding` and `piece` (bytes of a chunk) are for the next call."""

    def __init__(self):
        self.service = RESTService()
        self.url = self.service.url
        self.reset()

    def reset(self, form="ndjson", coding=None, piece=None):
        self.form, self.coding, self.piece = form, coding, piece
        self.wrap = lambda message: message
        # Set when the other side has left a call that was held.
        self.left = threading.Event()
        # A call that ends so, in the bytes of the form; None: well.
        self.ending = None
        self.cuts = False
        self.sent = 0
        self.go_on = threading.Event()
        self.service.reset()
        self.service.answers(self.answer)

    def answer(self, request):
        wish, line = self.wish(request)
        code, count, delay = int(wish.get("code", 0)), int(wish.get("count", 0)), float(wish.get("delay", 0))
        if code and not count:
            body = json.dumps(ERROR | {"code": code}).encode()
            self.head(request, 400, "application/json", f"Content-Length: {len(body)}\r\n")
            return request.send(body)
        self.packer = gzip_packer() if self.coding == "gzip" else lambda data, last: data
        coded = f"Content-Encoding: {self.coding}\r\n" if self.coding else ""
        self.head(request, 200, TYPES[self.form], f"{coded}Transfer-Encoding: chunked\r\n")
        for number in range(1, count + 1):
            message = {"text": line, "number": str(number)}
            if size := int(wish.get("size", 0)):
                message["data"] = base64.b64encode(bytes(size)).decode()
            self.chunk(request, self.piece_of(message, number == 1))
            self.sent = number
        if delay:
            if not self.go_on.wait(0) and request.was_left(delay):
                self.left.set()
            return None
        if self.cuts:
            return None
        error = ERROR | {"code": code} if code else None
        self.chunk(request, self.ending if self.ending is not None else self.end(error, count == 0), last=True)
        request.send(b"0\r\n\r\n")

    @staticmethod
    def wish(request):
        text = urllib.parse.unquote(request.path.split("/")[3])
        if request.body:
            return request.json().get("wish", {}), text
        query = urllib.parse.parse_qs(request.query)
        return {name.removeprefix("wish."): values[0] for name, values in query.items()}, text

    @staticmethod
    def head(request, status, type, more):
        request.send((
            f"HTTP/1.1 {status} Whatever\r\nContent-Type: {type}\r\nX-Head: h\r\n{more}Connection: close\r\n\r\n"
        ).encode())

    def chunk(self, request, data, last=False):
        data = self.packer(data, last)
        step = self.piece or max(1, len(data))
        for at in range(0, len(data), step):
            part = data[at:at + step]
            request.send(b"%x\r\n%s\r\n" % (len(part), part))

    def piece_of(self, message, is_first):
        message = self.wrap(message)
        match self.form:
            case "ndjson" | "jsonl":
                return json.dumps(message).encode() + b"\n"
            case "values":
                return json.dumps(message).encode()
            case "array":
                return (b"[" if is_first else b",\n") + json.dumps(message, indent=1).encode()
            case "sequence":
                return b"\x1e" + json.dumps(message).encode() + b"\n"
            case "sse":
                return b": hello\n\ndata: " + json.dumps(message).encode() + b"\n\n"
            case "sse-crlf":
                lines = json.dumps(message, indent=1).split("\n")
                return ("retry: 10\r\nid: 7\r\nevent: line\r\n" + "".join(
                    f"data:{line}\r\n" for line in lines) + "\r\ndata:\r\n\r\n").encode()

    def end(self, error, is_empty):
        text = json.dumps(error if self.form.startswith("sse") else {"error": error}) if error else None
        match self.form:
            case "array":
                start = "[" if is_empty else ""
                return (start + (f",{text}]" if text else "]")).encode()
            case "sse" | "sse-crlf":
                return f"event: error\ndata: {text}\n\n".encode() if text else b""
            case "sequence":
                return f"\x1e{text}\n".encode() if text else b""
        return (text or "").encode()


def gzip_packer():
    """Compresses piece by piece, so that each can be read when it is there."""
    import zlib

    packer = zlib.compressobj(wbits=31)

    def pack(data, last):
        return packer.compress(data) + packer.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)

    return pack
