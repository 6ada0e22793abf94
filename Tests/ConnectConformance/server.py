#!/usr/bin/env python3
"""The server under test: the suite's own server behind the gateway.

The suite says which protocol its client speaks; CONFORMANCE_UPSTREAM says which one the server behind the gateway is
asked in (connect, grpc or grpc-web), CONFORMANCE_CODEC in which codec.
"""

import os
import signal
import subprocess
import sys

import wire
from gateway import NUMBERS, PROGRAMS, Gateway, upstream

UPSTREAM = os.environ.get("CONFORMANCE_UPSTREAM", "connect")
CODEC = os.environ.get("CONFORMANCE_CODEC", "proto")


def main():
    request = {number: value for number, value, _ in wire.fields(wire.read(sys.stdin.buffer))}
    server = subprocess.Popen(
        [PROGRAMS / "referenceserver"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    # HTTP/2, whatever the client speaks, and over TLS if the client's side is; the limit of messages is the server's.
    secure = wire.field(4, 1) + wire.field(7, request[7]) if request.get(4) else b""
    wire.write(
        server.stdin,
        wire.field(1, NUMBERS[UPSTREAM]) + wire.field(2, 2) + wire.field(6, request.get(6, 0)) + secure)
    server.stdin.close()
    answer = {number: value for number, value, _ in wire.fields(wire.read(server.stdout))}
    tls = None
    if request.get(4):
        tls = {number: value for number, value, _ in wire.fields(request[7])}
        tls = {"certificate": tls[1], "key": tls[2]}
        if request.get(5):
            tls["client_ca"] = request[5]
    gateway = Gateway(
        upstream("2", answer[2], answer.get(3)) | {"protocol": UPSTREAM, "codec": CODEC}, tls,
        {"ca": answer[3]} if answer.get(3) else None)

    def stop(*_):
        gateway.stop()
        server.kill()
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    wire.write(
        sys.stdout.buffer,
        wire.field(1, b"127.0.0.1") + wire.field(2, gateway.port) + wire.field(3, tls["certificate"] if tls else b""))
    server.wait()
    stop()


if __name__ == "__main__":
    main()
