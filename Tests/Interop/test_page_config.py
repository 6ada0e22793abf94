"""The page says which configuration serves, what is wrong with it, and what came of the last reload."""

import json

import pytest

from support.migration import every_part, table
from test_page_reading import FAINT

READY = "document.getElementById('live').dataset.state === 'live' && !document.getElementById('config-section').hidden"


def has(page, element, text):
    page.until(f"document.getElementById({json.dumps(element)}).innerText.includes({json.dumps(text)})")


def test_a_reload_that_is_refused_and_its_cure(start, configuration, rest, rpc, opened, pictures):
    gateway = start(configuration())
    page = opened(gateway.admin_url + "/")
    page.until(READY)
    hash = gateway.admin("GET", "/config").json()["hash"]
    assert page.text("#config-hash") == hash and "turnout.yaml" in page.text("#config-file")
    assert page.text("#config-reload") == "none since the start"
    assert page.run("document.getElementById('config-notices').hidden")
    gateway.write({**configuration(), "drian": "3s"})
    assert gateway.admin("POST", "/reload", {}, [("User-Agent", "ops-script/7")]).status == 422
    has(page, "config-notices", "The configuration was not taken over")
    has(page, "config-reload", "refused, with 1 fault")
    has(page, "config-faults", "drian")
    fault = page.text("#config-faults")
    assert "error: " in fault and "turnout.yaml:" in fault and "drain" in fault
    has(page, "announcer", "it was refused, with 1 fault")
    assert page.text("#config-hash") == hash
    # The watcher may have read it once more.
    assert any(who in page.text("#config-reload") for who in ("POST /reload by 127.0.0.1 (ops-script/7)", "a file changed"))
    page.screenshot(pictures / "refused.png", full=True)
    gateway.write(configuration(workers=1, include=["nothing-*.yaml"]))
    assert gateway.admin("POST", "/reload").status == 200
    has(page, "config-reload", "it was taken over")
    has(page, "config-notices", "A restart is pending: workers changes with the next start only.")
    has(page, "config-warnings", "matches no file")
    assert "not taken over" not in page.text("#config-notices")
    assert page.text("#config-hash") != hash
    # Each once: the warning is of what serves, not of the reload as well.
    assert "matches no file" not in page.text("#config-faults")
    gateway.write(configuration())
    assert gateway.admin("POST", "/reload").status == 200
    page.until("document.getElementById('config-notices').hidden && document.getElementById('config-warnings-part').hidden")
    assert page.text("#config-hash") == hash


LAST = {
    "time": "2026-11-30T11:59:00Z", "event": "reload", "outcome": "failed", "kind": "admin", "actor": "10.0.0.7",
    "agent": "ops-script/7", "token": True, "error": "…", "errors": 2, "config": "0123456789abcdef",
    "diagnostics": [
        {"severity": "error", "file": "/etc/turnout/" + "long" * 60 + ".yaml", "line": 7, "column": 3, "message": "x" * 300},
        {"severity": "warning", "file": "/etc/turnout/turnout.yaml", "line": 1, "column": 1, "message": "<b>odd</b>"}]}
STATUS = {
    "replica": "127.0.0.1:9901", "now": "2026-11-30T12:00:00Z", "file": "/etc/turnout/turnout.yaml", "hash": "0123456789abcdef",
    "since": "2026-11-29T12:00:00Z", "restart_pending": ["workers", "admin"], "reload_pending": True, "last_reload": LAST,
    "warnings": [{"file": "/etc/turnout/turnout.yaml", "line": 3, "column": 1, "message": "a certificate has expired"}]}


def answers(method, url, body):
    if url.endswith("/config"):
        return 200, STATUS
    return 200, {
        **table(every_part()), "config": {"hash": STATUS["hash"], "revision": 2, "reload_pending": True},
        "warnings": ["Redis server main is away: " + "word " * 40]}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_all_of_it_can_be_read(shown, pictures, dark, width):
    page = shown(answers, dark=dark, width=width, ready=READY)
    page.screenshot(pictures / f"config-{width}-{'dark' if dark else 'light'}.png", full=True)
    assert "workers, admin change with the next start only" in page.text("#config-notices")
    assert page.run("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)") <= width
    found = page.run(FAINT)
    assert found["faint"] == [] and found["looked"] > 50
    # What comes from files is text.
    assert "<b>odd</b>" in page.text("#config-faults") and page.run("document.querySelectorAll('#config-faults b').length") == 0


def test_a_gateway_that_does_not_know_it_shows_none(shown):
    """Of an older version, behind the same balancer."""
    page = shown(every_part())
    assert page.run("document.getElementById('config-section').hidden && document.getElementById('config-notices').hidden")
