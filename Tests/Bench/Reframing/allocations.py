#!/usr/bin/env python3
"""What a message of an open stream, and a request, makes the gateway allocate and copy once all is warm.

    allocations.py --turnout .build/release/turnout [--only NAME] [--stacks]

See ../README.md. Needs a C compiler, nginx and h2load, and the packages of Tests/Interop/requirements.txt.
"""

import argparse
import socket
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Interop"))

from peers import Backends, Turnout, load  # noqa: E402
from support.counting import Counts  # noqa: E402
from support.lanes import Lane  # noqa: E402

TYPES = {
    "grpc": "application/grpc+proto", "connect": "application/connect+proto", "grpc-web": "application/grpc-web+proto"}
# Client and its HTTP, backend and its HTTP.
STREAMS = {
    "connect-to-grpc": ("connect", "grpc", "22"),
    "grpc-to-connect": ("grpc", "connect", "22"),
    "grpc-web-to-grpc": ("grpc-web", "grpc", "22"),
    "grpc-to-grpc": ("grpc", "grpc", "22"),
    "connect-to-connect": ("connect", "connect", "22"),
    "grpc-to-connect-h1": ("grpc", "connect", "21"),
    "connect-h1-to-grpc": ("connect", "grpc", "12"),
    "grpc-web-h1-to-grpc": ("grpc-web", "grpc", "12"),
    "connect-h1-to-connect-h1": ("connect", "connect", "11"),
}
UNARY = {"grpc-to-connect": ("grpc", "connect"), "connect-to-grpc": ("connect", "grpc"), "grpc-to-grpc": ("grpc", "grpc")}
# Bytes of a message, messages of a write, writes.
SHAPES = [(100, 1, 400), (100, 32, 100), (64 << 10, 1, 100), (64 << 10, 8, 20)]


def message(size):
    """An envelope with a Line."""
    length, head = size, b""
    while length >= 0x80:
        head += bytes([length & 0x7F | 0x80])
        length >>= 7
    data = b"\x0a" + head + bytes([length]) + b"a" * size
    return struct.pack(">BI", 0, len(data)) + data


class Row:
    """Differences of two runs, the second of which carries `units` more."""

    def __init__(self, gateway, name):
        self.gateway, self.name = gateway, name

    def measure(self, run, units):
        counts = self.gateway.counts
        run(units)
        figures = []
        for times in (1, 2):
            before = counts.allocations, counts.copied
            run(units * times)
            figures.append((counts.allocations - before[0], counts.copied - before[1]))
        allocations, copied = ((second - first) / units for first, second in zip(*figures))
        return allocations, copied

    def show(self, what, bytes, figures):
        allocations, copied = figures
        print(f"{self.name:26} {what:22} {allocations:8.2f} {copied / bytes:9.2f}", flush=True)


def stream(binary, folder, name, options):
    client, backend, kinds = STREAMS[name]
    listener = socket.create_server(("127.0.0.1", 0))
    gateway = Turnout(
        binary, folder / name, backend, f"http://127.0.0.1:{listener.getsockname()[1]}", http=kinds[1], counted=True)
    try:
        for upwards in (True, False):
            # Both directions at the same time need HTTP/2.
            method = "Talk" if "1" not in kinds else "Tell" if upwards else "Hear"
            for size, at_once, writes in SHAPES:
                lane = Lane(
                    listener, ("127.0.0.1", gateway.port), kinds, f"/echo.v1.Echo/{method}",
                    [("content-type", TYPES[client]), ("te", "trailers")] if client == "grpc" else [("content-type", TYPES[client])],
                    [("content-type", TYPES[backend])])
                data = message(size) * at_once
                row = Row(gateway, name)
                if options.stacks:
                    lane.carry(data, writes, upwards)
                    gateway.counts.record(True)
                figures = row.measure(lambda writes: lane.carry(data, writes, upwards), writes)
                gateway.counts.record(False)
                row.show(
                    f"{'up' if upwards else 'down':4} {size:6} B, {at_once:2} at once", len(data),
                    (figures[0] / at_once, figures[1]))
                if options.stacks:
                    show_stacks(gateway, options)
                lane.close()
    finally:
        gateway.stop()
        listener.close()


def show_stacks(gateway, options):
    for times, stack in gateway.counts.stacks(gateway.process.pid, gateway.binary)[:options.stacks]:
        print(f"    {times:6} " + "\n           ".join(stack[:options.depth]))
    gateway.counts.forget()


def unary(binary, folder, name, options):
    client, backend = UNARY[name]
    backends = Backends(folder / f"{name}.backends", 200)
    gateway = Turnout(binary, folder / f"{name}.unary", backend, backends.url(backend), counted=True)
    try:
        run = lambda count: load(gateway.port, client, backends.folder, count, 4)  # noqa: E731
        row = Row(gateway, name)
        if options.stacks:
            run(1000)
            gateway.counts.record(True)
        figures = row.measure(run, 2000)
        gateway.counts.record(False)
        row.show("unary, 200 B", 400, figures)
        if options.stacks:
            show_stacks(gateway, options)
    finally:
        gateway.stop()
        backends.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turnout", required=True, help="the gateway's release binary")
    parser.add_argument("--only", default="", help="a part of the names that are wanted")
    parser.add_argument("--stacks", type=int, default=0, help="show where, that many places of each row")
    parser.add_argument("--depth", type=int, default=8, help="functions that are shown of each place")
    options = parser.parse_args()
    print(f"{'':26} {'':22} {'allocs':>8} {'copies':>9}")
    with tempfile.TemporaryDirectory() as name:
        # The workers of nginx are another user's.
        Path(name).chmod(0o755)
        for scenarios, measure in ((STREAMS, stream), (UNARY, unary)):
            for scenario in scenarios:
                if options.only in scenario:
                    measure(options.turnout, Path(name), scenario, options)


if __name__ == "__main__":
    main()
