"""Callers of all protocols at once, over HTTP/1.1 and HTTP/2, while an operator flips the stage every second."""

import threading
import time

import grpc
import pyqwest

from support.gateway import wait_until
from support.http2 import HTTP2Client
from support.schema import SERVICE
from support.sides import PROCEDURE, place, sign

# There and back. While the share only rises, nobody who has moved may come back.
RISING = [("rest", 0), ("shadow", 0), ("canary", 10), ("canary", 40), ("canary", 80), ("rpc", 0)]
SETTINGS = [*RISING, ("canary", 75), ("canary", 30), ("shadow", 0), ("canary", 50), ("rpc", 0), ("rest", 0), ("rpc", 0), ("rest", 0)]
# Somebody below each share and above it, for each kind of caller.
USERS = [next(f"u{number}" for number in range(10_000) if low <= place(f"u{number}") < high)
         for low, high in ((0, 900), (1100, 2900), (3100, 3900), (4100, 4900), (5100, 7400), (7600, 7900), (8100, 10_000))]


class OverHTTP1:
    """A REST client on a keep-alive connection."""

    def __init__(self, gateway, schema):
        self.wire = gateway.connect()

    def ask(self, user):
        answer = self.wire.request("GET", "/v1/books/b1", [("X-User", user)])
        assert answer.status == 200 and not answer.closes, answer
        return answer.json()["title"]

    def close(self):
        self.wire.close()


class OverHTTP2:
    """A REST client on one HTTP/2 connection."""

    def __init__(self, gateway, schema):
        self.client = HTTP2Client(gateway.address)

    def ask(self, user):
        answer = self.client.ask("GET", "/v1/books/b1", [("x-user", user)])
        assert answer.status == 200 and answer.ended, answer
        return answer.json()["title"]

    def close(self):
        self.client.close()


class Runtime:
    """The official Connect runtime."""

    def __init__(self, gateway, schema, version):
        self.pb = schema.pb
        self.transport = pyqwest.SyncHTTPTransport(http_version=version)
        self.client = schema.connect.LibraryClientSync(
            gateway.url, http_client=pyqwest.SyncClient(self.transport), send_compression=None)

    def ask(self, user):
        return self.client.get_book(self.pb.GetBookRequest(id="b1"), headers={"x-user": user}).title

    def close(self):
        self.client.close()
        self.transport.close()


class ConnectOverHTTP1(Runtime):
    def __init__(self, gateway, schema):
        super().__init__(gateway, schema, pyqwest.HTTPVersion.HTTP1)


class ConnectOverHTTP2(Runtime):
    def __init__(self, gateway, schema):
        super().__init__(gateway, schema, pyqwest.HTTPVersion.HTTP2)


class GRPC:
    """grpcio."""

    def __init__(self, gateway, schema):
        self.pb = schema.pb
        self.channel = grpc.insecure_channel("%s:%d" % gateway.address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.stub = self.channel.unary_unary(
            f"/{SERVICE}/GetBook", request_serializer=self.pb.GetBookRequest.SerializeToString,
            response_deserializer=self.pb.Book.FromString)

    def ask(self, user):
        return self.stub(self.pb.GetBookRequest(id="b1"), metadata=(("x-user", user),), timeout=30).title

    def close(self):
        self.channel.close()


KINDS = [OverHTTP1, OverHTTP2, ConnectOverHTTP1, ConnectOverHTTP2, GRPC]


def allowed(user, setting):
    stage, percent = setting
    if stage == "canary":
        return "rpc" if place(user) < percent * 100 else "rest"
    return "rpc" if stage == "rpc" else "rest"


class Callers:
    """One thread for each kind of caller. The operator tells them before a flip and after it: a call may be answered by any
    setting that counted between its beginning and its end, and by no other."""

    def __init__(self, gateway, schema):
        self.gateway, self.schema = gateway, schema
        # Places in SETTINGS: up to where it may count by now, and from where it counts for sure.
        self.begun = self.sure = 0
        self.ends = threading.Event()
        self.faults, self.answers = [], {kind.__name__: 0 for kind in KINDS}
        # By kind, place in SETTINGS and user: the side, of calls during which nothing was flipped.
        self.seen = {}
        self.threads = [threading.Thread(target=self._run, args=(kind,)) for kind in KINDS]

    def _run(self, kind):
        try:
            client = kind(self.gateway, self.schema)
            try:
                while not self.ends.is_set():
                    for user in USERS:
                        first = self.sure
                        side = client.ask(user)
                        last = self.begun
                        possible = {allowed(user, setting) for setting in SETTINGS[first:last + 1]}
                        assert side in possible, (kind.__name__, user, place(user), side, SETTINGS[first:last + 1])
                        self.answers[kind.__name__] += 1
                        if first == last:
                            self.seen[kind.__name__, first, user] = side
            finally:
                client.close()
        except Exception as fault:
            self.faults.append((kind.__name__, repr(fault)))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        for thread in self.threads:
            thread.join(60)

    def all_have_asked(self):
        """Waits until each kind has asked for each user under the present setting."""
        wait_until(
            lambda: self.faults or all((kind.__name__, self.sure, user) in self.seen for kind in KINDS for user in USERS),
            what="calls of all kinds")


def test_stages_flip_under_load_and_nobody_notices(start, configuration, schema, rest, rpc):
    sign(rest, rpc)
    settings = {
        "canary": {"sticky_by": "header:x-user", "percent": "0%"},
        # The title says who answered; all else is the same on both sides.
        "shadow": {"ignore": ["title"]}}
    gateway = start(configuration(methods={"GetBook": settings}))
    with Callers(gateway, schema) as callers:
        callers.all_have_asked()
        for step, (stage, percent) in enumerate(SETTINGS[1:], 1):
            callers.begun = step
            change = {"stage": stage, **({"percent": percent} if stage == "canary" else {}), "reason": f"flip {step}"}
            answer = gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", change)
            assert answer.status == 200, answer
            callers.sure = step
            time.sleep(1)
            callers.all_have_asked()
            if callers.faults:
                break
    assert callers.faults == []
    # Each caller was on the side of its place under every setting, so while the share rose nobody came back.
    for kind in KINDS:
        for user in USERS:
            sides = [callers.seen[kind.__name__, index, user] for index in range(len(SETTINGS))]
            assert sides == [allowed(user, setting) for setting in SETTINGS]
            rising = sides[:len(RISING)]
            assert rising == sorted(rising, key=["rest", "rpc"].index), (kind.__name__, user, rising)
    # The gateway counted what the callers got, and none of it failed.
    asked = sum(callers.answers.values())
    wait_until(lambda: gateway.metric("turnout_requests_total", method="GetBook") == asked, what=f"{asked} counted calls")
    assert gateway.metric("turnout_requests_total", method="GetBook", code="ok") == asked
    assert min(callers.answers.values()) >= len(USERS) * len(SETTINGS)
    outcomes = {one: gateway.metric("turnout_shadow_total", method="GetBook", outcome=one) for one in ("match", "mismatch", "error")}
    assert outcomes["match"] > 0 and outcomes["mismatch"] == outcomes["error"] == 0
    changes = gateway.admin("GET", "/audit").json()["changes"]
    assert [one["reason"] for one in reversed(changes)] == [f"flip {number}" for number in range(1, len(SETTINGS))]
