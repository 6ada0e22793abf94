"""HTTP/2 peers on the `h2` package: a client and a scripted upstream, both doing exactly what they are told."""

import socket
import threading
import time
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

WINDOW = 1 << 24


def decoded(headers):
    def text(value):
        return value.decode("latin-1") if isinstance(value, bytes) else value
    return [(text(name), text(value)) for name, value in headers]


@dataclass
class Answer:
    """What has come on one stream."""

    fields: list = field(default_factory=list)
    interim: list = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    trailers: list = field(default_factory=list)
    ended: bool = False
    reset: int | None = None
    unread: int = 0

    def __getitem__(self, name):
        return next((value for key, value in self.fields if key == name), None)

    @property
    def status(self):
        return int(self[":status"] or 0)

    @property
    def over(self):
        return self.ended or self.reset is not None

    def json(self):
        import json
        return json.loads(bytes(self.body))


class HTTP2Client:
    """`reads`: whether what comes is taken, so that windows open again; may be a function of the stream.

    With a context for TLS it speaks to the server of that name."""

    def __init__(self, address, window=WINDOW, connection_window=WINDOW, strict=False, tls=None, name="localhost"):
        self.socket = socket.create_connection(address, timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=name, suppress_ragged_eofs=False)
        self.scheme, self.authority = ("https", name) if tls else ("http", "gateway.test")
        config = h2.config.H2Configuration(
            client_side=True, validate_outbound_headers=strict, normalize_outbound_headers=strict,
            validate_inbound_headers=True, header_encoding=None)
        self.h2 = h2.connection.H2Connection(config)
        self.h2.local_settings = h2.settings.Settings(client=True, initial_values={
            h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window,
            h2.settings.SettingCodes.ENABLE_PUSH: 0,
        })
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(connection_window)
        self.answers, self.goaway, self.closed, self.reads = {}, None, False, True
        self.settings, self.unread = {}, b""
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def flush(self):
        self.send(self.h2.data_to_send())

    def send(self, data):
        self.socket.sendall(data)

    def start(self, method, path, fields=(), body=None, end=True, authority=None, pseudo=None):
        stream = self.h2.get_next_available_stream_id()
        head = pseudo if pseudo is not None else [
            (":method", method), (":scheme", self.scheme), (":authority", authority or self.authority), (":path", path)]
        self.answers[stream] = Answer()
        self.h2.send_headers(stream, [*head, *fields], end_stream=end and body is None)
        self.flush()
        if body is not None:
            self.data(stream, body, end)
        return stream

    def data(self, stream, body, end=False):
        body = memoryview(body)
        while body:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(body))
            if room <= 0:
                assert self.pump(), f"the window of stream {stream} does not open"
                if self.answers[stream].over:
                    return
                continue
            self.h2.send_data(stream, bytes(body[:room]))
            body = body[room:]
            self.flush()
        if end:
            self.h2.end_stream(stream)
            self.flush()

    def push(self, stream, most):
        """Sends a body until its window stays shut for a second, or so many bytes have left; how many did."""
        sent = 0
        while sent < most:
            room = min(self.h2.local_flow_control_window(stream), 16_384, most - sent)
            if room <= 0:
                if not self.pump(1):
                    break
                continue
            self.h2.send_data(stream, b"x" * room)
            self.flush()
            sent += room
        return sent

    def trailers(self, stream, fields):
        self.h2.send_headers(stream, fields, end_stream=True)
        self.flush()

    def reset(self, stream, code=h2.errors.ErrorCodes.CANCEL):
        self.h2.reset_stream(stream, code)
        self.flush()

    def pump(self, seconds=30):
        """Handles what comes in one read; false at the end of the connection or of the time."""
        self.socket.settimeout(max(0.001, seconds))
        try:
            data = self.socket.recv(1 << 18)
        except TimeoutError:
            return False
        except ConnectionError:
            data = b""
        if not data:
            self.closed = True
            return False
        self.unread += data
        for event in self.h2.receive_data(self._frames()):
            self._handle(event)
        try:
            self.flush()
        except ConnectionError:
            pass
        return True

    def _frames(self):
        """Whole frames without GOAWAY, after which h2 would take no answers any more."""
        taken = b""
        while len(self.unread) >= 9:
            length = 9 + int.from_bytes(self.unread[:3], "big")
            if len(self.unread) < length:
                break
            frame, self.unread = self.unread[:length], self.unread[length:]
            if frame[3] == 7:
                self.goaway = int.from_bytes(frame[13:17], "big")
            else:
                taken += frame
        return taken

    def _handle(self, event):
        answer = self.answers.get(getattr(event, "stream_id", None))
        match event:
            case h2.events.ResponseReceived():
                answer.fields = decoded(event.headers)
            case h2.events.InformationalResponseReceived():
                answer.interim.append(decoded(event.headers))
            case h2.events.DataReceived():
                answer.body += event.data
                answer.unread += event.flow_controlled_length
                self.take(event.stream_id)
            case h2.events.TrailersReceived():
                answer.trailers = decoded(event.headers)
            case h2.events.StreamEnded():
                answer.ended = True
            case h2.events.StreamReset():
                if answer.reset is None and not (answer.ended and event.error_code == 0):
                    answer.reset = int(event.error_code)
            case h2.events.RemoteSettingsChanged():
                self.settings |= {int(code): change.new_value for code, change in event.changed_settings.items()}

    def take(self, stream):
        """Gives the windows back for what came on a stream, if it is read."""
        answer = self.answers[stream]
        reads = self.reads(stream) if callable(self.reads) else self.reads
        if reads and answer.unread:
            count, answer.unread = answer.unread, 0
            try:
                self.h2.acknowledge_received_data(count, stream)
            except h2.exceptions.ProtocolError:
                pass

    def finish(self, stream, seconds=60):
        """Waits for the end of a stream."""
        end = time.monotonic() + seconds
        while not self.answers[stream].over:
            left = end - time.monotonic()
            assert left > 0, f"stream {stream} does not end: {self.answers[stream]}"
            if not self.pump(left) and self.closed:
                break
        return self.answers[stream]

    def ask(self, *arguments, **more):
        return self.finish(self.start(*arguments, **more))

    def wait_for(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            left = end - time.monotonic()
            if left <= 0 or not self.pump(left) and self.closed:
                return condition()
        return True

    def wait_for_end(self, seconds=30):
        """Until the connection ends."""
        self.wait_for(lambda: self.closed, seconds)
        return self.closed


class Exchange:
    """One request as the upstream got it, and the ways to answer it."""

    def __init__(self, connection, stream, fields):
        self.connection, self.stream, self.fields = connection, stream, decoded(fields)
        self.body, self.trailers, self.ended, self.reset = bytearray(), [], False, None

    def __getitem__(self, name):
        return next((value for key, value in self.fields if key == name), None)

    def head(self, status=200, fields=(), end=False):
        self.connection.h2.send_headers(self.stream, [(":status", str(status)), *fields], end_stream=end)
        self.connection.flush()

    def data(self, body, end=False):
        """Sends what the windows allow, and waits for them."""
        body = memoryview(bytes(body))
        h2 = self.connection.h2
        while body:
            room = min(h2.local_flow_control_window(self.stream), h2.max_outbound_frame_size, len(body))
            if room <= 0:
                self.connection.pump()
                continue
            h2.send_data(self.stream, bytes(body[:room]))
            body = body[room:]
            self.connection.flush()
        if end:
            h2.end_stream(self.stream)
            self.connection.flush()

    def answer(self, status=200, fields=(), body=b"", trailers=()):
        if not body and not trailers:
            return self.head(status, fields, end=True)
        self.head(status, fields)
        self.data(body, end=not trailers)
        if trailers:
            self.connection.h2.send_headers(self.stream, trailers, end_stream=True)
            self.connection.flush()

    def refuse(self, code=h2.errors.ErrorCodes.REFUSED_STREAM):
        self.connection.h2.reset_stream(self.stream, code)
        self.connection.flush()


class UpstreamConnection:
    def __init__(self, upstream, plain, number):
        self.upstream, self.socket, self.number = upstream, plain, number
        config = h2.config.H2Configuration(
            client_side=False, validate_outbound_headers=False, normalize_outbound_headers=False,
            header_encoding=None)
        self.h2 = h2.connection.H2Connection(config)
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values={
            h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 100,
            h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 1 << 20,
            **upstream.settings})
        self.exchanges, self.open, self.most, self.goaway, self.lock = {}, 0, 0, None, threading.RLock()

    def run(self):
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.upstream.tls:
            self.socket = self.upstream.tls.wrap_socket(self.socket, server_side=True)
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(WINDOW)
        self.flush()
        while self.pump():
            pass

    def flush(self):
        with self.lock:
            data = self.h2.data_to_send()
            if data:
                self.socket.sendall(data)

    def pump(self):
        data = self.socket.recv(1 << 17)
        if not data:
            raise EOFError
        with self.lock:
            for event in self.h2.receive_data(data):
                self._handle(event)
            self.flush()
        return True

    def _handle(self, event):
        exchange = self.exchanges.get(getattr(event, "stream_id", None))
        match event:
            case h2.events.RequestReceived():
                exchange = Exchange(self, event.stream_id, event.headers)
                self.exchanges[event.stream_id] = exchange
                self.open += 1
                self.most = max(self.most, self.open)
                self.upstream.seen(exchange)
                self._script("begun", exchange)
            case h2.events.DataReceived() if exchange:
                exchange.body += event.data
                if self.upstream.reads:
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                self._script("received", exchange)
            case h2.events.TrailersReceived():
                exchange.trailers = decoded(event.headers)
            case h2.events.StreamEnded() if exchange:
                exchange.ended = True
                self._script("whole", exchange)
            case h2.events.StreamReset() if exchange:
                exchange.reset = int(event.error_code)
                self.upstream.tell()
            case h2.events.ConnectionTerminated():
                self.goaway = int(event.error_code)

    def _script(self, what, exchange):
        script = getattr(self.upstream, what)
        if script:
            script(exchange)

    def go_away(self, last=None, code=0):
        """GOAWAY by hand: h2 would end its own state with it."""
        last = self.h2.highest_inbound_stream_id if last is None else last
        self.socket.sendall(
            b"\0\0\x08\x07\0\0\0\0\0" + last.to_bytes(4, "big") + code.to_bytes(4, "big"))


