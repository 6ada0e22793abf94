"""Which endpoint gets a request: turns, weights, load, keys, zones, names with several addresses, service records."""

import socket
import threading
from collections import Counter

import pytest

from support.fleet import Instance, endpoints, proxy, who
from support.gateway import wait_until
from support.name_server import NameServer
from support.rest_service import Reply


@pytest.fixture
def name_server():
    server = NameServer()
    yield server
    server.close()


def urls(fleet):
    return [instance.url for instance in fleet]


def test_in_turn_each_gets_as_many(start, fleet):
    gateway = start(proxy(urls(fleet)))
    assert Counter(who(gateway, 30)) == {"i0": 10, "i1": 10, "i2": 10}


def test_weights_are_shares(start, fleet):
    gateway = start(proxy([{"url": fleet[0].url, "weight": 3}, fleet[1].url, {"url": fleet[2].url, "weight": 2}]))
    assert Counter(who(gateway, 60)) == {"i0": 30, "i1": 10, "i2": 20}
    listed = endpoints(gateway)
    assert [listed[instance.url]["weight"] for instance in fleet] == [3, 1, 2]


def test_least_requests_leaves_the_slow_one_alone(start, fleet):
    gateway = start(proxy(urls(fleet), balance="least_requests", workers=2))
    release = threading.Event()
    fleet[0].answers(lambda request: release.wait(30) and Reply(200, body=b"i0"))
    held = []
    # Requests that hang at the first instance; whoever has them is more and more avoided.
    for _ in range(12):
        wire = gateway.connect()
        wire.send(b"GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
        held.append(wire)
    wait_until(lambda: sum(len(instance.requests) for instance in fleet) >= 12, what="all requests")
    stuck = len(fleet[0].requests)
    assert endpoints(gateway)[fleet[0].url]["in_flight"] == stuck
    assert "i0" not in who(gateway, 40) or stuck == 0
    release.set()
    for wire in held:
        assert wire.answer().status == 200
        wire.close()


@pytest.mark.parametrize("key, request_for", [
    ("header:x-user", lambda user: dict(fields=[("X-User", user)])),
    ("cookie:session", lambda user: dict(fields=[("Cookie", f"a=b; session={user}; c=d")])),
    ("path", lambda user: dict(target=f"/users/{user}?{user}=1")),
])
def test_the_same_key_goes_to_the_same_endpoint(start, fleet, key, request_for):
    """In every process: a second gateway with the endpoints in another order agrees."""
    one = start(proxy(urls(fleet), balance={"hash": key}, workers=2))
    other = start(proxy(urls(fleet)[::-1], balance={"hash": key}))
    places = {}
    for index in range(40):
        request = request_for(f"user{index}")
        names = who(one, 2, **request) + who(one, 1, **request) + who(other, 1, **request)
        assert len(set(names)) == 1
        places[index] = names[0]
    assert len(set(places.values())) == 3
    # One that goes takes its keys along and no others.
    fleet[1].stop()
    for index, place in places.items():
        [name] = who(one, 1, **request_for(f"user{index}"))
        assert name == place if place != "i1" else name in ("i0", "i2")


def test_the_own_zone_is_preferred_while_enough_of_it_can_be_used(start, fleet):
    zones = [{"url": fleet[0].url, "zone": "a"}, {"url": fleet[1].url, "zone": "b"}, {"url": fleet[2].url, "zone": "a"}]
    gateway = start(proxy(zones, top={"zone": "a"}))
    assert set(who(gateway, 20)) == {"i0", "i2"}
    fleet[0].stop()
    assert set(who(gateway, 20)) == {"i2"}
    fleet[2].stop()
    assert set(who(gateway, 20)) == {"i1"}
    assert endpoints(gateway)[fleet[1].url]["zone"] == "b"


def test_each_address_of_a_name_is_an_endpoint(start, name_server):
    """They follow the name server by the time to live, and what runs on an address that goes is not disturbed."""
    name_server.names["shop.test"] = (1, ["127.0.0.1", "127.0.0.2"])
    instance = AnywhereInstance()
    gateway = start(proxy([f"http://shop.test:{instance.port}"], top={"name_servers": [name_server.address]}))
    assert Counter(who(gateway, 10)) == {"127.0.0.1": 5, "127.0.0.2": 5}
    release = threading.Event()
    instance.answers(lambda request: release.wait(30) and Reply(200, body=b"late"))
    with gateway.connect() as first, gateway.connect() as second:
        for wire in first, second:
            wire.send(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        instance.wait_for(12)
        instance.reset()
        name_server.names["shop.test"] = (1, ["127.0.0.3"])
        wait_until(lambda: set(who(gateway, 4)) == {"127.0.0.3"}, what="the new address")
        release.set()
        assert [first.answer().body, second.answer().body] == [b"late", b"late"]
    # Old addresses are better than none.
    name_server.is_silent = True
    assert set(who(gateway, 4)) == {"127.0.0.3"}
    listed = gateway.admin("GET", "/upstreams").json()["upstreams"][0]["endpoints"]
    assert [found["address"] for found in listed] == [f"127.0.0.3:{instance.port}"]
    instance.stop()


def test_service_records_give_priorities_and_weights(start, name_server, fleet):
    name_server.services["_http._tcp.shop.test"] = (1, [
        (10, 3, fleet[0].port, "a.shop.test"), (10, 1, fleet[1].port, "b.shop.test"),
        (20, 1, fleet[2].port, "spare.shop.test")])
    for name in "a.shop.test", "b.shop.test", "spare.shop.test":
        name_server.names[name] = (60, ["127.0.0.1"])
    setup = proxy([{"srv": "_http._tcp.shop.test"}], top={"name_servers": [name_server.address]})
    gateway = start(setup)
    assert Counter(who(gateway, 40)) == {"i0": 30, "i1": 10}
    fleet[0].stop()
    fleet[1].stop()
    assert set(who(gateway, 10)) == {"i2"}
    name_server.services["_http._tcp.shop.test"] = (1, [(10, 1, fleet[2].port, "spare.shop.test")])
    wait_until(lambda: len(gateway.admin("GET", "/upstreams").json()["upstreams"][0]["endpoints"]) == 1 or
               not who(gateway), what="the new records")


def test_a_name_without_addresses_is_said_at_once(start, name_server):
    gateway = start(proxy(["http://nowhere.test:80"], top={"name_servers": [name_server.address]}))
    answer = gateway.fetch("GET", "/")
    assert answer.status == 503
    assert ("nowhere.test", 1) in name_server.questions


def test_a_reload_keeps_what_is_known_of_endpoints(start, fleet):
    setup = proxy(urls(fleet))
    gateway = start(setup)
    fleet[0].stop()
    who(gateway, 6)
    before = endpoints(gateway)[fleet[0].url]
    assert before["state"] == "unreachable" and "refused" in before["last_error"]
    setup["upstreams"]["fleet"]["max_idle_connections"] = 5
    gateway.write(setup)
    assert gateway.admin("POST", "/reload").status == 200
    assert endpoints(gateway)[fleet[0].url]["last_error"] == before["last_error"]


class AnywhereInstance(Instance):
    """Listens on every loopback address and answers with the one that was asked."""

    def __init__(self):
        super().__init__("anywhere")

    def reset(self):
        super().reset()
        self.script = lambda request: Reply(200, body=request.connection.getsockname()[0].encode())

    def start(self):
        self.socket = socket.create_server(("0.0.0.0", self.port), backlog=1024)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept_on, args=(self.socket,), daemon=True).start()
