"""WebSocket tunnels through a pass-through route; other upgrades are ignored."""

import contextlib
import os
import threading

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.server import serve

from support.gateway import wait_until
from support.rest_service import Reply


@pytest.fixture
def echo():
    """An echo service; it also says with which path and fields it was asked."""
    seen = []

    def handle(socket):
        seen.append(socket.request)
        for message in socket:
            if message == "bye":
                socket.close(4001, "as asked")
                return
            socket.send(message)

    with serve(handle, "127.0.0.1", 0, max_size=None, subprotocols=["chat"]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield "http://127.0.0.1:%d" % server.socket.getsockname()[1], seen
        server.shutdown()


@pytest.fixture
def gateway(start, configuration, echo):
    setup = configuration(fallback="echo")
    setup["upstreams"]["echo"] = {"protocol": "rest", "endpoints": [echo[0]]}
    return start(setup)


def open_socket(gateway, **more):
    return connect("ws://%s:%d/socket?room=1" % gateway.address, max_size=None, subprotocols=["chat"], **more)


def test_messages_both_ways(gateway, echo):
    with open_socket(gateway, additional_headers={"X-User": "u1"}) as socket:
        assert socket.subprotocol == "chat"
        for message in ["", "a", "ü" * 1000, b"", os.urandom(125), os.urandom(70_000), os.urandom(8 << 20)]:
            socket.send(message)
            assert socket.recv(30) == message
        assert socket.ping().wait(30)
    request = echo[1][0]
    assert (request.path, request.headers["x-user"]) == ("/socket?room=1", "u1")
    assert request.headers["host"] == "%s:%d" % gateway.address


def test_the_service_closes(gateway):
    with open_socket(gateway) as socket:
        socket.send("bye")
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(30)
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4001, "as asked")


def test_bytes_that_come_too_early_stay_in_order(start, configuration):
    """The client's first bytes come with its request, the service's with the 101; ends pass as well."""
    from support.scripted import Scripted, read_all, read_head
    from support.wire import Wire, request_bytes

    def script(connection):
        _, rest = read_head(connection)
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nfrom the service")
        return rest + read_all(connection)

    server = Scripted(script)
    setup = configuration(fallback="echo")
    setup["upstreams"]["echo"] = {"protocol": "rest", "endpoints": [server.url]}
    gateway = start(setup)
    with Wire(gateway.address) as wire:
        wire.send(request_bytes("GET", "/socket", [("Connection", "Upgrade"), ("Upgrade", "websocket")]) + b"early ")
        assert wire.head().status == 101
        assert wire.exactly(16) == b"from the service"
        wire.send(b"late")
    assert server.ended.acquire(timeout=30)
    assert server.received == [b"early late"]
    server.close()


def test_many_at_once_and_nothing_is_left(gateway):
    before = gateway.descriptors()
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(open_socket(gateway)) for _ in range(30)]
        for number, socket in enumerate(sockets):
            socket.send(f"n{number}")
        for number, socket in enumerate(sockets):
            assert socket.recv(30) == f"n{number}"
    wait_until(lambda: gateway.descriptors() <= before + 2, what="closed descriptors")


def test_a_tunnel_outlives_a_reload(gateway, configuration):
    with open_socket(gateway) as socket:
        gateway.write(configuration())
        assert gateway.admin("POST", "/reload").status == 200
        socket.send("still here")
        assert socket.recv(30) == "still here"


def test_an_upgrade_that_the_service_refuses(start, configuration, rest):
    gateway = start(configuration(fallback="legacy"))
    rest.answers(Reply(403, [("Content-Type", "text/plain")], b"no sockets"))
    with pytest.raises(InvalidStatus) as refused:
        open_socket(gateway)
    assert (refused.value.response.status_code, refused.value.response.body) == (403, b"no sockets")
    request = rest.only()
    assert request["upgrade"].lower() == "websocket" and "upgrade" in request["connection"].lower()
    assert request["sec-websocket-key"]


@pytest.mark.parametrize("target", ["/healthy", "/v1/books/b1"])
@pytest.mark.parametrize("protocol", ["h2c", "TLS/1.0", "websocket, h2c"])
def test_other_upgrades_are_ignored(gateway_on_rest, rest, target, protocol):
    fields = [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", protocol), ("HTTP2-Settings", "AAMAAABkAAQAoAAAAAIAAAAA")]
    if "websocket" in protocol:
        fields = [("Connection", "Upgrade"), ("Upgrade", "h2c")]
    answer = gateway_on_rest.fetch("GET", target, fields)
    assert answer.status == 200
    names = {name.lower() for name, _ in rest.only().fields}
    assert not names & {"upgrade", "http2-settings"}
    assert "upgrade" not in (rest.only()["connection"] or "").lower()


def test_a_connect_route_is_never_a_tunnel(gateway_on_rpc, rpc):
    fields = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
              ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")]
    answer = gateway_on_rpc.fetch("GET", "/v1/books/b1", fields)
    assert answer.status == 200 and answer.json()["id"] == "b1"


def test_an_unasked_101_is_the_upstreams_fault(gateway_on_rest, rest):
    rest.answers(Reply(raw=b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"))
    answer = gateway_on_rest.fetch("GET", "/healthy")
    assert answer.status == 502
