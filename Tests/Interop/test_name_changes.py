"""Name servers that are silent while the gateway reloads or ends: neither may cost more than the questions."""

import signal

import pytest

from support.fleet import Instance, proxy, who
from support.gateway import wait_until
from support.name_server import NameServer


@pytest.fixture
def silent():
    server = NameServer()
    server.is_silent = True
    yield server
    server.close()


@pytest.fixture
def instance():
    instance = Instance("i0")
    yield instance
    instance.stop()


def setup(server, instance, **more):
    return proxy([f"http://shop.test:{instance.port}"], top={"name_servers": [server.address]}, **more)


def test_other_name_servers_while_requests_wait_for_an_address(start, silent, instance):
    """Those who wait are asked for again at the new ones, and answered."""
    speaking = NameServer()
    speaking.names["shop.test"] = (60, ["127.0.0.1"])
    gateway = start(setup(silent, instance, workers=2))
    wires = [gateway.connect() for _ in range(8)]
    for wire in wires:
        wire.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
    wait_until(lambda: silent.questions, what="a question")
    gateway.write(setup(speaking, instance, workers=2))
    assert gateway.admin("POST", "/reload").status == 200
    for wire in wires:
        assert [wire.answer().body, wire.answer().body] == [b"i0", b"i0"]
        wire.close()
    speaking.close()


def test_the_end_while_an_address_is_awaited(start, silent, instance):
    """The collector of traces is asked until the end, and its name was never found."""
    collector = {"endpoint": "http://collector.test:4318/v1/traces", "interval": "10ms"}
    gateway = start(proxy([instance.url], top={
        "name_servers": [silent.address], "drain": "300ms",
        "interceptors": [{"tracing": {"exporter": {"otlp": collector}}}]}))
    assert who(gateway, 3)
    wait_until(lambda: silent.questions, what="a question")
    gateway.signal(signal.SIGTERM)
    assert gateway.process.wait(30) == 0, gateway.log()


def test_a_name_that_is_a_secret_is_not_told_when_it_is_not_found(start, instance):
    speaking = NameServer()
    gateway = start(
        proxy(["${env:PLACE}"], top={"name_servers": [speaking.address], "interceptors": [{"access_log": {}}]}),
        environment={"PLACE": "http://hidden-place.test:1234"})
    assert gateway.fetch("GET", "/").status == 503
    wait_until(lambda: speaking.questions, what="a question")
    seen = gateway.access_log()[0] + gateway.log() + gateway.admin("GET", "/upstreams").body.decode()
    assert "fleet" in seen and "hidden-place" not in seen
    speaking.close()


def test_a_name_without_addresses_is_told_of_once_and_when_it_has_some(start, instance):
    """In the log, and for operators as long as it lasts: there is no endpoint that could show it."""
    speaking = NameServer()
    gateway = start(proxy(
        [f"http://shop.test:{instance.port}"], top={
            "name_servers": [speaking.address], "interceptors": [{"access_log": {"format": "json"}}]}))

    def seen():
        (upstream,) = gateway.admin("GET", "/upstreams").json()["upstreams"]
        return upstream["last_error"]

    assert seen() is None
    for _ in range(3):
        assert gateway.fetch("GET", "/").status == 503
    assert seen().startswith("shop.test")
    wait_until(lambda: "does not resolve" in gateway.log(), what="the word")
    said = [line for line in gateway.log().splitlines() if "shop.test" in line]
    assert len(said) == 1 and " warning: " in said[0] and "requests to it fail" in said[0], said
    speaking.names["shop.test"] = (1, ["127.0.0.1"])
    wait_until(lambda: gateway.fetch("GET", "/").status == 200, what="the address")
    assert seen() is None
    wait_until(lambda: "has addresses again" in gateway.log(), what="the word that it is over")
    # Gone again while its address is in use: that serves, and people can see why it may be an old one.
    del speaking.names["shop.test"]

    def gone():
        assert gateway.fetch("GET", "/").status == 200
        return seen()

    assert wait_until(gone, what="the error").startswith("shop.test")
    speaking.close()
