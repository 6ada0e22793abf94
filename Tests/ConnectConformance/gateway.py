"""The gateway between the suite's client and the suite's server."""

import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("TURNOUT_BIN") or ROOT / ".build/debug/turnout").resolve()
# The folder with the suite's programs, and a checkout of its sources for the schema.
PROGRAMS = Path(os.environ.get("CONNECT_CONFORMANCE_BIN", "/usr/local/bin"))
SOURCES = Path(os.environ.get("CONNECT_CONFORMANCE_SOURCES", "."))
SERVICE = "connectrpc.conformance.v1.ConformanceService"

# Numbers of the suite's enum Protocol.
PROTOCOLS = {1: "connect", 2: "grpc", 3: "grpc-web"}
NUMBERS = {name: number for number, name in PROTOCOLS.items()}


def upstream(version, port, is_secure):
    """What the suite's server at a port of this machine is for a configuration."""
    return {"http": version, "endpoints": [f"http{'s' if is_secure else ''}://127.0.0.1:{port}"]}


class Gateway:
    """`turnout serve` before one upstream; its files live as long as this process.

    `tls` and `upstream_tls` are the contents of the files that sections of these names take.
    """

    def __init__(self, upstream, tls=None, upstream_tls=None):
        self.folder = tempfile.TemporaryDirectory(prefix="turnout-conformance-")
        folder = Path(self.folder.name)
        listener = {"address": "127.0.0.1:0"}
        for section, prefix, files in ((listener, "", tls), (upstream, "upstream-", upstream_tls)):
            if files:
                for name, content in files.items():
                    (folder / f"{prefix}{name}.pem").write_bytes(content)
                section["tls"] = {name: f"{prefix}{name}.pem" for name in files}
        configuration = {
            "listeners": [listener],
            "workers": 1,
            "schema": [{
                "protos": [str(SOURCES / "proto/connectrpc/conformance/v1/service.proto")],
                "import_paths": [str(SOURCES / "proto")],
            }],
            "upstreams": {"suite": upstream},
            # Without a timeout of its own: the suite looks at what deadlines the server sees.
            "services": {SERVICE: {"rpc": "suite", "stage": "rpc", "timeout": "0s"}},
        }
        file = folder / "turnout.yaml"
        file.write_text(json.dumps(configuration))
        self.errors = folder / "stderr"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [BINARY, "serve", "--config", file], stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        end = time.monotonic() + 60
        while not (found := re.search(r"listening on [\d.]+:(\d+)", self.errors.read_text(errors="replace"))):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"the gateway did not start: {self.errors.read_text(errors='replace')}")
            time.sleep(0.02)
        self.port = int(found[1])

    def stop(self):
        self.process.kill()
        self.process.wait()
        if log := os.environ.get("CONFORMANCE_LOG"):
            with open(log, "a") as target:
                target.write(self.errors.read_text(errors="replace"))
        self.folder.cleanup()
