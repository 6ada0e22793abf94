"""Starts the gateway's binary on a configuration, and ends it."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from .wire import Wire, fetch

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("TURNOUT_BIN") or ROOT / ".build/debug/turnout").resolve()
PATIENCE = 60


def wait_until(condition, seconds=30, what="the condition"):
    """Polls; for what happens soon but at no known moment."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come about within {seconds} s")


def settled(value, quiet=0.5, seconds=30, what="the value"):
    """Polls until a value has been the same for so long, and returns it; for what has to come to a stop."""
    end = time.monotonic() + seconds
    last, since = value(), time.monotonic()
    while time.monotonic() < end:
        if time.monotonic() - since >= quiet:
            return last
        time.sleep(0.02)
        if (now := value()) != last:
            last, since = now, time.monotonic()
    raise AssertionError(f"{what} did not come to a stop within {seconds} s: {last}")


def run(*arguments, environment=None, **more):
    """One command of the program to its end. How wide the terminal of whoever runs the tests is does not matter."""
    return subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE,
        env={**os.environ, "COLUMNS": "", **(environment or {})}, **more)


class Gateway:
    """`turnout serve` as a process; its configuration is a mapping or text, its output goes to files in the folder."""

    def __init__(self, folder, configuration, environment=None, descriptors=None, admin_tls=None):
        """`admin_tls` is how the admin endpoint is spoken to when it wants TLS."""
        self.folder, self.admin_tls = Path(folder), admin_tls
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "turnout.yaml"
        self.write(configuration)
        self.stdout, self.stderr = self.folder / "stdout", self.folder / "stderr"
        limit = ["prlimit", f"--nofile={descriptors}"] if descriptors else []
        with open(self.stdout, "wb") as out, open(self.stderr, "wb") as err:
            self.process = subprocess.Popen(
                [*limit, BINARY, "serve", "--config", self.file], stdout=out, stderr=err, cwd=self.folder,
                env={**os.environ, **(environment or {})})
        wait_until(self._has_started, what="the start of the gateway")
        self.addresses = self._bound("listening on")
        self.address = self.addresses[0]
        admin = self._bound("admin endpoint on")
        self.admin_address = admin[0] if admin else None
        if self.admin_address:
            self.admin_url = "%s://%s:%d" % ("https" if admin_tls else "http", *self.admin_address)
            wait_until(
                lambda: fetch(self.admin_address, "GET", "/readyz", tls=admin_tls).status == 200, what="readiness")
        self.url = "http://%s:%d" % self.address

    def write(self, configuration):
        """Writes the file anew, as an editor does: a new file is moved over the old one."""
        text = configuration if isinstance(configuration, str) else json.dumps(configuration, indent=2)
        new = self.file.with_suffix(".new")
        new.write_text(text)
        new.replace(self.file)

    def _has_started(self):
        assert self.process.poll() is None, f"the gateway ended: {self.log()}"
        return "listening on" in self.log() and ("admin endpoint on" in self.log() or self._has_no_admin())

    def _has_no_admin(self):
        return '"admin"' not in self.file.read_text() and "admin:" not in self.file.read_text()

    def _bound(self, what):
        return [(host, int(port)) for host, port in re.findall(what + r" ([\d.]+):(\d+)", self.log())]

    def log(self):
        return self.stderr.read_text(errors="replace")

    def access_log(self, count=1):
        """The lines of the access log on standard output, when there are so many."""
        def lines():
            found = self.stdout.read_text().splitlines()
            return found if len(found) >= count else None
        return wait_until(lines, what=f"{count} lines in the access log")

    def connect(self, **more):
        return Wire(self.address, **more)

    def fetch(self, method, target, fields=(), body=b"", **more):
        return fetch(self.address, method, target, fields, body, **more)

    def admin(self, method, path, value=None, fields=()):
        fields = [("Host", "%s:%d" % self.admin_address), *fields]
        if value is None and method in ("GET", "HEAD"):
            return fetch(self.admin_address, method, path, fields, tls=self.admin_tls)
        body = value if isinstance(value, bytes) else json.dumps(value if value is not None else {}).encode()
        if not any(name.lower() == "content-type" for name, _ in fields):
            fields.append(("Content-Type", "application/json"))
        return fetch(self.admin_address, method, path, fields, body, tls=self.admin_tls)

    def set_stage(self, procedure, stage):
        answer = self.admin("PUT", f"/routes/{procedure}/stage", {"stage": stage})
        assert answer.status == 200, answer
        return answer

    def metrics(self):
        """The samples by name and labels."""
        text = self.admin("GET", "/metrics").body.decode()
        samples = {}
        for line in text.splitlines():
            if found := re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line):
                samples[found[1], tuple(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found[2] or ""))] = float(found[3])
        return samples

    def metric(self, name, **labels):
        """The sum of a metric's samples that have these labels."""
        return sum(
            value for (found, pairs), value in self.metrics().items()
            if found == name and labels.items() <= dict(pairs).items())

    def signal(self, number):
        self.process.send_signal(number)

    def descriptors(self):
        """How many file descriptors the process has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_bytes(self):
        """How much memory the process takes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) << 10

    def stop(self):
        """SIGTERM; the exit code, which must be 0."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the gateway did not end")

    def discard(self):
        """Ends it however it can; for the end of a test, where connections may still be open."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait(PATIENCE)
