"""Bounds for the whole process: requests, waiting ones, connections; and what connections may carry."""

import threading

import pytest

from support.echo import SERVICE as ECHO
from support.fleet import Fleet, endpoints, proxy, who
from support.gateway import wait_until
from support.http2 import HTTP2Client, HTTP2Upstream
from support.rest_service import Reply
from support.wire import request_bytes


INSTANCES = 2


class Held:
    """Answers only when it is told to."""

    def __init__(self, *instances):
        self.release = threading.Event()
        for instance in instances:
            instance.answers(lambda request: self.release.wait(30) and Reply(200, body=b"ok"))


def ask(gateway, count):
    wires = [gateway.connect() for _ in range(count)]
    for wire in wires:
        wire.send(request_bytes("GET", "/"))
    return wires


def answers(wires):
    found = [wire.answer() for wire in wires]
    for wire in wires:
        wire.close()
    return found


def test_more_requests_than_allowed_are_refused_at_once(start, fleet):
    """Over all workers, and for as long as they run."""
    held = Held(fleet[0])
    gateway = start(proxy([fleet[0].url], workers=2, limits={"max_requests": 3}))
    wires = ask(gateway, 3)
    fleet[0].wait_for(3)
    for answer in answers(ask(gateway, 4)):
        assert answer.status == 503
        assert answer["retry-after"] == "1"
    assert gateway.metric("turnout_upstream_overflows_total", upstream="fleet", limit="requests") == 4
    assert gateway.metric("turnout_requests_total", code="unavailable") == 4
    held.release.set()
    assert [answer.body for answer in answers(wires)] == [b"ok"] * 3
    assert gateway.fetch("GET", "/").status == 200


def test_more_waiting_ones_than_allowed_are_refused_at_once(start, fleet):
    held = Held(fleet[0])
    gateway = start(proxy([fleet[0].url], max_connections=1, limits={"max_pending": 2}))
    wires = ask(gateway, 1)
    fleet[0].wait_for(1)
    waiting = ask(gateway, 2)
    wait_until(lambda: gateway.admin("GET", "/upstreams").json()["upstreams"][0]["pending"] == 2, what="two waiting")
    assert gateway.fetch("GET", "/").status == 503
    assert gateway.metric("turnout_upstream_overflows_total", upstream="fleet", limit="pending") == 1
    held.release.set()
    assert [answer.body for answer in answers(wires + waiting)] == [b"ok"] * 3
    assert gateway.admin("GET", "/upstreams").json()["upstreams"][0]["pending"] == 0


def test_no_more_connections_than_allowed_in_the_whole_process(start, fleet):
    """Each worker gets its turn, although the others hold idle connections."""
    gateway = start(proxy([instance.url for instance in fleet], workers=4, limits={"max_connections": 2}))
    lock, running, most = threading.Lock(), [0], [0]

    def script(request):
        with lock:
            running[0] += 1
            most[0] = max(most[0], sum(len(instance.open) for instance in fleet))
        threading.Event().wait(0.005)
        with lock:
            running[0] -= 1
        return Reply(200, body=b"ok")

    for instance in fleet:
        instance.answers(script)
    for _ in range(5):
        assert [answer.body for answer in answers(ask(gateway, 24))] == [b"ok"] * 24
    assert gateway.admin("GET", "/upstreams").json()["upstreams"][0]["connections"] <= 2
    # The end of one may be seen here after the beginning of the next.
    assert most[0] <= 4
    wait_until(lambda: sum(len(instance.open) for instance in fleet) <= 2, what="two connections")


@pytest.mark.parametrize("is_last", [False, True], ids=["another-stays", "all-go"])
def test_who_waits_at_an_endpoint_that_a_reload_takes_out(start, is_last):
    """It goes where the upstream still is; with nothing left of that, it is served where it waits."""
    fleet = Fleet(3)
    held = Held(*fleet)
    def setup(instances):
        return proxy([instance.url for instance in instances], limits={"max_connections": 1})

    gateway = start(setup(fleet[:2]))
    [first] = ask(gateway, 1)
    wait_until(lambda: fleet[0].requests or fleet[1].requests, what="the first request")
    busy = fleet[0] if fleet[0].requests else fleet[1]
    waiting = ask(gateway, 2)
    wait_until(lambda: gateway.admin("GET", "/upstreams").json()["upstreams"][0]["pending"] == 2, what="two waiting")
    gateway.write(setup([fleet[2] if is_last else busy]))
    assert gateway.admin("POST", "/reload").status == 200
    held.release.set()
    assert [answer.body for answer in answers([first] + waiting)] == [b"ok"] * 3
    if not is_last:
        assert len(busy.requests) == 3
    assert gateway.fetch("GET", "/").status == 200
    fleet.stop()


