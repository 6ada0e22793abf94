"""Connections to upstreams and of clients when there are too few of something."""

import resource
import socket
import subprocess
import threading
import time

import pytest

from support.gateway import wait_until
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.scripted import Scripted, read_all, read_head
from support.wire import Wire, request_bytes

JSON = [("Content-Type", "application/json")]


def towards(configuration, url, **more):
    setup = configuration(fallback="legacy", **more)
    setup["upstreams"]["legacy"]["endpoints"] = [url]
    return setup


@pytest.fixture
def scripted():
    servers = []

    def make(script, **more):
        servers.append(Scripted(script, **more))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def test_no_more_connections_than_configured(start, configuration, rest):
    setup = configuration(fallback="legacy", workers=1)
    setup["upstreams"]["legacy"]["max_connections"] = 2
    gateway = start(setup)
    lock, running, most = threading.Lock(), [0], [0]

    def script(request):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.02)
        with lock:
            running[0] -= 1
        return Reply(200, body=b"ok")

    rest.answers(script)
    before = rest.connections
    wires = [gateway.connect() for _ in range(20)]
    for wire in wires:
        wire.send(request_bytes("GET", "/busy"))
    assert [wire.answer().body for wire in wires] == [b"ok"] * 20
    assert 1 <= most[0] <= 2
    assert rest.connections - before <= 2
    for wire in wires:
        wire.close()


def test_a_waiting_request_whose_client_leaves_is_never_sent(start, configuration, rest):
    setup = configuration(fallback="legacy", workers=1)
    setup["upstreams"]["legacy"]["max_connections"] = 1
    gateway = start(setup)
    release = threading.Event()

    def script(request):
        release.wait(30)
        return Reply(200, body=b"ok")

    rest.answers(script)
    with gateway.connect() as first, gateway.connect() as third:
        first.send(request_bytes("GET", "/first"))
        rest.wait_for(1)
        with gateway.connect() as second:
            second.send(request_bytes("GET", "/second"))
        wait_until(lambda: gateway.metric("turnout_connections") == 2, what="the end of the second client")
        third.send(request_bytes("GET", "/third"))
        release.set()
        assert (first.answer().body, third.answer().body) == (b"ok", b"ok")
    assert [request.path for request in rest.requests] == ["/first", "/third"]


def test_idle_connections_are_kept_up_to_a_number(start, configuration, rest):
    setup = configuration(fallback="legacy", workers=1)
    setup["upstreams"]["legacy"]["max_idle_connections"] = 3
    gateway = start(setup)
    rest.answers(lambda request: time.sleep(0.1) or Reply(200, body=b"ok"))
    wires = [gateway.connect() for _ in range(10)]
    for wire in wires:
        wire.send(request_bytes("GET", "/busy"))
    for wire in wires:
        assert wire.answer().body == b"ok"
        wire.close()
    wait_until(lambda: gateway.metric("turnout_upstream_connections", state="active") == 0)
    assert gateway.metric("turnout_upstream_connections", upstream="legacy", state="idle") == 3


def test_idle_connections_end_after_a_time(start, configuration, rest):
    gateway = start(configuration(fallback="legacy", timeouts={"upstream_idle": "300ms"}))
    gateway.fetch("GET", "/healthy")
    wait_until(lambda: gateway.metric("turnout_upstream_connections", upstream="legacy") == 0, what="no connection")


def test_a_connection_that_was_used_again_ends_too(start, configuration, rest):
    gateway = start(configuration(fallback="legacy", timeouts={"upstream_idle": "300ms"}))
    for _ in range(8):
        gateway.fetch("GET", "/healthy")
        time.sleep(0.1)
    wait_until(lambda: gateway.metric("turnout_upstream_connections", upstream="legacy") == 0, what="no connection")


