"""Instances of a small HTTP/1.1 service that can be stopped and come back, over TCP or a Unix socket.

A plugin of `conftest.py`."""

import os
import socket
import threading

import pytest

from .rest_service import Reply, RESTService


class Instance(RESTService):
    """Answers with its name unless told otherwise; `stop()` cuts everything, `start()` listens at the same place."""

    def __init__(self, name, path=None):
        self.name, self.path, self.port = name, path, 0
        self.lock = threading.Condition()
        self.connections, self.open = 0, set()
        self.reset()
        self.start()

    @property
    def url(self):
        return f"unix:{self.path}" if self.path else f"http://127.0.0.1:{self.port}"

    def reset(self):
        super().reset()
        self.script = lambda request: Reply(200, [("X-Instance", self.name)], self.name.encode())

    def start(self):
        if self.path:
            if os.path.exists(self.path):
                os.unlink(self.path)
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.bind(self.path)
        else:
            self.socket = socket.socket()
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind(("127.0.0.1", self.port))
            self.port = self.socket.getsockname()[1]
        self.socket.listen(1024)
        threading.Thread(target=self._accept_on, args=(self.socket,), daemon=True).start()

    def stop(self):
        """As a process that is killed: nobody listens, and what is open is cut."""
        with self.lock:
            ends, self.open, listening, self.socket = self.open, set(), self.socket, None
        for end in [listening, *ends] if listening else ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        if listening:
            listening.close()

    def _accept_on(self, listening):
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with self.lock:
                if listening is not self.socket:
                    # Taken while the instance was stopped.
                    connection.close()
                    return
                self.connections += 1
                self.open.add(connection)
            threading.Thread(target=self._run, args=(connection, self.connections), daemon=True).start()

    def _run(self, connection, number):
        try:
            if self.path is None:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._converse(connection, number)
        except OSError:
            # It was cut before anything was read.
            pass
        finally:
            with self.lock:
                self.open.discard(connection)


class Fleet:
    """Some instances, and configurations of a plain proxy before them."""

    def __init__(self, count):
        self.instances = [Instance(f"i{index}") for index in range(count)]

    def __getitem__(self, index):
        return self.instances[index]

    def __iter__(self):
        return iter(self.instances)

    def stop(self):
        for instance in self.instances:
            instance.stop()


def proxy(endpoints, workers=1, top=None, **upstream):
    """A gateway without routes: everything goes to one upstream."""
    return {
        "listeners": [{"address": "127.0.0.1:0"}],
        "admin": {"address": "127.0.0.1:0"},
        "workers": workers,
        "upstreams": {"fleet": {"protocol": "rest", "endpoints": endpoints, **upstream}},
        "fallback": "fleet",
        **(top or {}),
    }


def who(gateway, count=1, target="/", fields=(), method="GET", body=b""):
    """The names of the instances that answered, over one connection; every answer has to be 200."""
    names = []
    with gateway.connect() as wire:
        for _ in range(count):
            answer = wire.request(method, target, fields, body)
            assert answer.status == 200, answer
            names.append(answer.body.decode())
    return names


def endpoints(gateway, upstream="fleet"):
    """The endpoints as `GET /upstreams` tells of them, by what they are in the configuration."""
    listed = gateway.admin("GET", "/upstreams").json()["upstreams"]
    return {found["endpoint"]: found for one in listed if one["name"] == upstream for found in one["endpoints"]}


@pytest.fixture
def fleet(request):
    """Three instances, or as many as `INSTANCES` of the module says."""
    fleet = Fleet(getattr(request.module, "INSTANCES", 3))
    yield fleet
    fleet.stop()
