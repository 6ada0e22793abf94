#!/usr/bin/env python3
"""The client under test: the suite's own client, its calls led through the gateway to the suite's server.

The server is asked in the protocol that the test case names; the client speaks the same, or the one that
CONFORMANCE_CLIENT names.
"""

import os
import subprocess
import sys

import wire
from gateway import NUMBERS, PROGRAMS, PROTOCOLS, Gateway, upstream

CLIENT = os.environ.get("CONFORMANCE_CLIENT")
CODECS = {1: "proto", 2: "json"}
# Fields of ClientCompatRequest.
VERSION, PROTOCOL, CODEC, HOST, PORT, CERTIFICATE, CREDENTIALS = 2, 3, 4, 6, 7, 8, 9
# What the gateway is told in place of the client, and what tells gateways apart.
OURS = (VERSION, PROTOCOL, HOST, PORT, CERTIFICATE, CREDENTIALS)


def gateway_for(request):
    """A gateway before the server of a request."""
    tls = None
    if certificate := request.get(CERTIFICATE):
        tls = {"ca": certificate}
        if credentials := request.get(CREDENTIALS):
            shown = {number: value for number, value, _ in wire.fields(credentials)}
            tls |= {"certificate": shown[1], "key": shown[2]}
    server = upstream("1.1" if request[VERSION] == 1 else "2", request[PORT], tls)
    return Gateway(
        server | {"protocol": PROTOCOLS[request[PROTOCOL]], "codec": CODECS[request[CODEC]]}, None, tls)


def main():
    client = subprocess.Popen([PROGRAMS / "referenceclient", *sys.argv[1:]], stdin=subprocess.PIPE)
    gateways = {}
    while (message := wire.read(sys.stdin.buffer)) is not None:
        request = {}
        rest = b""
        for number, value, raw in wire.fields(message):
            if number in OURS or number == CODEC:
                request[number] = value
            if number not in OURS:
                rest += raw
        key = tuple(sorted((number, value) for number, value in request.items()))
        if key not in gateways:
            gateways[key] = gateway_for(request)
        spoken = NUMBERS[CLIENT] if CLIENT else request[PROTOCOL]
        # gRPC needs HTTP/2, whatever the server behind the gateway speaks.
        version = 2 if PROTOCOLS[spoken] == "grpc" else request[VERSION]
        wire.write(
            client.stdin,
            rest + wire.field(VERSION, version) + wire.field(PROTOCOL, spoken) + wire.field(HOST, b"127.0.0.1")
            + wire.field(PORT, gateways[key].port))
    client.stdin.close()
    code = client.wait()
    for gateway in gateways.values():
        gateway.stop()
    sys.exit(code)


if __name__ == "__main__":
    main()
