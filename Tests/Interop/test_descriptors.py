"""File descriptors run short: clients and upstreams wait or are refused, and who looks after the gateway is not."""

import resource

import pytest

from support.gateway import Gateway, run, wait_until


@pytest.fixture
def few(configuration, tmp_path, rest, rpc):
    made = []

    def make(descriptors, **top):
        made.append(Gateway(tmp_path / "few", configuration(fallback="legacy", **top), descriptors=descriptors))
        return made[-1]

    yield make
    for gateway in made:
        gateway.discard()


@pytest.mark.parametrize("count", [96, 256])
def test_the_admin_endpoint_answers_when_clients_hold_all_they_can_get(few, count):
    gateway = few(f"{count}:{count}", probes={"address": "127.0.0.1:0"})
    assert "limits.connections is 60000" in gateway.log()
    most = gateway.metric("turnout_connections_limit")
    assert 10 < most < count
    wires = [gateway.connect(timeout=5) for _ in range(count + 40)]
    wait_until(
        lambda: gateway.metric("turnout_accept_pauses_total", reason="descriptors") > 1, what="a pause of accepting")
    for path in ("/healthz", "/readyz", "/metrics", "/routes"):
        assert gateway.admin("GET", path).status == 200
    assert gateway.metric("turnout_connections") <= most
    assert gateway.admin("POST", "/reload").json()["outcome"] == "ok"
    for wire in wires:
        wire.close()

    def serves():
        try:
            with gateway.connect(timeout=5) as wire:
                return wire.request("GET", "/v1/books/b1").status == 200
        except OSError:
            return False

    wait_until(serves, what="service")
    assert gateway.stop() == 0


def test_as_many_are_asked_for_as_there_may_be(few):
    gateway = few("64:2048")
    with open(f"/proc/{gateway.process.pid}/limits") as limits:
        (line,) = [line for line in limits if "open files" in line]
    assert line.split()[3:5] == ["2048", "2048"]
    assert gateway.metric("turnout_connections_limit") > 1_000


def test_a_limit_that_can_be_reached_is_not_warned_of(few):
    gateway = few("1024:1024", limits={"connections": 500})
    assert "limits.connections" not in gateway.log()
    assert gateway.metric("turnout_connections_limit") == 500


def test_check_warns_of_a_chosen_limit_that_is_out_of_reach(few, configuration):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard > 9_000_000:
        pytest.skip("there is no end of descriptors here")
    gateway = few("256:256")
    gateway.write(configuration(limits={"connections": 10_000_000}))
    check = run("check", "--config", gateway.file)
    assert check.returncode == 0 and "warning: limits.connections is 10000000" in check.stderr, check
    gateway.write(configuration(limits={"connections": 20}))
    assert "limits.connections" not in run("check", "--config", gateway.file).stderr
