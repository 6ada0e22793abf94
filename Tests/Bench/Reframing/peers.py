"""What stands around the proxies, and the proxies themselves: each a process on a port of its own."""

import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Interop"))

from support.counting import Counts  # noqa: E402

PROTO = Path(__file__).resolve().parents[2] / "Interop" / "proto"
PROCEDURE = "/echo.v1.Echo/Say"
TYPES = {"grpc": "application/grpc", "connect": "application/proto"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def message(size):
    """A Line whose text makes it about so many bytes."""
    text = b"a" * max(1, size - 3)
    head = b"\x0a"
    length = len(text)
    while length >= 0x80:
        head += bytes([length & 0x7F | 0x80])
        length >>= 7
    return head + bytes([length]) + text


def body(protocol, data):
    return struct.pack(">BI", 0, len(data)) + data if protocol == "grpc" else data


def wait_for(port, process, what):
    for _ in range(400):
        assert process.poll() is None, f"{what} ended with {process.returncode}"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"{what} does not listen")


def load(port, client, folder, requests, clients):
    """Requests of a client; all must succeed."""
    command = [
        "h2load", "-n", str(requests), "-c", str(clients), "-m", "4", "-d", folder / f"{client}.body",
        "-H", f"content-type: {TYPES[client]}", "-H", ":method: POST"]
    if client == "grpc":
        command += ["-H", "te: trailers"]
    run = subprocess.run(
        [*map(str, command), f"http://127.0.0.1:{port}{PROCEDURE}"], capture_output=True, text=True, check=True)
    assert f"{requests} succeeded, 0 failed" in run.stdout, run.stdout
    assert f"{requests} 2xx" in run.stdout, run.stdout