class HTTP2Upstream:
    """Calls `whole(exchange)` when a request is whole; `begun` and `received` before, if they are set."""

    def __init__(self, whole=None, begun=None, received=None, settings=None, reads=True, tls=None):
        self.tls = tls
        self.whole, self.begun, self.received = whole, begun, received
        self.settings, self.reads = settings or {}, reads
        self.connections, self.exchanges, self.lock = [], [], threading.Condition()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = "%s://127.0.0.1:%d" % ("https" if tls else "http", self.socket.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                plain, _ = self.socket.accept()
            except OSError:
                return
            connection = UpstreamConnection(self, plain, len(self.connections))
            self.connections.append(connection)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    @staticmethod
    def _run(connection):
        try:
            connection.run()
        except (OSError, EOFError, h2.exceptions.ProtocolError):
            pass
        finally:
            connection.socket.close()

    def seen(self, exchange):
        with self.lock:
            self.exchanges.append(exchange)
            self.lock.notify_all()

    def tell(self):
        with self.lock:
            self.lock.notify_all()

    def wait_until(self, condition, seconds=30):
        with self.lock:
            assert self.lock.wait_for(condition, seconds), self.exchanges
            return self.exchanges

    def wait_for(self, count, seconds=30):
        return self.wait_until(lambda: len(self.exchanges) >= count, seconds)

    def close(self):
        self.socket.close()
        for connection in self.connections:
            try:
                connection.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
