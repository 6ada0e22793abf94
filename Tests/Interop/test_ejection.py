"""Endpoints that are ill: found by checks or by their answers, left out, and taken back."""

from concurrent import futures

import grpc
import pytest
from grpc_health.v1 import health as grpc_health
from grpc_health.v1 import health_pb2, health_pb2_grpc

from support.fleet import endpoints, proxy, who
from support.gateway import wait_until
from support.rest_service import Reply, hang


def urls(fleet):
    return [instance.url for instance in fleet]


def states(gateway):
    return {place: found["state"] for place, found in endpoints(gateway).items()}


def wait_for_state(gateway, instance, state):
    wait_until(lambda: states(gateway)[instance.url] == state, what=f"{instance.name} {state}")


def answers_checks(fleet, ill=()):
    """Instances that answer checks, some of them badly."""
    for instance in fleet:
        status = 500 if instance in ill else 200
        instance.answers(lambda request, status=status, name=instance.name.encode(): (
            Reply(status if request.path == "/healthz" else 200, body=name)))


CHECK = {"path": "/healthz", "interval": "50ms", "timeout": "1s", "unhealthy": 2, "healthy": 2}


def test_checks_take_an_endpoint_out_and_bring_it_back(start, fleet):
    answers_checks(fleet, ill=[fleet[1]])
    gateway = start(proxy(urls(fleet), health_check={**CHECK, "host": "check.test"}, workers=2))
    wait_for_state(gateway, fleet[1], "unhealthy")
    assert set(who(gateway, 12)) == {"i0", "i2"}
    assert endpoints(gateway)[fleet[1].url]["last_error"] == "health check: status 500"
    assert gateway.metric("turnout_upstream_endpoints", upstream="fleet", state="healthy") == 2
    assert gateway.metric("turnout_upstream_endpoints", upstream="fleet", state="unhealthy") == 1
    [check] = {request["host"] for request in fleet[0].requests if request.path == "/healthz"}
    assert check == "check.test"
    answers_checks(fleet)
    wait_for_state(gateway, fleet[1], "healthy")
    assert set(who(gateway, 12)) == {"i0", "i1", "i2"}
    assert gateway.metric("turnout_upstream_health_checks_total", outcome="failed") >= 2


def test_one_worker_checks_for_all(start, fleet):
    gateway = start(proxy([fleet[0].url], health_check={**CHECK, "interval": "100ms"}, workers=4))
    fleet[0].wait_for(5)
    assert fleet[0].connections == 1
    assert gateway.metric("turnout_upstream_health_checks_total", outcome="ok") >= 4


@pytest.mark.parametrize("statuses, good", [("200-299", False), ([200, 418], True)])
def test_which_statuses_are_good_is_said(start, fleet, statuses, good):
    fleet[0].answers(Reply(418))
    gateway = start(proxy(urls(fleet), health_check={**CHECK, "statuses": statuses}))
    if good:
        wait_until(lambda: gateway.metric("turnout_upstream_health_checks_total", outcome="ok") > 8, what="checks")
        assert states(gateway)[fleet[0].url] == "healthy"
    else:
        wait_for_state(gateway, fleet[0], "unhealthy")


def test_a_check_without_an_answer_is_a_bad_one(start, fleet):
    fleet[2].answers(hang)
    gateway = start(proxy(urls(fleet), health_check={**CHECK, "timeout": "200ms"}))
    wait_for_state(gateway, fleet[2], "unhealthy")
    assert "no answer within" in endpoints(gateway)[fleet[2].url]["last_error"]


def test_when_none_is_well_all_are_used(start, fleet):
    answers_checks(fleet, ill=list(fleet))
    gateway = start(proxy(urls(fleet), health_check=CHECK))
    wait_until(lambda: set(states(gateway).values()) == {"unhealthy"}, what="nobody healthy")
    assert set(who(gateway, 9)) == {"i0", "i1", "i2"}


