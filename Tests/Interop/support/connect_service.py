"""The new service: the official Connect runtime for Python under uvicorn, with answers by a script."""

import asyncio
import contextvars
import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server

from google.protobuf import json_format
from google.protobuf.empty_pb2 import Empty
from google.api.httpbody_pb2 import HttpBody

from .rest_service import book
from .uvicorn_server import Uvicorn


class Call:
    """One call as the handler saw it, and the head that it came in."""

    def __init__(self, method, message, context, scope):
        self.method, self.message, self.scope = method, message, scope
        self.headers = context.request_headers
        self.timeout = context.timeout_ms
        self.http_method = context.http_method
        self.was_cancelled = threading.Event()

    def __repr__(self):
        return f"<{self.method} {self.message} {self.headers}>"


class Library:
    """The handlers, in one class for the async service; `script(method, message, context)` may answer or raise first."""

    def __init__(self, schema):
        self.pb = schema.pb
        self.lock = threading.Condition()
        self.reset()

    def reset(self):
        self.calls, self.script = [], None

    def wait_for(self, count, seconds=20):
        with self.lock:
            assert self.lock.wait_for(lambda: len(self.calls) >= count, seconds), self.calls
            return list(self.calls)

    def only(self):
        assert len(self.calls) == 1, self.calls
        return self.calls[0]

    def begin(self, method, message, context, scope=None):
        call = Call(method, message, context, scope)
        with self.lock:
            self.calls.append(call)
            self.lock.notify_all()
        return call

    def book(self, id, **more):
        message = json_format.ParseDict(book(id), self.pb.Book())
        return json_format.ParseDict(more, message)

    def answer(self, method, request):
        """What the library answers when no script does."""
        pb = self.pb
        match method:
            case "get_book":
                more = {"title": "x" * request.title_size} if request.title_size else {}
                if request.shelf:
                    more["shelf"] = request.shelf
                return self.book(request.id, **more)
            case "list_books":
                return pb.ListBooksResponse(books=[self.book("one"), self.book("two")], next_page_token="more")
            case "create_book":
                made = pb.Book()
                made.CopyFrom(request.book)
                made.id, made.shelf = "new", request.shelf
                return made
            case "update_book":
                changed = self.book(request.book.id)
                request.update_mask.MergeMessage(request.book, changed, True, True)
                return changed
            case "move_book":
                return self.book(request.id, shelf=request.shelf)
            case "delete_book":
                return Empty()
            case "get_cover":
                return HttpBody(content_type="image/png", data=b"\x89PNG\x00" + request.id.encode())
            case "set_cover":
                return pb.Cover(content_type=request.content.content_type, size=len(request.content.data))
            case "get_file":
                return pb.File(path=request.path)
            case "count_books":
                return pb.CountBooksResponse(count=len(request.author))
        raise AssertionError(method)


UNARY = [
    "get_book", "list_books", "create_book", "update_book", "move_book", "delete_book", "get_cover", "set_cover",
    "get_file", "count_books",
]


HEAD = contextvars.ContextVar("head", default=None)


def make_async(library):
    """An implementation of the generated protocol: each method asks the script, then the library."""

    def unary(name):
        async def handle(self, request, context):
            call = library.begin(name, request, context, HEAD.get())
            try:
                if library.script:
                    answer = library.script(call, context)
                    if asyncio.iscoroutine(answer):
                        answer = await answer
                    if answer is not None:
                        return answer
            except asyncio.CancelledError:
                call.was_cancelled.set()
                raise
            return library.answer(name, request)

        return handle

    async def watch_books(self, request, context):
        call = library.begin("watch_books", request, context, HEAD.get())
        try:
            if library.script:
                async for answer in library.script(call, context):
                    yield answer
                return
            for number in range(request.count):
                yield library.book(f"b{number}")
        except (asyncio.CancelledError, GeneratorExit):
            call.was_cancelled.set()
            raise

    implementation = type("Implementation", (), {name: unary(name) for name in UNARY} | {"watch_books": watch_books})
    return implementation()


class ConnectService(Uvicorn):
    """The ASGI application under uvicorn."""

    def __init__(self, schema):
        self.library = Library(schema)
        application = schema.connect.LibraryASGIApplication(make_async(self.library), read_max_bytes=None)

        async def remember_head(scope, receive, send):
            HEAD.set(scope)
            await application(scope, receive, send)

        super().__init__(remember_head, timeout_keep_alive=300)


class WSGIService:
    """The WSGI application under the standard library's server, which speaks HTTP/1.0 and closes."""

    def __init__(self, schema):
        self.library = library = Library(schema)

        def unary(name):
            def handle(self, request, context):
                library.begin(name, request, context)
                return library.answer(name, request)

            return handle

        implementation = type("Implementation", (), {name: unary(name) for name in UNARY})()
        implementation.watch_books = None
        self.server = make_server(
            "127.0.0.1", 0, schema.connect.LibraryWSGIApplication(implementation), handler_class=_Silent)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()


class _Silent(WSGIRequestHandler):
    def log_message(self, *_):
        pass
