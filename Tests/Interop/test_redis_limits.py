"""Limits that several gateways share through a real Redis: exact while it is there, local or as configured without it."""

import threading
import time

import pytest

from support.certificates import Authority
from support.gateway import wait_until
from support.ports import free_port
from support.redis_server import RedisServer, SlowPath


@pytest.fixture
def limited(configuration, start):
    def make(redis, limit=None, **server):
        address = redis if isinstance(redis, str) else redis.address
        rule = {"requests": 10, "per": "1h", "key": "header:x-user", "store": "redis", "timeout": "5s", **(limit or {})}
        gateway = start(configuration(
            redis={"shared": {"address": address, "timeout": "5s", **server}}, interceptors=[{"rate_limit": rule}]))
        return gateway

    return make


def connected(*gateways):
    for gateway in gateways:
        # One connection for each of the two loops.
        wait_until(lambda: gateway.metric("turnout_redis_connections", redis="shared") == 2, what="connections")


def statuses(gateway, count, user="a", delay=0):
    with gateway.connect() as wire:
        result = []
        for _ in range(count):
            result.append(wire.request("GET", "/v1/books/b1", [("x-user", user)]).status)
            time.sleep(delay)
        return result


def together(gateways, count, user="a"):
    """As many answers from each gateway, asked for at the same time."""
    answers, threads = [], []
    for gateway in gateways:
        for _ in range(2):
            thread = threading.Thread(target=lambda g=gateway: answers.extend(statuses(g, count // 2, user)))
            threads.append(thread)
            thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_two_gateways_have_one_limit(limited, redis):
    gateways = [limited(redis), limited(redis)]
    connected(*gateways)
    answers = together(gateways, 20)
    assert (answers.count(200), answers.count(429)) == (10, 30), answers
    assert statuses(gateways[0], 1, "b") == [200]
    refused = gateways[1].fetch("GET", "/v1/books/b1", [("x-user", "a")])
    assert 0 < int(refused["retry-after"]) <= 360, refused
    # No value of a header is a key: it may be a secret.
    keys = redis.call("KEYS", "turnout:limit:*")
    assert len(keys) == 2 and not any(key.endswith(":a") for key in keys), keys
    assert all(0 < redis.call("PTTL", key) <= 3_601_000 for key in keys)
    assert all(gateway.metric("turnout_rate_limit_fallbacks_total") == 0 for gateway in gateways)
    assert "secret" not in gateways[0].log()


def test_what_flows_back_may_be_taken_again(limited, redis):
    gateway = limited(redis, {"requests": 20, "per": "1s", "burst": 2})
    connected(gateway)
    begin = time.monotonic()
    taken = statuses(gateway, 60, delay=0.01).count(200)
    assert 2 <= taken <= 2 + 20 * (time.monotonic() - begin) + 1, taken
    assert taken > 3


def test_killed_and_started_again_under_load(limited, redis):
    """No call fails or waits long; the limit is the process's own while Redis is away, and shared again after."""
    gateway = limited(redis, {"requests": 1_000_000, "per": "1s"})
    connected(gateway)
    answers, slowest, stop = [], [], threading.Event()

    def ask():
        with gateway.connect() as wire:
            while not stop.is_set():
                begin = time.monotonic()
                answers.append(wire.request("GET", "/v1/books/b1", [("x-user", "a")]).status)
                slowest.append(time.monotonic() - begin)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        redis.kill()
        wait_until(lambda: gateway.metric("turnout_redis_connections", redis="shared") == 0, what="the loss")
        before = gateway.metric("turnout_rate_limit_fallbacks_total", redis="shared", decision="local")
        wait_until(
            lambda: gateway.metric("turnout_rate_limit_fallbacks_total", decision="local") > before + 5,
            what="decisions without Redis")
        redis.start()
        connected(gateway)
    stop.set()
    for thread in threads:
        thread.join()
    assert set(answers) == {200}, {status: answers.count(status) for status in set(answers)}
    wait_until(lambda: "is away" in gateway.log() and "is there again" in gateway.log(), what="both in the log")
    assert max(slowest) < 20


@pytest.mark.parametrize("choice, expected", [("local", [200, 429, 429]), ("open", [200] * 3), ("closed", [503] * 3)])
def test_without_redis_it_is_as_configured(limited, choice, expected):
    gateway = limited(f"127.0.0.1:{free_port()}", {"requests": 1, "on_failure": choice})
    assert statuses(gateway, 3) == expected
    assert gateway.metric("turnout_rate_limit_fallbacks_total", redis="shared", decision=choice) == 3
    assert gateway.admin("GET", "/readyz").status == 200


def test_a_slow_server_costs_a_call_its_timeout_at_most_and_then_nothing(limited, redis):
    path = SlowPath(redis.port)
    gateway = limited(path.address, {"requests": 1_000_000, "per": "1s", "timeout": "30ms"})
    connected(gateway)
    assert statuses(gateway, 3) == [200] * 3
    assert gateway.metric("turnout_rate_limit_fallbacks_total") == 0
    path.delay = 1
    assert statuses(gateway, 40) == [200] * 40
    assert gateway.metric("turnout_redis_commands_total", outcome="timeout") >= 8
    assert gateway.metric("turnout_redis_commands_total", outcome="slow") >= 1, "each call waited"
    path.delay = 0
    before = gateway.metric("turnout_redis_commands_total", outcome="ok")
    wait_until(lambda: statuses(gateway, 1) == [200] and
               gateway.metric("turnout_redis_commands_total", outcome="ok") > before + 3, what="answers again")
    path.stop()


def test_a_server_that_sleeps_is_left(limited, redis):
    gateway = limited(redis, {"requests": 1_000_000, "per": "1s", "timeout": "20ms"}, timeout="100ms")
    connected(gateway)
    redis.sleep(3)
    assert statuses(gateway, 30, delay=0.02) == [200] * 30
    wait_until(lambda: "no answer within" in gateway.log(), what="the loss in the log")
    connected(gateway)


def test_credentials_database_and_a_socket(limited, start, configuration):
    server = RedisServer("--requirepass", "s3cret-word")
    try:
        wrong = limited(server, password="wrong-word", database=2)
        assert statuses(wrong, 1) == [200]
        wait_until(lambda: "the login was refused" in wrong.log(), what="the reason")
        assert "wrong-word" not in wrong.log()
        right = limited(f"unix:{server.socket}", password="s3cret-word", database=2)
        connected(right)
        assert statuses(right, 11) == [200] * 10 + [429]
        assert "s3cret-word" not in right.log() + right.admin("GET", "/routes").body.decode()
    finally:
        server.stop()


def test_over_tls(limited, tmp_path):
    authority = Authority(tmp_path / "certificates")
    server, client = authority.issue("redis", "DNS:localhost", "IP:127.0.0.1"), authority.issue("gateway")
    port = free_port()
    redis = RedisServer(
        "--tls-port", str(port), "--tls-cert-file", server["certificate"], "--tls-key-file", server["key"],
        "--tls-ca-cert-file", authority.file)
    try:
        gateway = limited(f"localhost:{port}", tls={"ca": str(authority.file), **client})
        connected(gateway)
        assert statuses(gateway, 12) == [200] * 10 + [429] * 2
        stranger = limited(f"localhost:{port}", tls={"ca": str(authority.file), **client, "server_name": "other.test"})
        wait_until(lambda: "is away" in stranger.log() and "certificate" in stranger.log(), what="the reason")
    finally:
        redis.stop()


def test_a_reload_changes_the_server(limited, redis, configuration):
    gateway = limited(redis)
    connected(gateway)
    assert statuses(gateway, 11) == [200] * 10 + [429]
    other = RedisServer()
    try:
        setup = configuration(
            redis={"shared": {"address": other.address}},
            interceptors=[{"rate_limit": {
                "requests": 10, "per": "1h", "key": "header:x-user", "store": "redis", "timeout": "5s"}}])
        gateway.write(setup)
        assert gateway.admin("POST", "/reload").status == 200
        connected(gateway)
        wait_until(lambda: other.call("CLIENT", "LIST").count("\n") >= 2, what="the new connections")
        assert statuses(gateway, 11) == [200] * 10 + [429]
        assert len(other.call("KEYS", "turnout:limit:*")) == 1
    finally:
        other.stop()


def test_a_client_that_leaves_while_it_waits(limited, redis):
    path = SlowPath(redis.port)
    gateway = limited(path.address)
    connected(gateway)
    path.delay = 0.5
    for _ in range(5):
        with gateway.connect() as wire:
            wire.send(b"GET /v1/books/b1 HTTP/1.1\r\nhost: a\r\nx-user: c\r\n\r\n")
    path.delay = 0
    wait_until(lambda: statuses(gateway, 1, "d") == [200], what="an answer")
    assert gateway.process.poll() is None
    path.stop()


def test_several_limits_take_together_or_not_at_all(limited, redis, start, configuration):
    """What one refuses costs nothing in the others; the refusal names the longest wait; a cost is more than one."""
    limits = [
        {"requests": 100, "per": "1h", "key": "header:x-tenant"},
        {"requests": 3, "per": "1h", "key": ["header:x-tenant", "header:x-user"]},
    ]
    gateways = [start(configuration(
        redis={"shared": {"address": redis.address, "timeout": "5s"}},
        interceptors=[{"rate_limit": {"limits": limits, "store": "redis", "timeout": "5s", "fields": "always"}}]))
        for _ in range(2)]
    connected(*gateways)

    def ask(gateway, user):
        return gateway.fetch("GET", "/v1/books/b1", [("x-tenant", "t"), ("x-user", user)])

    answers = [ask(gateways[n % 2], "a") for n in range(8)]
    assert [answer.status for answer in answers] == [200] * 3 + [429] * 5
    assert [answer["ratelimit-remaining"] for answer in answers[:4]] == ["2", "1", "0", "0"]
    # Five refusals took nothing of what the tenant has.
    others = [ask(gateways[n % 2], f"u{n}").status for n in range(97)]
    assert others == [200] * 97
    assert ask(gateways[0], "z").status == 429
    assert all(gateway.metric("turnout_rate_limit_fallbacks_total") == 0 for gateway in gateways)
