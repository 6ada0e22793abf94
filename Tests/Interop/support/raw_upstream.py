"""An upstream that does with its connections whatever a test's handler does."""

import socket
import threading


class RawUpstream:
    """Calls `handle(connection)` for each connection in a thread of its own, and closes what the handler leaves open."""

    def __init__(self, handle, receive_buffer=None):
        self.handle = handle
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(256)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                plain, _ = self.socket.accept()
            except OSError:
                return
            connection = RawConnection(plain)
            self.connections.append(connection)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection):
        try:
            self.handle(connection)
        except (OSError, EOFError):
            pass
        finally:
            connection.close()

    def close(self):
        self.socket.close()
        for connection in self.connections:
            connection.close()


class RawConnection:
    def __init__(self, plain):
        self.socket = plain
        self.socket.settimeout(60)
        self.received = b""
        self.unread = b""

    def more(self, count=1 << 16):
        """Reads once; false at the end."""
        data = self.socket.recv(count)
        self.received += data
        self.unread += data
        return bool(data)

    def head(self):
        """Reads a request head; None at the end of the connection."""
        while b"\r\n\r\n" not in self.unread:
            if not self.more():
                return None
        head, self.unread = self.unread.split(b"\r\n\r\n", 1)
        return head

    def take(self, count):
        while len(self.unread) < count:
            if not self.more():
                raise EOFError
        taken, self.unread = self.unread[:count], self.unread[count:]
        return taken

    def send(self, data):
        self.socket.sendall(data)

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        self.socket.close()

    def close(self):
        self.socket.close()
