"""Clients of the echo service, one for each dialect, that tell what they got in the same words."""

import base64
import struct
from dataclasses import dataclass, field
from urllib.parse import unquote

import grpc
import pyqwest
from connectrpc.client import ResponseMetadata
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType
from google.rpc.status_pb2 import Status

from .echo import NAMES, SERVICE, decoded
from .wire import Wire, request_bytes

CODECS = {"proto": google_protobuf_binary_codec, "json": google_protobuf_json_codec}


@dataclass
class Outcome:
    """What a client got; metadata by name in lower case, binary values decoded."""

    lines: list = field(default_factory=list)
    code: str | None = None
    message: str = ""
    # The name of each detail's type, and its bytes.
    details: list = field(default_factory=list)
    headers: dict = field(default_factory=dict)
    trailers: dict = field(default_factory=dict)

    @property
    def line(self):
        assert self.code is None and len(self.lines) == 1, self
        return self.lines[0]


def details_of(status):
    return [(detail.type_url.split("/")[-1], detail.value) for detail in Status.FromString(status).details]


def metadata(pairs):
    result = {}
    for name, value in pairs:
        name = name.lower()
        if name.endswith("-bin") and isinstance(value, str):
            value = decoded(value)
        result[name] = value
    return result


class RuntimeClient:
    """The official Connect runtime, in one of its three protocols."""

    def __init__(self, schema, address, protocol, http2, codec="proto", compressed=False):
        self.transport = pyqwest.SyncHTTPTransport(
            http_version=pyqwest.HTTPVersion.HTTP2 if http2 else pyqwest.HTTPVersion.HTTP1)
        gzip = GzipCompression()
        self.client = schema.connect.EchoClientSync(
            f"http://{address[0]}:{address[1]}", protocol=protocol, codec=CODECS[codec](),
            http_client=pyqwest.SyncClient(self.transport),
            send_compression=gzip if compressed else None, accept_compression=[gzip] if compressed else [])

    def call(self, method, request, headers=None, timeout=None):
        outcome = Outcome()
        more = {"headers": headers or {}}
        if timeout:
            more["timeout_ms"] = int(timeout * 1000)
        with ResponseMetadata() as got:
            try:
                answer = getattr(self.client, method.lower())(request, **more)
                if method in ("Hear", "Talk"):
                    for line in answer:
                        outcome.lines.append(line)
                else:
                    outcome.lines.append(answer)
            except ConnectError as error:
                outcome.code, outcome.message = error.code.value, error.message
                outcome.details = [(detail.type_name, detail.message_bytes) for detail in error.details]
        outcome.headers = metadata(got.headers.allitems())
        outcome.trailers = metadata(got.trailers.allitems())
        return outcome

    def begin(self, method, requests):
        """An answer that is taken line by line; `close` ends it."""
        return getattr(self.client, method.lower())(requests)

    def close(self):
        self.client.close()
        self.transport.close()


class GRPCClient:
    """grpcio."""

    def __init__(self, schema, address, compressed=False):
        self.channel = grpc.insecure_channel(
            f"{address[0]}:{address[1]}",
            options=[("grpc.max_receive_message_length", 64 << 20), ("grpc.use_local_subchannel_pool", 1)],
            compression=grpc.Compression.Gzip if compressed else None)
        shape = {
            "request_serializer": schema.pb.Line.SerializeToString, "response_deserializer": schema.pb.Line.FromString}
        path = f"/{SERVICE}/"
        self.methods = {
            "Say": self.channel.unary_unary(path + "Say", **shape),
            "Hear": self.channel.unary_stream(path + "Hear", **shape),
            "Tell": self.channel.stream_unary(path + "Tell", **shape),
            "Talk": self.channel.stream_stream(path + "Talk", **shape),
        }

    def call(self, method, request, headers=None, timeout=None):
        outcome = Outcome()
        pairs = tuple((name, decoded(value) if name.endswith("-bin") else value)
                      for name, value in (headers or {}).items())
        stub = self.methods[method]
        call = None
        try:
            if method in ("Hear", "Talk"):
                call = stub(request, metadata=pairs, timeout=timeout or 30)
                for line in call:
                    outcome.lines.append(line)
            else:
                line, call = stub.with_call(request, metadata=pairs, timeout=timeout or 30)
                outcome.lines.append(line)
        except grpc.RpcError as error:
            call = error
            outcome.code, outcome.message = NAMES[error.code().value[0]], error.details()
            for name, value in error.trailing_metadata() or ():
                if name == "grpc-status-details-bin":
                    outcome.details = details_of(value)
        outcome.headers = metadata(call.initial_metadata() or ())
        outcome.trailers = metadata(call.trailing_metadata() or ())
        return outcome

    def begin(self, method, requests):
        return self.methods[method](requests)

    def close(self):
        self.channel.close()


