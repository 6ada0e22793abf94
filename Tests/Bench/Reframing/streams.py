#!/usr/bin/env python3
"""Memory of open, idle streams: each has had one message and waits for the next, passing through or relayed.

    streams.py --turnout .build/release/turnout [--streams 1000]

Needs the packages of Tests/Interop/requirements.txt.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Interop"))

from peers import Turnout  # noqa: E402
from support.http2 import HTTP2Client, HTTP2Upstream  # noqa: E402

TYPES = {"passing": "application/grpc+proto", "relayed": "application/connect+proto"}
ENVELOPE = b"\0\0\0\0\3\x0a\1a"
PER_CONNECTION = 100


def begun(exchange):
    exchange.head(200, [("content-type", "application/grpc+proto")])
    exchange.data(ENVELOPE)


def settled(gateway):
    """Resident bytes when they do not change any more."""
    before = -1
    while (now := gateway.memory()) != before:
        before = now
        time.sleep(1)
    return now


def measure(binary, folder, kind, count):
    upstream = HTTP2Upstream(begun=begun)
    gateway = Turnout(binary, folder, "grpc", upstream.url)
    clients = []
    try:
        fields = [("content-type", TYPES[kind]), ("te", "trailers")]
        # The first stream makes the pools, of which the others have no part.
        with HTTP2Client(("127.0.0.1", gateway.port)) as first:
            stream = first.start("POST", "/echo.v1.Echo/Hear", fields, ENVELOPE)
            assert first.wait_for(lambda: first.answers[stream].body)
        empty = settled(gateway)
        for _ in range(0, count, PER_CONNECTION):
            client = HTTP2Client(("127.0.0.1", gateway.port))
            clients.append(client)
            streams = [client.start("POST", "/echo.v1.Echo/Hear", fields, ENVELOPE) for _ in range(PER_CONNECTION)]
            assert client.wait_for(lambda: all(client.answers[stream].body for stream in streams)), "no messages"
        full = settled(gateway)
        print(f"{kind:8} {count} streams: {(full - empty) / count / 1024:6.2f} KiB each ({empty >> 10} to {full >> 10} KiB)")
    finally:
        for client in clients:
            client.close()
        gateway.stop()
        upstream.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turnout", required=True, help="the gateway's release binary")
    parser.add_argument("--streams", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for kind in TYPES:
            measure(options.turnout, Path(name) / kind, kind, options.streams)


if __name__ == "__main__":
    main()
