"""The services of deploy/compose.yaml as processes of this machine, in namespaces of their own.

Run as a program below `unshare` with namespaces for mounts, the network and processes: it sees the files where the
containers would have them, finds the services by their names, has all ports to itself, and all that it starts ends with it.
It prints what it found as JSON.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
EPISODE = "http://127.0.0.1:8080/v1/episodes/e2"
PROCEDURE = "pivot.content.v1.ContentService/GetEpisode"


def mount(source, target):
    """As the container has it: a file or a folder, read from the checkout."""
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    subprocess.run(["mount", "--bind", source, target], check=True)


def own_etc(folder, services):
    """A folder for /etc that can be written, in which each service is this machine."""
    etc = folder / "etc"
    etc.mkdir()
    for name in ("passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ssl", "localtime", "alternatives"):
        source = Path("/etc") / name
        if source.is_dir():
            shutil.copytree(source, etc / name, symlinks=True, ignore=shutil.ignore_patterns("private"))
        elif source.exists():
            shutil.copy(source, etc / name)
    (etc / "hosts").write_text("127.0.0.1 localhost " + " ".join(services) + "\n")
    (etc / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    subprocess.run(["mount", "--bind", etc, "/etc"], check=True)


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.headers, answer.read()


def until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if found := condition():
                return found
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"{what} did not come about within {seconds} s")


def main(binary, folder):
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    own_etc(folder, services)
    for name in ("gateway", "prometheus"):
        for volume in services[name]["volumes"]:
            source, target, *_ = volume.split(":")
            mount((DEPLOY / source).resolve(), Path(target))

    def start(name, *command):
        log = open(folder / f"{name}.log", "wb")
        # Their working folder is the image's, not the checkout.
        return subprocess.Popen(command, stdout=log, stderr=log, cwd="/")

    def healthy(name):
        test = services[name]["healthcheck"]["test"]
        return subprocess.run(test[1:], capture_output=True, timeout=20).returncode == 0

    assert not healthy("gateway"), "a check that is good before anything runs"
    found = {}
    processes = {"redis": start("redis", *services["redis"]["command"])}
    until(lambda: healthy("redis"), "Redis")
    processes["gateway"] = start("gateway", binary, "serve", "--config", "/etc/turnout/turnout.yaml")
    until(lambda: healthy("gateway"), "the gateway")
    processes["demo"] = start("demo", binary, *services["demo"]["command"])
    processes["prometheus"] = start(
        "prometheus", "prometheus", "--config.file=/etc/prometheus/prometheus.yml",
        f"--storage.tsdb.path={folder / 'tsdb'}")

    found["before"] = until(lambda: get(EPISODE)[0]["x-demo-backend"], "an episode")
    moved = subprocess.run([binary, "stage", PROCEDURE, "rpc"], capture_output=True, text=True, timeout=20)
    found["moved"] = moved.stdout + moved.stderr
    found["after"] = get(EPISODE)[0]["x-demo-backend"]
    found["redis"] = until(
        lambda: subprocess.run(["redis-cli", "--scan"], capture_output=True, text=True).stdout.split(), "keys in Redis")

    def asked(path):
        return json.loads(get(f"http://127.0.0.1:9090/api/v1/{path}")[1])["data"]

    found["targets"] = until(
        lambda: [one["health"] for one in asked("targets")["activeTargets"] if one["health"] == "up"], "a scrape")
    found["rules"] = until(
        lambda: (rules := [rule for group in asked("rules")["groups"] for rule in group["rules"]])
        and all(rule["health"] == "ok" for rule in rules)
        and [rule["name"] for rule in rules], "the evaluation of the rules")
    found["requests"] = until(
        lambda: asked("query?query=turnout_requests_total")["result"], "a sample of the requests")

    processes["gateway"].send_signal(signal.SIGTERM)
    grace = int(services["gateway"]["stop_grace_period"].removesuffix("s"))
    found["gateway"] = processes["gateway"].wait(grace)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), Path(sys.argv[2]))
