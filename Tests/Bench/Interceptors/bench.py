"""The CPU time that each interceptor adds to a small call that passes through, as a ratio to the same call without.

    python Tests/Bench/Interceptors/bench.py .build/release/turnout [--rounds 5] [--seconds 3] [--only jwt,rate_limit]

It needs wrk, nginx, PyJWT and cryptography; and redis-server for the limit that replicas share.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Interop"))
from support.tokens import AUDIENCE, ISSUER, Key, key_set  # noqa: E402

BODY = json.dumps({"id": "b1", "title": "a book whose title is as long as that of a real one", "pages": 320})
ENDLESS = {"requests": 1_000_000_000, "per": "1s"}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def variants(folder):
    """The interceptors of each gateway, by name; `plain` twice, to show what the noise is."""
    keys = {}
    for algorithm in ("RS256", "ES256"):
        keys[algorithm] = Key(algorithm, algorithm)
    (folder / "keys.json").write_text(json.dumps(key_set(*keys.values())))
    jwt = {"issuer": ISSUER, "audiences": [AUDIENCE], "jwks": {"file": str(folder / "keys.json")}}
    found = {
        "plain": [],
        "access_log": [{"access_log": {"format": "json", "path": str(folder / "access.log")}}],
        "request_id": [{"request_id": {}}],
        "headers": [{"headers": {"request": {"set": {"x-a": "1"}, "remove": ["x-b"]}}}],
        "api_key": [{"api_key": {"keys": [f"key-{number}" for number in range(100)]}}],
        "jwt": [{"jwt": jwt}],
        "jwt_forward": [{"jwt": jwt | {"forward": {"sub": "x-user-id"}}}],
        "rate_limit": [{"rate_limit": ENDLESS | {"key": "header:x-user"}}],
        "plain_again": [],
    }
    if shutil.which("redis-server"):
        found["rate_limit_redis"] = [{"rate_limit": ENDLESS | {"key": "header:x-user", "store": "redis"}}]
    fields = {"Authorization": f"Bearer {keys['RS256'].token()}", "X-Api-Key": "key-50", "X-User": "anna"}
    return found, fields


def cpu(pid):
    """Seconds that a process has taken."""
    words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = Path(tempfile.mkdtemp(prefix="turnout-bench-"))
        self.processes = []

    def run(self, *command):
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.processes.append(process)
        return process

    def backend(self):
        port = free_port()
        (self.folder / "nginx.conf").write_text(
            f"worker_processes 1; pid {self.folder}/nginx.pid; error_log {self.folder}/nginx.log; daemon off;\n"
            "events {} http { access_log off; keepalive_requests 100000000;\n"
            f"server {{ listen 127.0.0.1:{port}; "
            f"location / {{ default_type application/json; return 200 '{BODY}'; }} }} }}\n")
        self.run("nginx", "-e", self.folder / "nginx.log", "-c", self.folder / "nginx.conf")
        return f"http://127.0.0.1:{port}"

    def gateway(self, name, interceptors, backend, redis):
        port = free_port()
        configuration = {
            "listeners": [{"address": f"127.0.0.1:{port}"}], "workers": 1, "interceptors": interceptors,
            "upstreams": {"backend": {"protocol": "rest", "endpoints": [backend]}}, "fallback": "backend"}
        if name.endswith("_redis"):
            configuration["redis"] = {"shared": {"address": f"127.0.0.1:{redis}"}}
        file = self.folder / f"{name}.yaml"
        file.write_text(json.dumps(configuration))
        process = self.run(self.arguments.binary, "serve", "--config", file)
        return process, f"http://127.0.0.1:{port}/v1/books/b1"

    def load(self, url, fields, seconds):
        """Answers of some seconds of load."""
        headers = [part for name, value in fields.items() for part in ("-H", f"{name}: {value}")]
        output = subprocess.run(
            ["wrk", "-t1", "-c32", f"-d{seconds}s", *headers, url], capture_output=True, text=True, check=True).stdout
        assert "Non-2xx" not in output and "Socket errors" not in output, output
        return int(next(line for line in output.splitlines() if "requests in" in line).split()[0])

    def measure(self):
        found, fields = variants(self.folder)
        only = self.arguments.only and {"plain", "plain_again", *self.arguments.only.split(",")}
        found = {name: chain for name, chain in found.items() if not only or name in only}
        backend, redis = self.backend(), free_port()
        if "rate_limit_redis" in found:
            self.run("redis-server", "--port", redis, "--save", "", "--bind", "127.0.0.1")
        gateways = {name: self.gateway(name, chain, backend, redis) for name, chain in found.items()}
        time.sleep(2)
        for name, (process, url) in gateways.items():
            assert process.poll() is None, f"{name}: {process.stderr.read().decode()}"
            self.load(url, fields, 1)
        times = {name: [] for name in gateways}
        for _ in range(self.arguments.rounds):
            for name, (process, url) in gateways.items():
                before = cpu(process.pid)
                count = self.load(url, fields, self.arguments.seconds)
                times[name].append((cpu(process.pid) - before) / count * 1e6)
        plain = statistics.median(times["plain"] + times["plain_again"])
        print(f"{'interceptor':18}{'us/request':>12}{'ratio':>8}   rounds")
        for name, values in times.items():
            middle = statistics.median(values)
            print(f"{name:18}{middle:12.2f}{middle / plain:8.3f}   {' '.join(f'{value:.2f}' for value in values)}")

    def end(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(30)
        shutil.rmtree(self.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", help="names with commas between them")
    bench = Bench(parser.parse_args())
    try:
        bench.measure()
    finally:
        bench.end()


if __name__ == "__main__":
    main()
