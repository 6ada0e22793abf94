"""Metrics by the contract's names, clean for promtool."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from support.gateway import run, wait_until
from support.schema import SERVICE

JSON = [("Content-Type", "application/json")]


@pytest.fixture
def gateway(start, configuration):
    return start(configuration(fallback="legacy", methods={"GetFile": {"stage": "rpc"}, "ListBooks": {"stage": "shadow"}}))


def traffic(gateway):
    with gateway.connect() as wire:
        for number in range(3):
            wire.request("GET", f"/v1/books/b{number}")
            wire.request("GET", f"/v1/files/f{number}")
            wire.request("GET", f"/unmatched/{number}")
        wire.request("GET", "/v1/books")
        wire.request("POST", f"/{SERVICE}/GetBook", JSON, b'{"id": "b1"}')
        wire.request("POST", f"/{SERVICE}/GetBook", JSON, b'{"id": 1}')
    with gateway.connect() as wire:
        wire.send(b"nonsense\r\n\r\n")
        wire.answer()
    gateway.admin("POST", "/reload")
    wait_until(lambda: gateway.metric("turnout_shadow_total") == 1, what="a counted shadow")


def test_promtool_finds_nothing(gateway):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not here: ./deploy/setup.sh --tests installs it")
    traffic(gateway)
    answer = gateway.admin("GET", "/metrics")
    assert answer["content-type"].startswith("text/plain; version=0.0.4")
    result = subprocess.run(["promtool", "check", "metrics"], input=answer.body, capture_output=True)
    assert (result.returncode, result.stdout + result.stderr) == (0, b"")


def test_the_names_and_labels_of_the_contract(gateway):
    traffic(gateway)
    labels = {}
    for (name, pairs), _ in gateway.metrics().items():
        labels.setdefault(name, set()).add(tuple(name for name, _ in pairs if name != "le"))
    for name, expected in {
        "turnout_requests_total": ("route", "service", "method", "face", "side", "stage", "code"),
        "turnout_request_duration_seconds_count": ("service", "method", "side"),
        "turnout_upstream_duration_seconds_bucket": ("upstream", "service", "method"),
        "turnout_shadow_total": ("service", "method", "outcome"),
        "turnout_config_reloads_total": ("outcome",),
        "turnout_connections": ("listener", "protocol"),
        "turnout_upstream_connections": ("upstream", "state"),
    }.items():
        assert labels.get(name) == {expected}, name


def test_calls_are_counted_once_and_by_template(gateway):
    traffic(gateway)
    count = lambda **more: gateway.metric("turnout_requests_total", **more)
    assert count(route="/v1/books/{id}", face="rest", side="rest", stage="rest", code="ok") == 3
    assert count(route="/v1/files/{path=**}", face="rest", side="rpc", stage="rpc", code="ok") == 3
    assert count(route=f"/{SERVICE}/GetBook", face="connect", side="rest", code="ok") == 1
    assert count(route=f"/{SERVICE}/GetBook", face="connect", code="invalid_argument") == 1
    # A head that cannot be read is a call without a route.
    assert count(route="(none)", side="none", code="invalid_argument") == 1
    assert count() == 13
    routes = {dict(labels)["route"] for (name, labels), _ in gateway.metrics().items() if name == "turnout_requests_total"}
    assert not [route for route in routes if "b1" in route or "unmatched" in route]
    assert gateway.metric("turnout_request_duration_seconds_count") == 13
    assert gateway.metric("turnout_config_reloads_total", outcome="ok") == 1


def test_connections_go_up_and_down(gateway):
    wait_until(lambda: gateway.metric("turnout_connections") == 0)
    wires = [gateway.connect() for _ in range(5)]
    wait_until(lambda: gateway.metric("turnout_connections", protocol="http/1.1") == 5
               or gateway.metric("turnout_connections") == 5)
    for wire in wires:
        wire.request("GET", "/v1/books/b1")
        wire.close()
    wait_until(lambda: gateway.metric("turnout_connections") == 0)
    assert gateway.metric("turnout_upstream_connections", upstream="legacy", state="idle") >= 1
    assert gateway.metric("turnout_upstream_connections", upstream="legacy", state="active") == 0


def test_counters_stay_over_a_reload(gateway, configuration):
    gateway.fetch("GET", "/v1/books/b1")
    before = gateway.metric("turnout_requests_total", method="GetBook")
    gateway.write(configuration(drain="20s"))
    assert gateway.admin("POST", "/reload").status == 200
    assert gateway.metric("turnout_requests_total", method="GetBook") == before == 1
    gateway.fetch("GET", "/v1/books/b1")
    assert gateway.metric("turnout_requests_total", method="GetBook") == 2


def test_reported_unknown_fields(start, configuration, rest, client_of, pb):
    from support.rest_service import Reply, book

    gateway = start(configuration(service={"json": {"unknown_fields": "report"}}))
    rest.answers(Reply.json({**book("b1"), "novelty": [1, {"a": None}]}))
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b1")).id == "b1"
    assert gateway.metric("turnout_unknown_fields_total", method="GetBook", path="novelty") == 1


def test_what_is_told_of_every_process(gateway):
    samples = gateway.metrics()
    assert abs(samples["process_open_fds", ()] - gateway.descriptors()) <= 3
    assert 0.5 < samples["process_resident_memory_bytes", ()] / gateway.resident_bytes() < 2
    assert samples["process_max_fds", ()] >= samples["process_open_fds", ()]
    assert samples["process_virtual_memory_max_bytes", ()] >= samples["process_virtual_memory_bytes", ()]
    assert samples["process_virtual_memory_bytes", ()] > samples["process_resident_memory_bytes", ()]
    assert abs(samples["process_threads", ()] - len(os.listdir(f"/proc/{gateway.process.pid}/task"))) <= 3
    assert 0 <= time.time() - samples["process_start_time_seconds", ()] < 600
    text = gateway.admin("GET", "/metrics").body.decode()
    assert "# TYPE process_cpu_seconds_total counter\n" in text

    def by_the_kernel():
        """User and system time in seconds (proc(5))."""
        facts = Path(f"/proc/{gateway.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(facts[11]) + int(facts[12])) / os.sysconf("SC_CLK_TCK")

    for _ in range(20):
        gateway.fetch("GET", "/v1/books/b1")
    before = by_the_kernel()
    spent = gateway.metric("process_cpu_seconds_total")
    # The kernel's figure is in steps of a hundredth.
    assert samples["process_cpu_seconds_total", ()] < spent and before - 0.03 <= spent <= by_the_kernel() + 0.03
    version = run("--version").stdout.split()[1]
    assert samples["turnout_build_info", (("version", version),)] == 1