def test_a_client_that_leaves_gives_its_place_back(start, fleet):
    held = Held(fleet[0])
    gateway = start(proxy([fleet[0].url], limits={"max_requests": 1}))
    [wire] = ask(gateway, 1)
    fleet[0].wait_for(1)
    assert gateway.fetch("GET", "/").status == 503
    wire.close()
    held.release.set()
    wait_until(lambda: gateway.fetch("GET", "/").status == 200, what="a place")


def test_connections_are_opened_before_they_are_needed_and_kept(start, fleet):
    gateway = start(proxy([fleet[0].url, fleet[1].url], workers=2, prewarm=3, top={"timeouts": {"upstream_idle": "200ms"}}))
    for instance in fleet:
        wait_until(lambda: len(instance.open) == 6, what="three connections for each worker")
    who(gateway, 8)
    assert [instance.connections for instance in fleet] == [6, 6]
    # The instance closes them: they are opened anew.
    fleet[0].stop()
    fleet[0].start()
    wait_until(lambda: len(fleet[0].open) == 6, what="the connections again")
    assert endpoints(gateway)[fleet[0].url]["state"] == "healthy"
    # The other one's were idle for longer than an idle connection is kept, and are there all the same.
    wait_until(lambda: len(fleet[1].open) == 6, what="the connections of the other one")


def test_a_connection_carries_so_many_requests(start, fleet):
    gateway = start(proxy([fleet[0].url], max_requests_per_connection=3))
    assert who(gateway, 9) == ["i0"] * 9
    assert [request.number for request in fleet[0].requests] == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_an_old_connection_gets_no_further_requests(start, fleet):
    gateway = start(proxy([fleet[0].url], max_connection_age="300ms"))
    who(gateway, 3)
    assert fleet[0].connections == 1
    wait_until(lambda: who(gateway) and fleet[0].connections > 1, what="a new connection")
    assert fleet[0].requests[-1].number == 2


@pytest.mark.parametrize("bound", [{"max_requests_per_connection": 4}, {"max_connection_age": "150ms"}])
def test_the_same_over_http2(start, echo_gateways, bound):
    setup = echo_gateways.configuration("connect-h2")
    setup["upstreams"]["echo"].update(bound)
    gateway = start(setup)
    metric = lambda: gateway.metric("turnout_upstream_connections", upstream="echo")
    for _ in range(12):
        answer = gateway.fetch("POST", f"/{ECHO}/Say", [("Content-Type", "application/json")], b'{"text":"x"}')
        assert answer.status == 200, answer
        threading.Event().wait(0.03)
    assert metric() <= 2
    assert gateway.metric("turnout_upstream_duration_seconds_count", upstream="echo") == 12


@pytest.mark.parametrize("most", [1, 3])
def test_calls_that_wait_for_an_http2_connection_count_as_its_requests(start, echo_gateways, most):
    """All that came while it opened once went over it, however few it may carry."""
    upstream = HTTP2Upstream(lambda exchange: exchange.answer(200, [("content-type", "application/json")], b"{}"))
    setup = echo_gateways.configuration("connect-json")
    setup["upstreams"]["echo"].update(http="2", endpoints=[upstream.url], max_requests_per_connection=most)
    gateway = start(setup)
    with HTTP2Client(gateway.address) as client:
        head = [("content-type", "application/json")]
        streams = [client.start("POST", f"/{ECHO}/Say", head, body=b"{}") for _ in range(10)]
        assert [client.finish(stream).status for stream in streams] == [200] * 10
    carried = [len(connection.exchanges) for connection in upstream.connections]
    assert sum(carried) == 10 and max(carried) <= most, carried
    upstream.close()
