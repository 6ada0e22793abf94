"""SIGTERM: what runs finishes, nothing new begins, exit code 0."""

import json
import signal
import threading

import pytest

from support.gateway import wait_until
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.wire import NotWhole, Wire, fetch, request_bytes


def halves(go, rest=b""):
    """Sends half of an answer, and this rest when it may go on."""

    def script(request):
        request.send(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
        go.wait(60)
        request.send(rest)

    return script



@pytest.fixture
def slow(rest):
    """The REST service answers when the event is set."""
    release = threading.Event()

    def script(request):
        release.wait(60)
        return Reply.json(book("slow"))

    rest.answers(script)
    yield release
    release.set()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_running_request_finishes(start, configuration, rest, slow, number):
    gateway = start(configuration())
    with gateway.connect() as running, gateway.connect() as idle:
        running.send(request_bytes("GET", "/v1/books/slow"))
        rest.wait_for(1)
        gateway.signal(number)
        wait_until(lambda: gateway.admin("GET", "/readyz").status == 503, what="not ready")
        assert gateway.admin("GET", "/healthz").status == 200
        assert idle.is_closed()

        def refused():
            try:
                Wire(gateway.address).close()
            except ConnectionRefusedError:
                return True

        wait_until(refused, what="the end of the listener")
        assert gateway.process.poll() is None
        slow.set()
        answer = running.answer()
        assert answer.json() == book("slow")
        assert answer.closes
        assert running.is_closed()
    assert gateway.process.wait(60) == 0


def test_an_idle_gateway_ends_at_once(start, configuration):
    gateway = start(configuration())
    with gateway.connect() as wire:
        assert wire.request("GET", "/v1/books/b1").status == 200
        assert gateway.stop() == 0
        assert wire.is_closed()


def test_what_runs_too_long_is_told_so(start, configuration, rest, slow):
    """A caller of REST, and one of Connect; the access log has both."""
    gateway = start(configuration(drain="1s"))
    with gateway.connect() as running, gateway.connect() as other:
        running.send(request_bytes("GET", "/v1/books/slow"))
        other.send(request_bytes(
            "POST", f"/{SERVICE}/GetBook", [("Content-Type", "application/json")], b'{"id": "slow"}'))
        rest.wait_for(2)
        assert gateway.stop() == 0
        answer = running.answer()
        assert (answer.status, answer.json()["code"]) == (503, 14) and answer.closes
        assert running.is_closed()
        answer = other.answer()
        assert (answer.status, answer.json()["code"]) == (503, "unavailable")
    assert [json.loads(line)["status"] for line in gateway.access_log(2)] == [503, 503]


def test_an_answer_that_cannot_be_ended_is_cut(start, configuration, rest):
    """It has begun and has a length: an error has no place in it, and it must not look whole."""
    gateway = start(configuration(fallback="legacy", drain="1s"))
    go = threading.Event()

    rest.answers(halves(go))
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/halves"))
        answer = wire.head()
        assert gateway.stop() == 0
        with pytest.raises((NotWhole, ConnectionError)):
            wire.body_of(answer)
    go.set()


def test_a_client_that_takes_nothing_does_not_hold_up_the_end(start, configuration, rest):
    gateway = start(configuration(fallback="legacy", drain="1s"))
    rest.answers(Reply(200, body=bytes(32 << 20)))
    with gateway.connect(receive_buffer=4096) as wire, gateway.connect() as half:
        wire.send(request_bytes("GET", "/much"))
        half.send(b"GET /v1/books/b1 HTTP/1.1\r\n")
        wire.head()
        assert gateway.stop() == 0
        assert half.is_closed()


def test_an_answer_under_way_is_sent_whole(start, configuration, rest):
    gateway = start(configuration(fallback="legacy", drain="10m"))
    go = threading.Event()

    rest.answers(halves(go, b"half"))
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/halves"))
        answer = wire.head()
        gateway.signal(signal.SIGTERM)
        wait_until(lambda: gateway.admin("GET", "/readyz").status == 503)
        go.set()
        assert wire.body_of(answer).body == b"halfhalf"
        assert wire.is_closed()
    assert gateway.process.wait(60) == 0


def test_a_reload_while_draining_changes_nothing(start, configuration, rest, slow):
    gateway = start(configuration())
    with gateway.connect() as running:
        running.send(request_bytes("GET", "/v1/books/slow"))
        rest.wait_for(1)
        gateway.signal(signal.SIGTERM)
        wait_until(lambda: gateway.admin("GET", "/readyz").status == 503)
        assert gateway.admin("POST", "/reload").status == 422
        gateway.signal(signal.SIGHUP)
        slow.set()
        assert running.answer().json() == book("slow")
    assert gateway.process.wait(60) == 0
    assert "ended" in gateway.log()


def test_probes_have_a_listener_of_their_own(start, configuration):
    import re

    gateway = start(configuration(probes={"address": "127.0.0.1:0"}))
    host, port = re.search(r"probes on ([\d.]+):(\d+)", gateway.log()).groups()
    address = (host, int(port))
    assert fetch(address, "GET", "/readyz").status == 200
    assert fetch(address, "GET", "/healthz").status == 200
    assert fetch(address, "GET", "/metrics").status == 200
    assert fetch(address, "GET", "/routes").status == 404
    assert fetch(address, "POST", "/reload", [("Content-Type", "application/json")], b"{}").status == 404