class TextClient:
    """gRPC-Web as text over HTTP/1.1, as browsers without fetch send it: base64 in several padded pieces."""

    def __init__(self, schema, address):
        self.pb, self.address = schema.pb, address

    def call(self, method, request, headers=None, timeout=None):
        requests = list(request) if method in ("Tell", "Talk") else [request]
        body = b""
        for line in requests:
            data = line.SerializeToString()
            # The head and the message, each padded by itself.
            body += base64.b64encode(struct.pack(">BI", 0, len(data))) + base64.b64encode(data)
        fields = [("Content-Type", "application/grpc-web-text+proto"), ("X-Grpc-Web", "1"), *(headers or {}).items()]
        if timeout:
            fields.append(("Grpc-Timeout", f"{int(timeout * 1000)}m"))
        with Wire(self.address) as wire:
            wire.send(request_bytes("POST", f"/{SERVICE}/{method}", fields, body))
            answer = wire.answer("POST")
        assert answer.status == 200, answer
        assert answer["content-type"] == "application/grpc-web-text+proto", answer
        outcome = Outcome(headers=metadata(answer.fields))
        self.read(outcome, self.bytes_of(answer.body))
        return outcome

    @staticmethod
    def bytes_of(text):
        """Base64 in several pieces, each padded by itself."""
        return b"".join(
            base64.b64decode(part + b"=" * (-len(part) % 4))
            for part in text.replace(b"==", b"==|").replace(b"=", b"=|").replace(b"=|=|", b"==").split(b"|")
            if part.strip(b"="))

    def read(self, outcome, data):
        while data:
            flags, size = struct.unpack(">BI", data[:5])
            payload, data = data[5:5 + size], data[5 + size:]
            if flags & 0x80:
                assert not data, data
                fields = dict(line.split(": ", 1) for line in payload.decode().split("\r\n") if line)
                assert all(name == name.lower() for name in fields)
                status = int(fields["grpc-status"])
                outcome.code = NAMES[status] if status else None
                outcome.message = unquote(fields.get("grpc-message", ""))
                if details := fields.get("grpc-status-details-bin"):
                    outcome.details = details_of(decoded(details))
                outcome.trailers = metadata(fields.items())
            else:
                outcome.lines.append(self.pb.Line.FromString(payload))

    def close(self):
        pass


CLIENTS = {
    "connect": lambda schema, address: RuntimeClient(schema, address, ProtocolType.CONNECT, False),
    "connect-json": lambda schema, address: RuntimeClient(schema, address, ProtocolType.CONNECT, False, "json"),
    "connect-h2": lambda schema, address: RuntimeClient(schema, address, ProtocolType.CONNECT, True),
    "connect-gzip": lambda schema, address: RuntimeClient(
        schema, address, ProtocolType.CONNECT, True, compressed=True),
    "grpc": lambda schema, address: GRPCClient(schema, address),
    "grpc-gzip": lambda schema, address: GRPCClient(schema, address, compressed=True),
    "grpc-runtime": lambda schema, address: RuntimeClient(schema, address, ProtocolType.GRPC, True),
    "grpc-json": lambda schema, address: RuntimeClient(schema, address, ProtocolType.GRPC, True, "json"),
    "grpc-web": lambda schema, address: RuntimeClient(schema, address, ProtocolType.GRPC_WEB, False),
    "grpc-web-h2": lambda schema, address: RuntimeClient(schema, address, ProtocolType.GRPC_WEB, True),
    "grpc-web-gzip": lambda schema, address: RuntimeClient(
        schema, address, ProtocolType.GRPC_WEB, True, compressed=True),
    "grpc-web-text": lambda schema, address: TextClient(schema, address),
}
