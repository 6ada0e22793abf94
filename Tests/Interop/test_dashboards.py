"""What is in deploy/ for Prometheus and Grafana asks for metrics that there are."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy/prometheus/rules.yaml"
ALERTS = ROOT / "Tests/Interop/alerts.yaml"
DASHBOARD = ROOT / "deploy/grafana/turnout.json"


@pytest.fixture(scope="module")
def families():
    """The metric families and their labels, as the sources name them; /metrics shows a family once it has a child."""
    sources = "".join(file.read_text() for file in (ROOT / "Sources/Gateway").rglob("*.swift"))
    found = re.findall(r'(counter|gauge|histogram|total)\(\s*"((?:turnout|process)_\w+)".*?labels:\s*\[(.*?)\]', sources, re.DOTALL)
    families = {name: set(re.findall(r'"(\w+)"', labels)) for _, name, labels in found}
    for kind, name, _ in found:
        if kind == "histogram":
            families[f"{name}_bucket"] = families[name] | {"le"}
    assert len(families) > 20
    return families


def test_the_sources_name_what_metrics_shows(families, gateway_on_rest):
    gateway_on_rest.fetch("GET", "/v1/books/b1")
    shown = {name for name, _ in gateway_on_rest.metrics()}
    assert shown and {re.sub(r"_(sum|count)$", "", name) for name in shown} <= set(families)


def check(expression, families, recorded=()):
    """Every metric of an expression is known, and has the labels that are asked of it."""
    plain = re.sub(r'"[^"]*"', '""', expression)
    names = re.findall(r"\bturnout[_:][\w:]+", plain)
    for name in names:
        assert name in families or name in recorded, f"{name} is no metric: {expression}"
    for name, matchers in re.findall(r"\b(turnout_\w+)\{([^}]*)\}", plain):
        asked = set(re.findall(r"(\w+)\s*[=!]", matchers))
        assert asked <= families[name], f"{name} has no {asked - families[name]}"
    return names


def test_the_rules(families):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not here: ./deploy/setup.sh --tests installs it")
    result = subprocess.run(["promtool", "check", "rules", RULES], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    text = RULES.read_text()
    recorded = set(re.findall(r"record: (\S+)", text))
    alerts = re.findall(r"alert: (\w+)", text)
    assert len(alerts) == len(set(alerts)) >= 8 and all(name.startswith("Turnout") for name in alerts)
    expressions = re.findall(r"expr: (?:>-\n)?(.*?)\n\s+(?:for|labels|- record|- alert|$)", text + "\n", re.DOTALL)
    used = [name for one in expressions for name in check(one, families, recorded)]
    assert "turnout_guard_state" in used and "turnout_shadow_total" in used


def alerts_file(tmp_path):
    """The tests of the alerts for promtool: of each alert of the rules that it is quiet while all is well."""
    alerts = re.findall(r"alert: (\w+)", RULES.read_text())
    quiet = "".join(f"      - {{ alertname: {alert}, eval_time: 50m }}\n" for alert in alerts)
    text = ALERTS.read_text().replace("[RULES]", json.dumps([str(RULES)])).replace("QUIET\n", quiet)
    file = tmp_path / "alerts.yaml"
    file.write_text(text)
    return file


def test_the_alerts_fire_when_they_should_and_not_else(tmp_path):
    """By promtool's own evaluation."""
    if not shutil.which("promtool"):
        pytest.skip("promtool is not here: ./deploy/setup.sh --tests installs it")
    result = subprocess.run(["promtool", "test", "rules", alerts_file(tmp_path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_each_alert_is_tested_with_series_that_there_are(tmp_path, families):
    tests = yaml.safe_load(alerts_file(tmp_path).read_text())["tests"]
    fired = {one["alertname"] for test in tests for one in test["alert_rule_test"] if one.get("exp_alerts")}
    assert fired == set(re.findall(r"alert: (\w+)", RULES.read_text()))
    for test in tests:
        for series in test["input_series"]:
            name, labels = re.fullmatch(r"(\w+)\{(.*)\}", series["series"]).groups()
            if name != "up":
                assert set(re.findall(r'(\w+)="', labels)) <= families[name] | {"instance", "job"}, series


def test_the_dashboard(families):
    dashboard = json.loads(DASHBOARD.read_text())
    panels = [one for one in dashboard["panels"] if one["type"] != "row"]
    assert len(panels) >= 10 and len({one["id"] for one in dashboard["panels"]}) == len(dashboard["panels"])
    expressions = [target["expr"] for one in panels for target in one["targets"]]
    expressions += [one["expr"] for one in dashboard["annotations"]["list"]]
    for expression in expressions:
        assert check(expression, families), expression
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            assert check(variable["definition"], families)
    # No panel lies over another.
    taken = set()
    for one in dashboard["panels"]:
        place = one["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken, one["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
