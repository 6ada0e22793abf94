"""A server that is one function of each raw connection; for what no decent server does."""

import socket
import threading


class Scripted:
    """`script(connection)` runs in a thread for each connection; `received` has all bytes of each, once it ended."""

    def __init__(self, script, backlog=128):
        self.script, self.received, self.ended = script, [], threading.Semaphore(0)
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.url = "http://127.0.0.1:%d" % self.socket.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection):
        data = None
        with connection:
            try:
                connection.settimeout(60)
                data = self.script(connection)
            except OSError:
                pass
        self.received.append(data)
        self.ended.release()

    def close(self):
        self.socket.close()


def read_head(connection):
    """The bytes up to and with the blank line, and what came behind it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return data, b""
        data += more
    head, rest = data.split(b"\r\n\r\n", 1)
    return head + b"\r\n\r\n", rest


def read_all(connection):
    """Everything until the other side ends."""
    data = b""
    try:
        while more := connection.recv(65536):
            data += more
    except ConnectionError:
        pass
    return data
