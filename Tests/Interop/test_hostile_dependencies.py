"""All that a gateway asks for itself comes and goes while it serves: Redis, key servers, token endpoints, collectors, names, endpoints."""

import os
import random
import signal
import threading
import time

import pytest

from support.collector import Collector
from support.gateway import PATIENCE, wait_until
from support.name_server import NameServer
from support.redis_server import RedisServer
from support.rest_service import Reply, RESTService, book
from support.schema import SERVICE
from support.tokens import AUDIENCE, ISSUER, Key, KeyServer, bearer
from support.wire import NotWhole

# Longer by hand: TURNOUT_CHAOS_SECONDS=1200.
SECONDS = int(os.environ.get("TURNOUT_CHAOS_SECONDS", "12"))
HOST = "backend.test"


@pytest.fixture
def world():
    """Everything around the gateway."""
    world = World()
    yield world
    world.close()


class World:
    def __init__(self):
        self.seed = random.randrange(1 << 32)
        print("seed", self.seed)
        self.chance = random.Random(self.seed)
        self.redis, self.names, self.collector = RedisServer(), NameServer(), Collector()
        self.key = Key("k1")
        self.keys, self.tokens, self.backend = KeyServer(self.key), RESTService(), RESTService()
        self.tokens.answers(lambda _: Reply.json({"access_token": "t", "token_type": "Bearer", "expires_in": 1}))
        self.names.names[HOST] = (1, ["127.0.0.1"])
        self.turn = 0

    def close(self):
        self.redis.stop()
        self.names.close()
        self.collector.stop()

    def setup(self, configuration):
        """Another file each time: what is asked of whom changes, and so do names of routes' limits, of logs, of listeners."""
        self.turn += 1
        chance = self.chance
        issuer = {"issuer": ISSUER, "audiences": [AUDIENCE],
                  "jwks": {"url": f"{self.keys.url}/keys?{self.turn % 5}", "refresh": "1m"}}
        limit = {"requests": 100_000, "per": "1s", "key": "header:x-user", "store": "redis", "timeout": "50ms",
                 "burst": 100_000 + self.turn % 7}
        otlp = {"endpoint": f"{self.collector.url}?{self.turn % 3}", "interval": "20ms", "timeout": "1s"}
        made = configuration(
            chance.choice(["rest", "shadow", "canary", "rpc"]), drain="1s", redis={"shared": {
                "address": self.redis.address, "timeout": f"{50 + self.turn % 4}ms"}},
            state={"redis": "shared"}, name_servers=[self.names.address], timeouts={"connect": "1s"},
            interceptors=[
                {"access_log": {"format": "json", "path": f"access{self.turn % 4}.log"}},
                {"tracing": {"exporter": {"otlp": otlp}}}, {"jwt": issuer}, {"rate_limit": limit}],
            service={"timeout": "1s", "canary": {"percent": "50%"}, "guard": {"window": "10s", "min_requests": 50, "max_error_rate": "90%", "action": "alert"}})
        for upstream in made["upstreams"].values():
            upstream["max_idle_connections"] = 4
        legacy = made["upstreams"]["legacy"]
        legacy["endpoints"] = chance.choice([
            [self.backend.url], [f"http://{HOST}:{self.backend.port}"],
            [self.backend.url, "http://127.0.0.1:1"], [f"http://gone{self.turn % 3}.test:80", self.backend.url]])
        legacy["credentials"] = {"oauth2": {
            "token_url": f"{self.tokens.url}/token?{self.turn % 5}", "client_id": "c", "client_secret": "s"}}
        legacy["health_check"] = {"path": "/healthz", "interval": "100ms", "timeout": "100ms"}
        if self.turn % 2:
            made["listeners"].append({"address": "127.0.0.2:0"})
        return made

    def disturb(self):
        """One of the world's parts fails in its own way, or is well again."""
        chance = self.chance
        what = chance.randrange(7)
        if what == 0:
            self.redis.restart()
        elif what == 1:
            self.redis.sleep(0.3)
        elif what == 2:
            self.keys.status = chance.choice([200, 200, 500])
        elif what == 3:
            self.collector.status = chance.choice([200, 200, 400, 503])
        elif what == 4:
            self.names.is_silent = chance.random() < 0.3
            self.names.names[HOST] = (1, chance.choice([["127.0.0.1"], ["127.0.0.1", "127.0.0.9"], []]))
        elif what == 5:
            refused = Reply.json({"error": "invalid_client"}, 401)
            good = Reply.json({"access_token": "t", "token_type": "Bearer", "expires_in": chance.choice([1, 60])})
            self.tokens.answers(chance.choice([good, good, refused, Reply(body=b"no json")]))
        else:
            answer = chance.choice([None, None, Reply(503), Reply.json(book("b1"))])
            if answer is None:
                self.backend.reset()
            else:
                self.backend.answers(answer)
            self.backend.requests.clear()

    def heal(self):
        if self.redis.process.poll() is not None:
            self.redis.start()
        self.keys.status = self.collector.status = 200
        self.names.is_silent = False
        self.names.names[HOST] = (1, ["127.0.0.1"])
        self.tokens.answers(lambda _: Reply.json({"access_token": "t", "token_type": "Bearer", "expires_in": 60}))
        self.backend.reset()