class Backends:
    """nginx as a Connect service over HTTP/1.1 and as a gRPC service, both with the same message for every request."""

    def __init__(self, folder, size):
        folder.mkdir(exist_ok=True)
        self.folder = folder
        data = message(size)
        # The workers of nginx are another user's.
        folder.chmod(0o755)
        for protocol in TYPES:
            (folder / f"{protocol}.body").write_bytes(body(protocol, data))
        self.ports = {"connect": free_port(), "grpc": free_port()}
        file = folder / "nginx.conf"
        file.write_text(f"""
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 100000000; root {folder}; open_file_cache max=100;
  client_body_temp_path {folder}/temp; proxy_temp_path {folder}/temp; fastcgi_temp_path {folder}/temp;
  uwsgi_temp_path {folder}/temp; scgi_temp_path {folder}/temp;
  server {{
    listen 127.0.0.1:{self.ports["connect"]};
    location / {{ error_page 405 =200 /connect.body; return 405; }}
    location = /connect.body {{ types {{ }} default_type application/proto; }}
  }}
  server {{
    listen 127.0.0.1:{self.ports["grpc"]} http2;
    location / {{ error_page 405 =200 /grpc.body; return 405; }}
    location = /grpc.body {{ types {{ }} default_type application/grpc; add_trailer grpc-status 0 always; }}
  }}
}}
""")
        self.process = subprocess.Popen(["nginx", "-c", file], stderr=subprocess.DEVNULL)
        for port in self.ports.values():
            wait_for(port, self.process, "nginx")

    def url(self, protocol):
        return f"http://127.0.0.1:{self.ports[protocol]}"

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Proxy:
    # How often the first request may be made again.
    retries = 0

    def __init__(self, command, folder, environment=None):
        log = open(folder / f"{type(self).__name__}.log", "wb")
        self.process = subprocess.Popen(
            [str(part) for part in command], stdout=log, stderr=log, cwd=folder, env={**os.environ, **(environment or {})})
        wait_for(self.port, self.process, type(self).__name__)

    def processor_time(self):
        """Seconds of all threads, user and system."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Resident bytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def check(self, client, folder):
        """One request by curl: the answer is the backend's message in the client's protocol."""
        command = [
            "curl", "-sS", "--retry", str(self.retries), "--retry-all-errors", "--http2-prior-knowledge", "-i",
            "--data-binary", f"@{folder / (client + '.body')}",
            "-H", f"content-type: {TYPES[client]}", "-H", "te: trailers", f"http://127.0.0.1:{self.port}{PROCEDURE}"]
        answer = subprocess.run(command, capture_output=True, check=True).stdout
        wanted = (folder / f"{client}.body").read_bytes()
        assert wanted in answer, answer
        # curl shows no trailers behind a body whose length is known.
        assert client != "grpc" or b"grpc-status: 0" in answer or b"content-length: " in answer, answer

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Turnout(Proxy):
    def __init__(self, binary, folder, backend, url, http=None, counted=False):
        """`counted`: whether `counts` tells what it allocates."""
        folder.mkdir(exist_ok=True)
        self.port, self.binary = free_port(), Path(binary).resolve()
        self.counts = Counts(folder) if counted else None
        version = {"http": {"1": "1.1", "2": "2"}[http]} if http else {}
        (folder / "turnout.json").write_text(json.dumps({
            "listeners": [{"address": f"127.0.0.1:{self.port}"}], "workers": 1,
            "schema": [{"protos": ["echo/v1/echo.proto"], "import_paths": [str(PROTO)]}],
            "upstreams": {"backend": {"protocol": backend, "endpoints": [url], **version}},
            "services": {"echo.v1.Echo": {"rpc": "backend", "stage": "rpc"}},
        }))
        super().__init__(
            [self.binary, "serve", "--config", folder / "turnout.json"], folder, self.counts and self.counts.environment)


class Envoy(Proxy):
    """One worker; the bridge of the scenario is the only filter before the router."""

    BRIDGES = {
        "connect_bridge": (
            "envoy.filters.http.connect_grpc_bridge",
            "envoy.extensions.filters.http.connect_grpc_bridge.v3.FilterConfig", {}, "grpc"),
        "reverse_bridge": (
            "envoy.filters.http.grpc_http1_reverse_bridge",
            "envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3.FilterConfig",
            {"content_type": "application/proto", "withhold_grpc_frames": True}, "connect"),
    }

    # It resets one in ten of the requests that come as soon as it listens.
    retries = 3

    def __init__(self, binary, folder, bridge, backends):
        folder.mkdir(exist_ok=True)
        self.port = free_port()
        name, type, settings, backend = self.BRIDGES[bridge]
        options = {"http2_protocol_options": {}} if backend == "grpc" else {"http_protocol_options": {}}
        (folder / "envoy.json").write_text(json.dumps(self.configuration(
            [(name, type, settings), (
                "envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router", {})],
            options, backends.ports[backend])))
        super().__init__(
            [binary, "-c", folder / "envoy.json", "--concurrency", "1", "--use-dynamic-base-id", "-l", "error"], folder)

    def configuration(self, filters, options, port):
        def typed(type, settings):
            return {"@type": f"type.googleapis.com/{type}", **settings}

        def address(port):
            return {"socket_address": {"address": "127.0.0.1", "port_value": port}}

        manager = typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {
            "stat_prefix": "bench", "codec_type": "AUTO",
            "http_filters": [{"name": name, "typed_config": typed(type, more)} for name, type, more in filters],
            "route_config": {"virtual_hosts": [{
                "name": "all", "domains": ["*"],
                "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "backend"}}]}]}})
        protocol = typed("envoy.extensions.upstreams.http.v3.HttpProtocolOptions", {"explicit_http_config": options})
        return {"static_resources": {
            "listeners": [{"address": address(self.port), "filter_chains": [{"filters": [
                {"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}]}],
            "clusters": [{
                "name": "backend", "connect_timeout": "5s", "type": "STATIC",
                "typed_extension_protocol_options": {
                    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": protocol},
                "load_assignment": {"cluster_name": "backend", "endpoints": [{"lb_endpoints": [
                    {"endpoint": {"address": address(port)}}]}]}}]}}
