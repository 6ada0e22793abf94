"""What is in deploy/ for Prometheus and Grafana asks for metrics that there are."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy/prometheus/rules.yaml"
DASHBOARD = ROOT / "deploy/grafana/turnout.json"


@pytest.fixture(scope="module")
def families():
    """The metric families and their labels, as the sources name them; /metrics shows a family once it has a child."""
    sources = "".join(file.read_text() for file in (ROOT / "Sources/Gateway").rglob("*.swift"))
    found = re.findall(r'(counter|gauge|histogram)\(\s*"(turnout_\w+)".*?labels:\s*\[(.*?)\]', sources, re.DOTALL)
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


def rules_test(alerts_at, series, expected):
    return {
        "rule_files": [str(RULES)], "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": series, "alert_rule_test": [
            {"eval_time": alerts_at, "alertname": name, "exp_alerts": alerts} for name, alerts in expected.items()]}]}


def test_the_alerts_fire_when_they_should(tmp_path):
    """By promtool's own evaluation, with figures of a new side that fails and of a guard that takes it back."""
    if not shutil.which("promtool"):
        pytest.skip("promtool is not here: ./deploy/setup.sh --tests installs it")

    def requests(side, code, rate):
        return {
            "series": f'turnout_requests_total{{service="a.B",method="Get",side="{side}",code="{code}"}}',
            "values": f"0+{rate}x60"}

    where = {"service": "a.B", "method": "Get"}
    series = [
        requests("rest", "ok", 600), requests("rpc", "ok", 540), requests("rpc", "internal", 60),
        {"series": 'turnout_fallbacks_total{service="a.B",method="Get",from="rpc",outcome="answered"}', "values": "0+120x60"},
        {"series": 'turnout_fallbacks_total{service="a.B",method="Get",from="rest",outcome="late"}', "values": "0+600x60"},
        {"series": 'turnout_guard_state{service="a.B",method="Get",state="tripped"}', "values": "0x20 1x40"}]
    tripped = {
        "exp_labels": {**where, "severity": "critical"},
        "exp_annotations": {
            "summary": "The guard has taken a.B/Get back",
            "description": "The page of the admin endpoint says why. The route stays back until somebody sets its stage again."}}
    fails = {
        "exp_labels": {**where, "side": "rpc", "severity": "critical"},
        "exp_annotations": {
            "summary": "Calls of a.B/Get fail on the rpc side", "description": "10% of the calls fail."}}
    falls_back = {
        "exp_labels": {**where, "from": "rpc", "severity": "warning"},
        "exp_annotations": {
            "summary": "Calls of a.B/Get fail on the rpc side and are asked again",
            "description": "10% of the calls go to the other side because their own fails; callers see the answers of that."}}
    file = tmp_path / "test.yaml"
    for when, expected in (
        ("25m", {"TurnoutGuardTripped": [tripped], "TurnoutSideFails": [fails], "TurnoutFallsBack": [falls_back],
                 "TurnoutReloadFailed": []}),
        ("18m", {"TurnoutGuardTripped": []}),
    ):
        file.write_text(json.dumps(rules_test(when, series, expected)))
        result = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr


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