def test_grpc_servers_are_asked_by_their_health_service(start):
    server = grpc.server(futures.ThreadPoolExecutor(4))
    service = grpc_health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    url = f"http://127.0.0.1:{port}"
    setup = proxy([url], protocol="grpc", health_check={"grpc": "content.Library", "interval": "50ms", "unhealthy": 1,
                                                        "healthy": 1})
    gateway = start(setup)
    wait_until(lambda: gateway.metric("turnout_upstream_health_checks_total", outcome="failed") > 0, what="a check")
    assert states(gateway)[url] == "unhealthy"
    assert "not_found" in endpoints(gateway)[url]["last_error"]
    service.set("content.Library", health_pb2.HealthCheckResponse.SERVING)
    wait_until(lambda: states(gateway)[url] == "healthy", what="SERVING")
    service.set("content.Library", health_pb2.HealthCheckResponse.NOT_SERVING)
    wait_until(lambda: "NOT_SERVING" in endpoints(gateway)[url]["last_error"], what="NOT_SERVING")
    server.stop(None)


EJECTION = {"consecutive_failures": 3, "base_ejection": "1s"}


def test_failures_in_a_row_leave_an_endpoint_out_for_a_while(start, fleet):
    """It comes back by itself; each time in a row lasts longer."""
    gateway = start(proxy(urls(fleet), outlier_ejection=EJECTION))
    fleet[1].answers(Reply(503, body=b"ill"))
    with gateway.connect() as wire:
        answers = [wire.request("GET", "/").status for _ in range(30)]
    assert answers.count(503) == 3
    assert states(gateway)[fleet[1].url] == "ejected"
    assert endpoints(gateway)[fleet[1].url]["last_error"] == "status 503"
    assert gateway.metric("turnout_upstream_ejections_total", upstream="fleet") == 1
    assert gateway.metric("turnout_upstream_endpoints", state="ejected") == 1
    fleet[1].reset()
    wait_for_state(gateway, fleet[1], "healthy")
    assert set(who(gateway, 9)) == {"i0", "i1", "i2"}


def test_an_answer_that_is_the_clients_fault_is_no_failure(start, fleet):
    gateway = start(proxy(urls(fleet), outlier_ejection=EJECTION))
    fleet[1].answers(Reply(404))
    with gateway.connect() as wire:
        for _ in range(30):
            wire.request("GET", "/")
    assert set(states(gateway).values()) == {"healthy"}


def test_half_of_them_stay_whatever_they_answer(start, fleet):
    gateway = start(proxy(urls(fleet), outlier_ejection={**EJECTION, "base_ejection": "1m"}))
    for instance in fleet:
        instance.answers(Reply(500))
    with gateway.connect() as wire:
        for _ in range(40):
            assert wire.request("GET", "/").status == 500
    assert sorted(states(gateway).values()) == ["ejected", "healthy", "healthy"]


def test_an_endpoint_that_cannot_be_reached_is_avoided_without_any_setting(start, fleet):
    gateway = start(proxy(urls(fleet)))
    fleet[0].stop()
    assert set(who(gateway, 12)) == {"i1", "i2"}
    assert states(gateway)[fleet[0].url] == "unreachable"
    # Nearly every request goes straight to one that answers.
    assert gateway.metric("turnout_upstream_connect_failures_total") <= 3
    fleet[0].start()
    wait_until(lambda: "i0" in who(gateway, 3), what="the return of the first instance")
    assert states(gateway)[fleet[0].url] == "healthy"


def test_what_is_known_survives_a_reload(start, fleet):
    setup = proxy(urls(fleet), outlier_ejection={**EJECTION, "base_ejection": "1m"})
    gateway = start(setup)
    fleet[2].answers(Reply(502))
    with gateway.connect() as wire:
        for _ in range(12):
            wire.request("GET", "/")
    assert states(gateway)[fleet[2].url] == "ejected"
    setup["upstreams"]["fleet"]["connect_timeout"] = "2s"
    gateway.write(setup)
    assert gateway.admin("POST", "/reload").status == 200
    assert states(gateway)[fleet[2].url] == "ejected"
    assert set(who(gateway, 10)) == {"i0", "i1"}


def test_secret_endpoints_are_hidden(start, fleet, monkeypatch):
    monkeypatch.setenv("PLACE", fleet[0].url)
    gateway = start(proxy(["${env:PLACE}"]), environment={"PLACE": fleet[0].url})
    fleet[0].stop()
    assert gateway.fetch("GET", "/").status == 503
    text = gateway.admin("GET", "/upstreams").body.decode() + gateway.log()
    assert str(fleet[0].port) not in text
    assert list(endpoints(gateway)) == ["(hidden)"]
