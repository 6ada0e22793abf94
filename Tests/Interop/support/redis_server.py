"""A real Redis server for a test: started, slowed, killed, started again on the same port."""

import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from .gateway import wait_until
from .ports import free_port


class RedisServer:
    def __init__(self, *arguments, port=None):
        self.program = shutil.which("redis-server")
        assert self.program, "redis-server is not installed: ./deploy/setup.sh --tests"
        self.arguments, self.port = arguments, port or free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="redis"))
        self.socket = self.folder / "redis.sock"
        self.process = None
        self.start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        """Empty: nothing is kept on disk."""
        self.process = subprocess.Popen(
            [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--unixsocket", self.socket, "--enable-debug-command", "yes", *self.arguments],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, what="the start of Redis")

    def _answers(self):
        try:
            return self.call("PING") is not None
        except ValueError as error:
            return str(error).startswith("NOAUTH")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.kill()
        self.start()

    def stop(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, *command, timeout=10):
        """One command over the machine's socket: its reply as Python has it; nil is "", a refusal raises."""
        text = b"*%d\r\n" % len(command) + b"".join(
            b"$%d\r\n%s\r\n" % (len(part), part) for part in (str(part).encode() for part in command))
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(timeout)
                connection.connect(str(self.socket))
                connection.sendall(text)
                return self._reply(connection.makefile("rb"))
        except (FileNotFoundError, ConnectionError, TimeoutError):
            return None

    def _reply(self, stream):
        line = stream.readline()
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise ValueError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return "" if rest == "-1" else stream.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return [self._reply(stream) for _ in range(max(0, int(rest)))]
        return rest

    def sleep(self, seconds):
        """Has it answer nobody for a while; returns at once."""
        threading.Thread(target=self.call, args=("DEBUG", "SLEEP", seconds), kwargs={"timeout": seconds + 10}).start()


@pytest.fixture
def redis():
    """A server of the test's own."""
    server = RedisServer()
    yield server
    server.stop()


class SlowPath:
    """A way to a server on which each answer takes its time."""

    def __init__(self, port):
        self.target, self.delay = port, 0.0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            threading.Thread(target=self._copy, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._copy, args=(server, client, True), daemon=True).start()

    def _copy(self, source, target, is_slow):
        try:
            while data := source.recv(1 << 16):
                if is_slow:
                    time.sleep(self.delay)
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stop(self):
        self.listener.close()
