"""`turnout status` and `turnout report`: the page in a terminal, and on paper."""

import json
import os
import pty
import re
import socket
import subprocess
import time

import pytest

from support.gateway import BINARY, run, wait_until
from support.schema import SERVICE

APP = [("User-Agent", "PivotApp/5.2 (iPhone)")]


@pytest.fixture
def gateway(start, configuration, rest, rpc):
    gateway = start(configuration(methods={"GetBook": {"stage": "rpc"}}, callers={"version_header": "X-App-Version"}))
    for number in range(3):
        assert gateway.fetch("GET", f"/v1/books/b{number}", APP).status == 200
    browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
    assert gateway.fetch("GET", "/v1/books/b8", [("User-Agent", browser)]).status == 200
    assert gateway.fetch("GET", "/v1/books/b9", [*APP, ("X-App-Version", "6.0-beta")]).status == 200
    return gateway


def test_the_table(gateway):
    result = run("status", "--admin", gateway.admin_url)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search(r"1 of \d+ routes moved", result.stdout)
    row = next(line for line in result.stdout.splitlines() if line.startswith(f"{SERVICE}/GetBook "))
    assert row.split()[1] == "rpc"
    assert "\x1b" not in result.stdout
    # To compare replicas by.
    assert result.stdout.splitlines()[0].endswith("config " + gateway.admin("GET", "/config").json()["hash"])


def test_json_is_what_the_endpoint_says(gateway):
    result = run("status", "--json", "--admin", gateway.admin_url)
    routes = {one["procedure"]: one for one in json.loads(result.stdout)["routes"]}
    callers = routes[f"{SERVICE}/GetBook"]["callers"]
    assert [(one["agent"], one["version"], one["requests"]) for one in callers["rest"]] == [
        ("PivotApp", "5.2", 3), ("Chrome", "131", 1), ("PivotApp", "6.0-beta", 1)]
    assert callers["calls"] == {"rest": 5, "rpc": 0}
    assert abs(time.time() - time.mktime(time.strptime(callers["rest"][0]["last_seen"][:19] + "UTC", "%Y-%m-%dT%H:%M:%S%Z"))) < 86_400


def test_callers_are_kept_apart_by_face_and_over_reloads(gateway):
    body = json.dumps({"id": "b1"}).encode()
    fields = [("Content-Type", "application/json"), ("User-Agent", "connect-kotlin/0.7")]
    assert gateway.fetch("POST", f"/{SERVICE}/GetBook", fields, body).status == 200
    assert gateway.admin("POST", "/reload").status == 200
    # Hostile names are cut and cannot be other than visible characters.
    gateway.fetch("GET", "/v1/books/b1", [("User-Agent", "<b>é" + "x" * 500 + "/" + "1" * 500)])

    def seen():
        routes = gateway.admin("GET", "/routes").json()["routes"]
        return next(one["callers"] for one in routes if one["procedure"] == f"{SERVICE}/GetBook")

    callers = wait_until(lambda: seen() if seen()["calls"]["rest"] >= 6 else None, what="the callers")
    assert [(one["agent"], one["requests"]) for one in callers["rpc"]] == [("connect-kotlin", 1)]
    assert ("PivotApp", "5.2") in [(one["agent"], one["version"]) for one in callers["rest"]]
    long = next(one for one in callers["rest"] if one["agent"].startswith("<b>"))
    assert re.fullmatch(r"[\x21-\x7e]{48}", long["agent"]) and long["version"] == "1" * 32


def test_the_report(gateway):
    gateway.set_stage(f"{SERVICE}/CountBooks", "shadow")
    result = run("report", "--admin", gateway.admin_url)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("# The move to RPC\n\n1 of ")
    assert f"| `{SERVICE}/GetBook` | rpc |" in result.stdout
    assert "| PivotApp 5.2 | 3 |" in result.stdout
    assert "- `GetBook` (rpc): 3 callers still use the REST face." in result.stdout
    assert "- `CountBooks` (shadow): " in result.stdout


def in_a_terminal(*arguments, columns=60, environment=None):
    """The output of a command whose standard output is a terminal."""
    master, slave = pty.openpty()
    subprocess.run(["stty", "cols", str(columns), "rows", "24"], stdin=slave, check=True)
    process = subprocess.Popen(
        [BINARY, *arguments], stdout=slave, env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **(environment or {})})
    os.close(slave)
    output = b""
    try:
        while part := os.read(master, 65_536):
            output += part
    except OSError:
        pass  # The other end is closed.
    os.close(master)
    assert process.wait(30) == 0
    return output.decode()


def test_a_terminal_gets_colours_and_its_own_width(gateway):
    arguments = ("status", "--admin", gateway.admin_url)
    colourful = in_a_terminal(*arguments)
    assert "\x1b[32m" in colourful
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        plain = in_a_terminal(*arguments, environment=environment)
        assert "\x1b" not in plain
        assert max(len(line) for line in plain.splitlines()) <= 60
    assert "GetBook" in plain


def test_watching_goes_on_until_it_is_ended(gateway, tmp_path):
    with open(tmp_path / "watched", "w+") as output:
        process = subprocess.Popen(
            [BINARY, "status", "--watch", "--json", "--admin", gateway.admin_url], stdout=output, stderr=subprocess.PIPE)
        try:
            wait_until(lambda: len((tmp_path / "watched").read_text().splitlines()) >= 2, what="a second look")
            assert process.poll() is None
        finally:
            process.terminate()
            process.communicate(timeout=30)
    for line in (tmp_path / "watched").read_text().splitlines():
        assert "routes" in json.loads(line)


def test_faults_are_one_line(gateway):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for command in ("status", "report"):
        result = run(command, "--admin", f"http://127.0.0.1:{port}")
        assert result.returncode == 1 and result.stdout == ""
        assert re.fullmatch(r"turnout: no answer from the admin endpoint http://127\.0\.0\.1:\d+: .+\n", result.stderr)
        assert run(command, "--admin", "ftp://x").returncode == 2
        assert run(command, "extra").returncode == 2
        assert run(command, "--help").stdout.startswith(f"usage: turnout {command}")
    # Somebody else answers there.
    result = run("status", "--admin", gateway.url)
    assert result.returncode == 1 and result.stderr.count("\n") == 1
