"""The admin endpoint: reads are open on loopback, changing verbs are guarded."""

import json
import subprocess

import pytest

from support.gateway import run, wait_until
from support.schema import SERVICE
from support.wire import fetch

STAGE = f"/routes/{SERVICE}/GetBook/stage"
TOKEN = "s3cret-token"
BEARER = [("Authorization", f"Bearer {TOKEN}")]


@pytest.fixture
def gateway(start, configuration):
    return start(
        configuration(admin={"address": "127.0.0.1:0", "token": "${env:ADMIN_TOKEN}"}),
        environment={"ADMIN_TOKEN": TOKEN})


def test_reads(gateway):
    assert gateway.admin("GET", "/healthz").status == 200
    assert gateway.admin("GET", "/readyz").status == 200
    assert gateway.admin("GET", "/metrics").status == 200
    answer = gateway.admin("GET", "/routes")
    assert (answer.status, answer["content-type"].split(";")[0]) == (200, "application/json")
    routes = {route["procedure"]: route for route in answer.json()["routes"]}
    route = routes[f"{SERVICE}/GetBook"]
    assert route["stage"] == "rest"
    assert {"method": "GET", "path": "/v1/books/{id}"} in route["faces"]["rest"]
    assert route["backends"] == {"rest": "legacy", "rpc": "content"}
    assert TOKEN not in answer.body.decode() + gateway.log()
    assert gateway.admin("GET", "/nothing").status == 404


def test_who_guesses_the_token_is_told_of_and_counted(gateway):
    """One line, however often it happens; never what was guessed."""
    for number in range(5):
        answer = gateway.admin("POST", "/reload", fields=[("Authorization", f"Bearer guess-{number}")])
        assert answer.status == 401
    assert gateway.admin("PUT", STAGE, {"stage": "rpc"}, [*BEARER, ("Origin", "null")]).status == 403
    assert gateway.metric("turnout_admin_refused_total", status="401") == 5
    assert gateway.metric("turnout_admin_refused_total", status="403") == 1
    wait_until(lambda: "the admin endpoint refused" in gateway.log(), what="the word")
    said = [line for line in gateway.log().splitlines() if "the admin endpoint refused" in line]
    assert len(said) == 1 and "POST /reload of 127.0.0.1: its token is wrong" in said[0], said
    assert "guess-" not in gateway.log()


def test_curl_can_change_a_stage(gateway):
    result = subprocess.run(
        ["curl", "-sSf", "-m", "20", "-X", "PUT", gateway.admin_url + STAGE, "-H", "content-type: application/json",
         "-H", f"authorization: Bearer {TOKEN}", "-d", '{"stage": "rpc", "reason": "try"}'],
        capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["stage"] == "rpc"


@pytest.mark.parametrize("method, path", [("PUT", STAGE), ("POST", "/reload")])
@pytest.mark.parametrize(
    "status, fields",
    [
        (401, []),
        (401, [("Authorization", "Bearer wrong")]),
        (401, [("Authorization", f"Basic {TOKEN}")]),
        (403, [*BEARER, ("Host", "evil.example")]),
        (403, [*BEARER, ("Host", "evil.example:9901")]),
        (403, [*BEARER, ("Origin", "https://evil.example")]),
        (403, [*BEARER, ("Origin", "null")]),
        (403, [*BEARER, ("Origin", "http://wiki")]),
        (403, [*BEARER, ("Origin", "http://wiki:9901")]),
        (415, [*BEARER, ("Content-Type", "text/plain")]),
        (415, [*BEARER, ("Content-Type", "application/x-www-form-urlencoded")]),
    ],
)
def test_changing_verbs_are_guarded(gateway, method, path, status, fields):
    names = {name.lower() for name, _ in fields}
    fields = list(fields)
    if "host" not in names:
        fields.append(("Host", "%s:%d" % gateway.admin_address))
    if "content-type" not in names:
        fields.append(("Content-Type", "application/json"))
    body = b'{"stage": "rpc"}' if method == "PUT" else b"{}"
    answer = fetch(gateway.admin_address, method, path, fields, body)
    assert answer.status == status, answer
    assert "error" in answer.json()
    assert {route["stage"] for route in gateway.admin("GET", "/routes").json()["routes"]} == {"rest"}


@pytest.mark.parametrize("method, path, body, status", [
    ("PUT", STAGE, b"{", 400), ("PUT", STAGE, b"{}", 400), ("PUT", STAGE, b'{"stage": "sideways"}', 400),
    ("PUT", STAGE, b'{"stage": "rpc", "colour": 1}', 400), ("PUT", STAGE, b'{"stage": 7}', 400),
    ("PUT", f"/routes/{SERVICE}/Nothing/stage", b'{"stage": "rpc"}', 404), ("POST", "/reload", b"[1]", 400),
    ("GET", STAGE, b"", 405), ("DELETE", "/routes", b"", 405), ("POST", "/metrics", b"{}", 405),
])
def test_changes_that_cannot_be(gateway, method, path, body, status):
    answer = gateway.admin(method, path, body or None, BEARER) if body else fetch(
        gateway.admin_address, method, path, [("Host", "%s:%d" % gateway.admin_address), *BEARER])
    assert answer.status == status, answer
    assert answer.json()["error"]


def test_the_command_reads_the_token_from_the_environment(gateway):
    arguments = ["stage", f"/{SERVICE}/GetBook", "rpc", "--admin", gateway.admin_url]
    refused = run(*arguments, environment={"TURNOUT_ADMIN_TOKEN": ""})
    assert refused.returncode == 1 and "401" in refused.stderr
    result = run(*arguments, environment={"TURNOUT_ADMIN_TOKEN": TOKEN})
    assert result.returncode == 0, result.stderr


def test_own_origin_and_localhost_are_fine(gateway):
    port = gateway.admin_address[1]
    fields = [*BEARER, ("Content-Type", "application/json"), ("Host", f"localhost:{port}"),
              ("Origin", f"http://localhost:{port}")]
    assert fetch(gateway.admin_address, "PUT", STAGE, fields, b'{"stage": "rpc"}').status == 200


def test_a_public_address_needs_a_token(configuration, tmp_path):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(admin={"address": "0.0.0.0:0"}), indent=2))
    result = run("check", "--config", file)
    assert result.returncode == 1 and "token" in result.stderr
