"""One open call through a gateway, its client and its upstream in one thread: bytes go in on one side, and are waited for
on the other. What is counted meanwhile belongs to these bytes alone."""

import select
import socket
import time

import h2.config
import h2.connection
import h2.events
import h2.settings

WINDOW = (1 << 31) - 1


class HTTP2Side:
    """The client or the upstream of one stream."""

    def __init__(self, plain, is_client):
        self.socket, self.received, self.fields, self.stream = plain, 0, None, None
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=is_client, validate_outbound_headers=False, normalize_outbound_headers=False,
            validate_inbound_headers=False, header_encoding="latin-1"))
        self.h2.local_settings = h2.settings.Settings(client=is_client, initial_values={
            h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: WINDOW, h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 100})
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(WINDOW - 65_535)
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def begin(self, path, fields):
        self.stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(self.stream, [
            (":method", "POST"), (":scheme", "http"), (":authority", "gateway.test"), (":path", path), *fields])
        self.flush()

    def answer(self, fields):
        self.h2.send_headers(self.stream, [(":status", "200"), *fields])
        self.flush()

    def room(self):
        return self.h2.local_flow_control_window(self.stream)

    def queue(self, data):
        """Takes what the window allows; what is left."""
        taken = min(self.room(), len(data))
        for start in range(0, taken, self.h2.max_outbound_frame_size):
            self.h2.send_data(self.stream, data[start:min(taken, start + self.h2.max_outbound_frame_size)])
        return data[taken:]

    def read(self):
        data = self.socket.recv(1 << 20)
        assert data, "the connection ended"
        for event in self.h2.receive_data(data):
            match event:
                case h2.events.RequestReceived():
                    self.stream, self.fields = event.stream_id, dict(event.headers)
                case h2.events.ResponseReceived():
                    self.fields = dict(event.headers)
                case h2.events.DataReceived():
                    self.received += len(event.data)
                    if self.received > WINDOW >> 2:
                        self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                case h2.events.StreamReset() | h2.events.StreamEnded():
                    raise AssertionError(event)
        self.flush()


class HTTP1Side:
    """The client or the upstream of one exchange whose bodies are chunked."""

    def __init__(self, plain):
        self.socket, self.received, self.fields, self.buffer, self.waiting = plain, 0, None, b"", bytearray()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def flush(self):
        self.socket.sendall(self.waiting)
        self.waiting.clear()

    def begin(self, path, fields):
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
        self.waiting += f"POST {path} HTTP/1.1\r\nhost: gateway.test\r\ntransfer-encoding: chunked\r\n{lines}\r\n".encode()
        self.flush()

    def answer(self, fields):
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
        self.waiting += f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n{lines}\r\n".encode()
        self.flush()

    def queue(self, data):
        self.waiting += b"%x\r\n%b\r\n" % (len(data), data)
        return b""

    def read(self):
        data = self.socket.recv(1 << 20)
        assert data, "the connection ended"
        self.buffer += data
        if self.fields is None:
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if not found:
                return
            lines = head.decode("latin-1").split("\r\n")[1:]
            self.fields, self.buffer = {name.lower(): value.strip() for name, value in (x.split(":", 1) for x in lines)}, rest
        while True:
            line, found, rest = self.buffer.partition(b"\r\n")
            if not found or len(rest) < (length := int(line, 16)) + 2:
                return
            assert length, "the body ended"
            self.received += length
            self.buffer = rest[length + 2:]


class Lane:
    """A call that is open on both sides. `kinds`: "1" or "2", HTTP's version, of client and upstream."""

    def __init__(self, listener, address, kinds, path, request, response):
        """`listener` accepts the gateway's connection; `request` and `response` are the fields of the heads."""
        make = {"1": lambda plain, _: HTTP1Side(plain), "2": HTTP2Side}
        self.client = make[kinds[0]](socket.create_connection(address), True)
        self.upstream = None
        self.client.begin(path, request)
        # A stream that begins with nothing may wait for its first message.
        self.start(listener, lambda plain: make[kinds[1]](plain, False))
        self.wait(lambda: self.upstream.fields)
        self.upstream.answer(response)
        self.wait(lambda: self.client.fields)

    def start(self, listener, make):
        listener.settimeout(30)
        self.upstream = make(listener.accept()[0])

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        sides = {side.socket: side for side in (self.client, self.upstream)}
        while not condition():
            readable, _, _ = select.select(list(sides), [], [], 0.5)
            for ready in readable:
                sides[ready].read()
            assert readable or time.monotonic() < end, "nothing comes"

    def carry(self, data, times, upwards):
        """`times` of `data`, one after the other, each waited for."""
        source, target = (self.client, self.upstream) if upwards else (self.upstream, self.client)
        for _ in range(times):
            wanted, rest = target.received + len(data), data
            while rest := source.queue(rest):
                source.flush()
                self.wait(lambda: source.room() > 0)
            source.flush()
            self.wait(lambda: target.received >= wanted)
            assert target.received == wanted

    def close(self):
        for side in (self.client, self.upstream):
            if side:
                side.socket.close()
