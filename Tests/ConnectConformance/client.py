#!/usr/bin/env python3
"""The client under test: the suite's own client, its calls led through the gateway to the suite's server.

The server is asked in the protocol that the test case names; the client speaks the same, or the one that
CONFORMANCE_CLIENT names.
"""

import os
import subprocess
import sys

import wire
from gateway import NUMBERS, PROGRAMS, PROTOCOLS, Gateway

CLIENT = os.environ.get("CONFORMANCE_CLIENT")
CODECS = {1: "proto", 2: "json"}
# Fields of ClientCompatRequest.
VERSION, PROTOCOL, CODEC, HOST, PORT = 2, 3, 4, 6, 7


def main():
    client = subprocess.Popen([PROGRAMS / "referenceclient", *sys.argv[1:]], stdin=subprocess.PIPE)
    gateways = {}
    while (message := wire.read(sys.stdin.buffer)) is not None:
        request = {}
        rest = b""
        for number, value, raw in wire.fields(message):
            if number in (VERSION, PROTOCOL, CODEC, HOST, PORT):
                request[number] = value
            if number not in (PROTOCOL, HOST, PORT):
                rest += raw
        protocol = PROTOCOLS[request[PROTOCOL]]
        key = (protocol, request[VERSION], request[CODEC], request[HOST], request[PORT])
        if key not in gateways:
            gateways[key] = Gateway({
                "protocol": protocol, "codec": CODECS[request[CODEC]],
                "http": "1.1" if request[VERSION] == 1 else "2",
                "endpoints": [f"http://{request[HOST].decode()}:{request[PORT]}"],
            })
        spoken = NUMBERS[CLIENT] if CLIENT else request[PROTOCOL]
        wire.write(
            client.stdin,
            rest + wire.field(PROTOCOL, spoken) + wire.field(HOST, b"127.0.0.1")
            + wire.field(PORT, gateways[key].port))
    client.stdin.close()
    code = client.wait()
    for gateway in gateways.values():
        gateway.stop()
    sys.exit(code)


if __name__ == "__main__":
    main()