def test_a_connection_that_is_never_accepted(start, configuration):
    """The backlog is full, so the connection stays half open."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf:
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
            fillers.append(filler)
        gateway = start(towards(configuration, "http://127.0.0.1:%d" % deaf.getsockname()[1], timeouts={"connect": "500ms"}))
        assert gateway.fetch("GET", "/anything").status == 503
        for filler in fillers:
            filler.close()


def test_running_out_of_descriptors_pauses_accepting(start, configuration, rest):
    gateway = start(configuration(fallback="legacy"))
    gateway.fetch("GET", "/healthy")
    pid = gateway.process.pid
    used = gateway.descriptors()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 20, used + 2000))
    wires = [Wire(gateway.address) for _ in range(60)]
    wait_until(lambda: gateway.descriptors() >= used + 19, what="the use of all descriptors")
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 2000, used + 2000))
    for wire in wires:
        assert wire.request("GET", "/healthy").body == b"legacy"
        wire.close()
    assert gateway.metric("turnout_accept_pauses_total", reason="descriptors") >= 1


def test_an_answer_before_the_body_was_read(start, configuration, scripted):
    """The caller gets it, and that connection is not used again: half a body lies in it."""
    def script(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno")
        time.sleep(0.5)

    server = scripted(script)
    gateway = start(towards(configuration, server.url))
    for count in range(1, 4):
        with gateway.connect() as wire:
            wire.send(request_bytes("POST", "/upload", [("Content-Length", str(8 << 20))]))
            try:
                wire.send(b"x" * (8 << 20))
            except ConnectionError:
                pass
            answer = wire.answer()
            assert (answer.status, answer.body) == (401, b"no")
        assert server.connections == count


@pytest.mark.parametrize("data, whole", [
    (request_bytes("POST", "/upload", [("Content-Length", "100")]) + b"x" * 50, b"x" * 100),
    (request_bytes("POST", "/upload", [("Transfer-Encoding", "chunked")]) + b"5\r\nhello\r\n", b"0\r\n\r\n"),
])
def test_a_client_that_leaves_inside_its_body(start, configuration, scripted, data, whole):
    """The upstream must not take the half for the whole."""
    def script(connection):
        head, rest = read_head(connection)
        return rest + read_all(connection)

    server = scripted(script)
    gateway = start(towards(configuration, server.url))
    with gateway.connect() as wire:
        wire.send(data)
        wait_until(lambda: server.connections == 1)
        time.sleep(0.2)
    assert server.ended.acquire(timeout=30)
    assert not server.received[0].endswith(whole)
    assert server.received[0]


def test_a_client_that_leaves_inside_a_translated_body_reaches_nobody(start, configuration, rest, rpc):
    gateway = start(configuration(stage="rpc"))
    for framing in [("Content-Length", "100")], [("Transfer-Encoding", "chunked")]:
        with gateway.connect() as wire:
            wire.send(request_bytes("POST", "/v1/shelves/s1/books", JSON + framing) + b'e\r\n{"title": "x"}\r\n')
    wait_until(lambda: gateway.metric("turnout_requests_total", code="canceled") == 2, what="two cancelled calls")
    assert not rpc.calls and not rest.requests


def test_one_request_is_one_request(start, configuration, scripted):
    """An upstream that closes without an answer is not asked again by what changes something."""
    heads = []

    def script(connection):
        head, _ = read_head(connection)
        heads.append(head)

    gateway = start(towards(configuration, scripted(script).url))
    for _ in range(5):
        assert gateway.fetch("POST", "/charge", [], b"1 euro").status == 502
    assert len([head for head in heads if head]) == 5


def test_a_name_is_resolved(start, configuration, rest):
    gateway = start(towards(configuration, f"http://localhost:{rest.port}"))
    assert gateway.fetch("GET", "/healthy").body == b"legacy"
    assert rest.only()["host"] == "gateway.test"


def test_ipv6(start, configuration, rest):
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("there is no IPv6 here")
    gateway = start(configuration(listeners=[{"address": "127.0.0.1:0"}, {"address": "[::1]:0"}]))
    import re

    wait_until(lambda: "[::1]:" in gateway.log())
    port = re.search(r"\[::1\]:(\d+)", gateway.log())[1]
    result = subprocess.run(
        ["curl", "-sS", "-g", "-m", "20", f"http://[::1]:{port}/v1/books/b1"], capture_output=True, text=True, check=True)
    assert '"b1"' in result.stdout
    assert rest.only()["host"] == f"[::1]:{port}"


def test_stalled_bodies_end(start, configuration, scripted):
    """Nothing moves in either direction for longer than stream_idle."""
    def script(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        return read_all(connection)

    server = scripted(script)
    gateway = start(towards(configuration, server.url, timeouts={"stream_idle": "500ms"}))
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/stall"))
        answer = wire.head()
        assert answer.status == 200
        assert wire.exactly(4) == b"half"
        assert wire.is_closed()
    assert server.ended.acquire(timeout=30), "the upstream was left waiting"


def test_a_deadline_while_the_body_is_awaited(gateway_on_rest, rest):
    with gateway_on_rest.connect() as wire:
        wire.send(request_bytes(
            "POST", f"/{SERVICE}/GetBook", [*JSON, ("Connect-Timeout-Ms", "300"), ("Content-Length", "12")]) + b"{")
        answer = wire.answer()
        assert (answer.status, answer.json()["code"]) == (504, "deadline_exceeded")
        assert answer.closes and wire.is_closed()
    assert not rest.requests


def test_a_connections_age(start, configuration, rest):
    gateway = start(configuration(timeouts={"connection_age": "300ms"}))
    with gateway.connect() as wire:
        assert not wire.request("GET", "/v1/books/b1").closes
        time.sleep(0.4)
        answer = wire.request("GET", "/v1/books/b2")
        assert answer.json() == book("b2") and answer.closes
        assert wire.is_closed()
