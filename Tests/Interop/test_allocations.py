"""The way of a message through an open stream allocates nothing and copies it no more often than it must.

What is counted is the difference of two runs, one of which carries twice as many messages: what a call, a connection and
the first messages take is in both. The counter stands before the C library's allocator (support/counting.c).
"""

import json
import shutil
import socket
import struct

import pytest

from support.counting import Counts
from support.gateway import Gateway
from support.lanes import Lane
from support.schema import SOURCES

TYPES = {
    "grpc": "application/grpc+proto", "connect": "application/connect+proto", "grpc-web": "application/grpc-web+proto"}

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="the counter needs a C compiler")


def message(size):
    """An envelope of so many bytes behind its head; what is in it is nobody's business on the way."""
    return struct.pack(">BI", 0, size) + b"\x12" * size


@pytest.fixture(scope="module")
def listener():
    with socket.create_server(("127.0.0.1", 0)) as opened:
        yield opened


@pytest.fixture(scope="module")
def counted(tmp_path_factory, listener):
    """Gateways by the upstream's protocol and version of HTTP, each with its counts."""
    made = {}

    def make(backend, http):
        if (backend, http) not in made:
            folder = tmp_path_factory.mktemp(f"{backend}{http}")
            counts = Counts(folder)
            configuration = {
                "listeners": [{"address": "127.0.0.1:0"}], "workers": 1,
                "schema": [{"protos": ["echo/v1/echo.proto"], "import_paths": [str(SOURCES)]}],
                "upstreams": {"backend": {
                    "protocol": backend, "http": {"1": "1.1", "2": "2"}[http],
                    "endpoints": [f"http://127.0.0.1:{listener.getsockname()[1]}"]}},
                "services": {"echo.v1.Echo": {"rpc": "backend", "stage": "rpc"}},
            }
            made[backend, http] = Gateway(folder, json.dumps(configuration), environment=counts.environment), counts
        return made[backend, http]

    yield make
    for gateway, _ in made.values():
        gateway.stop()


CALLS = [
    # The client's protocol, the upstream's, the HTTP of both.
    ("connect", "grpc", "22"),
    ("grpc", "connect", "22"),
    ("grpc-web", "grpc", "22"),
    ("grpc", "grpc", "22"),
    ("connect", "grpc", "12"),
    ("grpc", "connect", "21"),
    ("connect", "connect", "11"),
]


@pytest.mark.parametrize("upwards", [True, False], ids=["up", "down"])
@pytest.mark.parametrize(("client", "backend", "kinds"), CALLS, ids=["-".join(call[:3]) for call in CALLS])
def test_a_message_allocates_nothing(counted, listener, client, backend, kinds, upwards):
    gateway, counts = counted(backend, kinds[1])
    # Both directions at the same time need HTTP/2.
    method = "Talk" if "1" not in kinds else "Tell" if upwards else "Hear"
    fields = [("content-type", TYPES[client])] + ([("te", "trailers")] if client == "grpc" else [])
    lane = Lane(listener, gateway.address, kinds, f"/echo.v1.Echo/{method}", fields, [("content-type", TYPES[backend])])

    def least(data, writes):
        """Of some runs, as below: a table that grows in one of them does not in all."""
        return min(differences(data, writes)[0] for _ in range(3))

    def differences(data, writes):
        lane.carry(data, writes, upwards)
        runs = []
        for times in (1, 2):
            before = counts.allocations, counts.copied
            lane.carry(data, writes * times, upwards)
            runs.append((counts.allocations - before[0], counts.copied - before[1]))
        (few, little), (many, much) = runs
        return (many - few) / writes, (much - little) / writes / len(data)

    try:
        # One at a time: all that happens in a turn of the loop is counted.
        assert least(message(100), 200) < 0.5
        # Many in one read.
        assert least(message(100) * 32, 50) < 0.5
        # Larger than a frame: in several reads, with a window that opens again and again.
        # Once to where it waits for the socket; a window that is closed, or a socket that is full, makes it twice.
        for at_once, most in ((1, 1.5), (8, 1.9)):
            found = [differences(message(64 << 10) * at_once, 40 // at_once) for _ in range(3)]
            assert min(allocations for allocations, _ in found) < 0.5
            assert min(copied for _, copied in found) < most
    finally:
        lane.close()
