#!/usr/bin/env python3
"""Processor time per request of re-framing: the gateway between gRPC and Connect, beside Envoy's bridges.

    reframe.py --turnout .build/release/turnout [--envoy envoy] [--rounds 7] [--requests 20000] [--bytes 200]

See ../README.md. Needs nginx (both backends) and h2load (both clients).
"""

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from peers import Backends, Envoy, Turnout, load

SCENARIOS = {
    # Name: what the client speaks, what the backend speaks, Envoy's filter for it.
    "grpc-to-connect": ("grpc", "connect", "reverse_bridge"),
    "connect-to-grpc": ("connect", "grpc", "connect_bridge"),
}


def measure(proxies, client, options, folder):
    """Microseconds of processor time per request by proxy: a value for each round, the proxies in turn."""
    times = {name: [] for name in proxies}
    for number in range(options.rounds + 1):
        for name, proxy in proxies.items():
            before = proxy.processor_time()
            load(proxy.port, client, folder, options.requests, options.clients)
            spent = proxy.processor_time() - before
            # The first round warms pools and caches.
            if number:
                times[name].append(spent / options.requests * 1e6)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turnout", required=True, help="the gateway's release binary")
    parser.add_argument("--envoy", default=shutil.which("envoy"), help="leave out for the gateway alone")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=20_000, help="in each round")
    parser.add_argument("--clients", type=int, default=16, help="connections, each with 4 requests at a time")
    parser.add_argument("--bytes", type=int, default=200, help="of each message, both ways")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        backends = Backends(folder, options.bytes)
        try:
            print(f"{'':16} {'proxy':8} {'us/request':>10}  {'spread':>13}  ratio")
            for scenario, (client, backend, bridge) in SCENARIOS.items():
                proxies = {"turnout": Turnout(options.turnout, folder / scenario, backend, backends.url(backend))}
                if options.envoy:
                    proxies["envoy"] = Envoy(options.envoy, folder / scenario, bridge, backends)
                try:
                    for proxy in proxies.values():
                        proxy.check(client, folder)
                    report(scenario, measure(proxies, client, options, folder))
                finally:
                    for proxy in proxies.values():
                        proxy.stop()
        finally:
            backends.stop()


def report(scenario, times):
    ours = statistics.median(times["turnout"])
    for name, values in times.items():
        middle = statistics.median(values)
        ratio = "" if name == "turnout" else f"{middle / ours:5.2f}"
        print(f"{scenario:16} {name:8} {middle:10.1f}  {min(values):6.1f}-{max(values):6.1f}  {ratio}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