def caller(gateway, token, until, answered, seed):
    """Asks in turn over REST and Connect; whatever comes has to be an answer."""
    chance = random.Random(seed)
    while time.monotonic() < until():
        try:
            with gateway.connect(timeout=20) as wire:
                for _ in range(chance.randrange(1, 30)):
                    if time.monotonic() >= until():
                        return
                    fields = [bearer(token), ("x-user", str(chance.randrange(1000)))]
                    if chance.random() < 0.5:
                        answer = wire.request("GET", "/v1/books/b1", fields)
                    else:
                        answer = wire.request("POST", f"/{SERVICE}/GetBook", [
                            *fields, ("content-type", "application/json"), ("connect-protocol-version", "1")],
                            b'{"id":"b1"}')
                    answered[answer.status] = answered.get(answer.status, 0) + 1
                    # Refused before its body was read.
                    if answer["connection"] == "close":
                        break
        except (NotWhole, OSError):
            # The end of the process, or of a connection that nobody asked on for a while.
            answered["cut"] = answered.get("cut", 0) + 1


def registered(gateway):
    """What must not grow: names of the configuration are in no metric for ever but the counters'."""
    return gateway.metric("turnout_connections"), gateway.metric("turnout_upstream_connections", state="active")


def test_what_the_gateway_asks_comes_and_goes(start, configuration, world):
    gateway = start(world.setup(configuration), environment={"MALLOC_ARENA_MAX": "2"})
    end = time.monotonic() + SECONDS
    answered = {}
    threads = [
        threading.Thread(target=caller, args=(gateway, world.key.token(exp=int(time.time()) + 7200), lambda: end, answered, n))
        for n in range(6)]
    for thread in threads:
        thread.start()
    settled = None
    while time.monotonic() < end:
        world.disturb()
        gateway.write(world.setup(configuration))
        assert gateway.admin("POST", "/reload").status == 200, gateway.log()
        time.sleep(0.3)
        assert gateway.process.poll() is None, "the gateway died"
        if settled is None and time.monotonic() > end - SECONDS * 2 / 3:
            settled = gateway.resident_bytes()
    for thread in threads:
        thread.join(PATIENCE)
    grown = gateway.resident_bytes() - settled
    print("answers", answered, "reloads", world.turn, "grown", grown >> 10, "KiB")
    # Chance may have kept the keys away for most of the time; that all is well again is seen below.
    assert answered.get(200, 0) > 0, answered
    assert answered.get("cut", 0) < 20, answered
    assert set(answered) <= {200, 401, 429, 499, 500, 502, 503, 504, "cut"}, answered

    world.heal()
    gateway.write(world.setup(configuration))
    assert gateway.admin("POST", "/reload").status == 200
    token = world.key.token(exp=int(time.time()) + 7200)
    wait_until(
        lambda: gateway.fetch("GET", "/v1/books/b1", [("Authorization", f"Bearer {token}")]).status == 200,
        what="an answer in a world that is well")
    wait_until(lambda: registered(gateway) == (0, 0), what="no connection left")
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="no buffered bytes")
    # Two loops with two connections each to Redis and to whatever else is asked at present, the logs, the listeners.
    wait_until(lambda: gateway.descriptors() <= 90, what="descriptors closed")
    # Some hundred reloads, each with some 100 KiB that could stay.
    assert grown < (64 << 20), f"{grown} bytes more after two thirds of the reloads"


@pytest.mark.parametrize("broken", [False, True], ids=["well", "broken"])
def test_the_end_under_load(start, configuration, world, broken):
    """SIGTERM while calls run and nobody of the others answers: the end comes in time and in order."""
    gateway = start(world.setup(configuration))
    stop = time.monotonic() + PATIENCE
    ended = []
    answered = {}
    threads = [
        threading.Thread(target=caller, args=(
            gateway, world.key.token(), lambda: 0 if ended else stop, answered, n)) for n in range(6)]
    for thread in threads:
        thread.start()
    wait_until(lambda: sum(answered.values()) > 100, what="some answers")
    if broken:
        world.redis.process.send_signal(signal.SIGSTOP)
        world.names.is_silent = True
        world.collector.status = 503
        world.keys.status = 500
    gateway.signal(signal.SIGTERM)
    try:
        assert gateway.process.wait(PATIENCE) == 0
    finally:
        ended.append(True)
        if broken:
            world.redis.process.send_signal(signal.SIGCONT)
        for thread in threads:
            thread.join(PATIENCE)
    assert "ended" in gateway.log()
