"""Upstreams that listen on a socket of this machine."""

import pytest

from support.fleet import Instance, endpoints, proxy, who
from support.gateway import run, wait_until
from support.rest_service import Reply


@pytest.fixture
def instance(tmp_path):
    instance = Instance("here", str(tmp_path / "service.sock"))
    yield instance
    instance.stop()


def test_a_request_goes_there_and_back(start, instance):
    gateway = start(proxy([instance.url]))
    assert who(gateway, 3) == ["here"] * 3
    assert instance.connections == 1
    # As from anywhere else the backend sees the caller's authority.
    assert instance.requests[0]["host"] == "gateway.test"
    assert endpoints(gateway)[instance.url]["address"] == instance.url


def test_long_bodies_both_ways(start, instance):
    gateway = start(proxy([instance.url]))
    instance.answers(lambda request: Reply(200, body=request.body))
    body = bytes(range(256)) * (8 << 10)
    assert gateway.fetch("PUT", "/", body=body).body == body


def test_beside_a_server_elsewhere(start, instance):
    other = Instance("there")
    gateway = start(proxy([{"url": instance.url, "weight": 2}, other.url], health_check={"path": "/", "interval": "50ms"}))
    assert sorted(who(gateway, 6)) == ["here"] * 4 + ["there"] * 2
    instance.stop()
    assert set(who(gateway, 4)) == {"there"}
    instance.start()
    wait_until(lambda: "here" in who(gateway, 3), what="the return of the socket")
    other.stop()


def test_a_socket_that_is_not_there(start, tmp_path):
    gateway = start(proxy([f"unix:{tmp_path}/nothing.sock"]))
    assert gateway.fetch("GET", "/").status == 503
    assert "No such file" in endpoints(gateway)[f"unix:{tmp_path}/nothing.sock"]["last_error"]


@pytest.mark.parametrize("endpoint, fault", [
    ("unix:relative.sock", "is no socket of this machine"), ("unix:/" + "x" * 120, "at most 107 bytes"),
    ({"url": "http://a", "srv": "_a._tcp.b"}, "either a `url` or an `srv`"), ({"weight": 2}, "needs `url` or `srv`"),
    ({"srv": "www.example.com"}, "not a name of service records"), ({"url": "http://a", "weight": 0}, "from 1 to 1000"),
    ({"url": "http://a", "tls": True}, "goes with `srv` only"),
])
def test_faults_are_told_with_place_and_cure(tmp_path, endpoint, fault):
    import json
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(proxy([endpoint])))
    result = run("check", "--config", file)
    assert result.returncode == 1
    assert fault in result.stderr
    assert "turnout.yaml:1:" in result.stderr
