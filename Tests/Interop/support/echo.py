"""The echo service: one behaviour, served by the official Connect runtime (Connect, gRPC-Web; gRPC too where its server
has HTTP/2) and by grpcio."""

import asyncio
import base64
import concurrent.futures
import socket
import threading
import time

import grpc
import hypercorn.asyncio
import hypercorn.config
from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from google.protobuf.duration_pb2 import Duration
from google.rpc.status_pb2 import Status
from protobuf.wkt import Any

from .uvicorn_server import Uvicorn

SERVICE = "echo.v1.Echo"
BINARY = b"\x00\xfe\xff~"
# gRPC's numbers are not the runtime's.
NUMBERS = {
    "canceled": 1, "unknown": 2, "invalid_argument": 3, "deadline_exceeded": 4, "not_found": 5, "already_exists": 6,
    "permission_denied": 7, "resource_exhausted": 8, "failed_precondition": 9, "aborted": 10, "out_of_range": 11,
    "unimplemented": 12, "internal": 13, "unavailable": 14, "data_loss": 15, "unauthenticated": 16,
}
NAMES = {number: name for name, number in NUMBERS.items()}
DETAIL = Duration(seconds=30)
MESSAGE = "the shelf broke: 100 % dépôt \u2713"


class Memory:
    """What became of the calls, for the tests."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.calls = 0
        self.cancelled = threading.Event()
        self.heard = []


def unpadded(data):
    return base64.b64encode(data).decode().rstrip("=")


def decoded(text):
    return base64.b64decode(text + "=" * (-len(text) % 4))


class Behaviour:
    """What is the same whoever serves: takes the first message, says what comes of it."""

    def __init__(self, pb, memory):
        self.pb, self.memory = pb, memory

    def seen(self, fields, timeout_ms):
        """From the metadata as (name, text or bytes) to the map that goes back."""
        seen = {}
        for name, value in fields:
            if name.startswith("x-word"):
                if name.endswith("-bin"):
                    value = (value if isinstance(value, bytes) else decoded(value)).hex()
                seen[name] = seen[name] + "," + value if name in seen else value
            if name in ("grpc-encoding", "content-encoding", "connect-content-encoding"):
                seen["encoding"] = value
        if timeout_ms is not None:
            seen["timeout_ms"] = str(int(timeout_ms))
        return seen

    def answer(self, line, seen, number=0):
        wish = line.wish
        return self.pb.Line(
            text=line.text, data=b"d" * wish.size if wish.size else line.data, number=number or line.number, seen=seen)


class ConnectEcho:
    """The handlers for the Connect runtime."""

    def __init__(self, behaviour):
        self.behaviour, self.memory = behaviour, behaviour.memory

    def begin(self, context):
        self.memory.calls += 1
        context.response_headers["x-head"] = "h"
        context.response_headers["x-head-bin"] = unpadded(BINARY)
        context.response_trailers["x-tail"] = "t"
        context.response_trailers["x-tail-bin"] = unpadded(BINARY)
        fields = [(name.lower(), value) for name, value in context.request_headers.allitems()]
        timeout = context.timeout_ms
        return self.behaviour.seen(fields, timeout() if callable(timeout) else timeout)

    async def finish(self, wish):
        try:
            if wish.delay:
                await asyncio.sleep(wish.delay)
        except (asyncio.CancelledError, GeneratorExit):
            self.memory.cancelled.set()
            raise
        if wish.code:
            detail = ErrorDetail(Any(
                type_url="type.googleapis.com/google.protobuf.Duration", value=DETAIL.SerializeToString()))
            raise ConnectError(
                Code(NAMES[wish.code]), wish.message, details=[detail] if wish.detail else [])

    async def say(self, request, context):
        seen = self.begin(context)
        await self.finish(request.wish)
        return self.behaviour.answer(request, seen)

    async def hear(self, request, context):
        seen = self.begin(context)
        for number in range(request.wish.count):
            yield self.behaviour.answer(request, seen, number + 1)
        await self.finish(request.wish)

    async def tell(self, requests, context):
        seen = self.begin(context)
        lines = [line async for line in self.listen(requests)]
        last = lines[-1] if lines else self.behaviour.pb.Line()
        if lines:
            await self.finish(lines[0].wish)
        total = self.behaviour.pb.Line(text="".join(line.text for line in lines), wish=last.wish)
        return self.behaviour.answer(total, seen, len(lines))

    async def talk(self, requests, context):
        seen = self.begin(context)
        first = None
        async for line in self.listen(requests):
            first = first or line
            self.memory.heard.append(line.text)
            if first.wish.code and not first.wish.count:
                await self.finish(first.wish)
            yield self.behaviour.answer(line, seen)
        if first:
            await self.finish(first.wish)

    async def listen(self, requests):
        try:
            async for line in requests:
                yield line
        except (asyncio.CancelledError, GeneratorExit):
            self.memory.cancelled.set()
            raise
        except ConnectError as error:
            if error.code == Code.CANCELED:
                self.memory.cancelled.set()
            raise


class GRPCEcho:
    """The handlers for grpcio."""

    def __init__(self, behaviour):
        self.behaviour, self.memory = behaviour, behaviour.memory

    def begin(self, context):
        self.memory.calls += 1
        context.add_callback(lambda: None if context.code() else self.memory.cancelled.set())
        context.send_initial_metadata((("x-head", "h"), ("x-head-bin", BINARY)))
        context.set_trailing_metadata((("x-tail", "t"), ("x-tail-bin", BINARY)))
        left = context.time_remaining()
        return self.behaviour.seen(
            context.invocation_metadata(), None if left is None or left > 1e9 else left * 1000)

    def finish(self, wish, context):
        end = time.monotonic() + wish.delay
        while time.monotonic() < end and context.is_active():
            time.sleep(0.01)
        if wish.code:
            trailers = [("x-tail", "t"), ("x-tail-bin", BINARY)]
            if wish.detail:
                status = Status(code=wish.code, message=wish.message)
                status.details.add().Pack(DETAIL)
                trailers.append(("grpc-status-details-bin", status.SerializeToString()))
            context.set_trailing_metadata(trailers)
            code = next(code for code in grpc.StatusCode if code.value[0] == wish.code)
            context.abort(code, wish.message)
        context.set_code(grpc.StatusCode.OK)

    def say(self, request, context):
        seen = self.begin(context)
        self.finish(request.wish, context)
        return self.behaviour.answer(request, seen)

    def hear(self, request, context):
        seen = self.begin(context)
        for number in range(request.wish.count):
            yield self.behaviour.answer(request, seen, number + 1)
        self.finish(request.wish, context)

    def tell(self, requests, context):
        seen = self.begin(context)
        lines = list(requests)
        last = lines[-1] if lines else self.behaviour.pb.Line()
        if lines:
            self.finish(lines[0].wish, context)
        total = self.behaviour.pb.Line(text="".join(line.text for line in lines), wish=last.wish)
        return self.behaviour.answer(total, seen, len(lines))

    def talk(self, requests, context):
        seen = self.begin(context)
        first = None
        for line in requests:
            first = first or line
            self.memory.heard.append(line.text)
            if first.wish.code and not first.wish.count:
                self.finish(first.wish, context)
            yield self.behaviour.answer(line, seen)
        if first:
            self.finish(first.wish, context)


class EchoUnderUvicorn(Uvicorn):
    """Connect and gRPC-Web."""

    def __init__(self, schema):
        self.memory = Memory()
        super().__init__(schema.connect.EchoASGIApplication(
            ConnectEcho(Behaviour(schema.pb, self.memory)), read_max_bytes=None))


class EchoUnderHypercorn:
    """HTTP/2 by prior knowledge: Connect, gRPC-Web and gRPC, streams both ways."""

    def __init__(self, schema):
        self.memory = Memory()
        application = schema.connect.EchoASGIApplication(
            ConnectEcho(Behaviour(schema.pb, self.memory)), read_max_bytes=None)
        listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        listening.setblocking(False)
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = hypercorn.config.Config()
        config.bind = [f"fd://{listening.detach()}"]
        config.accesslog = config.errorlog = None
        ended = threading.Event()
        ready = threading.Event()

        def run():
            async def serve():
                self.loop, self.ending = asyncio.get_running_loop(), asyncio.Event()
                ready.set()
                await hypercorn.asyncio.serve(application, config, shutdown_trigger=self.ending.wait)

            asyncio.run(serve())
            ended.set()

        threading.Thread(target=run, daemon=True).start()
        ready.wait(10)
        self.ended = ended

    def stop(self):
        self.loop.call_soon_threadsafe(self.ending.set)
        self.ended.wait(5)


class EchoUnderGRPC:
    """grpcio."""

    def __init__(self, schema):
        self.memory = Memory()
        echo, pb = GRPCEcho(Behaviour(schema.pb, self.memory)), schema.pb
        shape = {"request_deserializer": pb.Line.FromString, "response_serializer": pb.Line.SerializeToString}
        self.server = grpc.server(
            concurrent.futures.ThreadPoolExecutor(32),
            options=[("grpc.max_receive_message_length", 64 << 20), ("grpc.so_reuseport", 0)])
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {
            "Say": grpc.unary_unary_rpc_method_handler(echo.say, **shape),
            "Hear": grpc.unary_stream_rpc_method_handler(echo.hear, **shape),
            "Tell": grpc.stream_unary_rpc_method_handler(echo.tell, **shape),
            "Talk": grpc.stream_stream_rpc_method_handler(echo.talk, **shape),
        }),))
        self.url = f"http://127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def stop(self):
        self.server.stop(0.1).wait(5)
