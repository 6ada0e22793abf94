"""The audit log: a line for each change of a stage, by whom or what; opened anew after a rotation."""

import json
import signal

import pytest

from support.gateway import run, wait_until
from support.schema import SERVICE

GET = f"{SERVICE}/GetBook"
TOKEN = "s3cret-token"


@pytest.fixture
def gateway(start, configuration):
    return start(configuration(
        audit={"path": "audit.log"}, admin={"address": "127.0.0.1:0", "token": TOKEN}))


def lines(gateway, count, name="audit.log"):
    file = gateway.folder / name

    def found():
        entries = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return entries if len(entries) >= count else None

    return wait_until(found, what=f"{count} lines in {name}")


def test_who_changed_what_and_why(gateway, configuration):
    done = run("stage", GET, "canary", "--percent", "2.5", "--reason", 'a "try"\n2', "--admin", gateway.admin_url,
               environment={"TURNOUT_ADMIN_TOKEN": TOKEN})
    assert done.returncode == 0, done.stderr
    fields = [("Authorization", f"Bearer {TOKEN}"), ("User-Agent", "ops-script/7")]
    assert gateway.admin("DELETE", f"/routes/{GET}/stage", {"reason": "enough"}, fields).status == 200
    gateway.write(configuration("shadow", audit={"path": "audit.log"}, admin={
        "address": "127.0.0.1:0", "token": TOKEN}, methods={"GetBook": {"stage": "rpc"}}))
    assert gateway.admin("POST", "/reload", {}, fields).status == 200
    set_, cleared, *reloaded = lines(gateway, 3)
    assert (set_["procedure"], set_["action"], set_["kind"]) == (GET, "moved", "admin")
    assert (set_["from"], set_["to"]) == ({"stage": "rest"}, {"stage": "canary", "percent": 2.5})
    assert (set_["actor"], set_["token"], set_["reason"]) == ("127.0.0.1", True, 'a "try"\n2')
    assert set_["agent"].startswith("turnout/") and set_["time"].endswith("Z") and set_["replica"]
    assert (cleared["to"], cleared["agent"], cleared["reason"]) == ({"stage": "rest"}, "ops-script/7", "enough")
    moved = {line["procedure"]: line for line in reloaded}
    assert (moved[GET]["kind"], moved[GET]["to"]) == ("file", {"stage": "rpc"})
    assert TOKEN not in (gateway.folder / "audit.log").read_text()
    # Refused changes are none.
    assert gateway.admin("PUT", f"/routes/{GET}/stage", {"stage": "rest"}).status == 401
    assert len(lines(gateway, 3)) == 2 + len(reloaded)


def test_it_is_opened_anew_after_a_rotation(gateway):
    fields = [("Authorization", f"Bearer {TOKEN}")]
    for stage, name in [("rpc", "audit.log"), ("rest", "audit.log")]:
        assert gateway.admin("PUT", f"/routes/{GET}/stage", {"stage": stage}, fields).status == 200
        lines(gateway, 1)
        if stage == "rpc":
            (gateway.folder / "audit.log").rename(gateway.folder / "audit.log.1")
            gateway.signal(signal.SIGUSR1)
            wait_until(lambda: (gateway.folder / "audit.log").exists(), what="the new file")
    assert [line["to"]["stage"] for line in lines(gateway, 1, "audit.log.1")] == ["rpc"]
    assert [line["to"]["stage"] for line in lines(gateway, 1)] == ["rest"]


def test_a_path_that_cannot_be_opened_is_told_at_the_start(configuration, tmp_path):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(audit={"path": "nowhere/audit.log"}), indent=2))
    result = run("serve", "--config", file)
    assert result.returncode == 1 and "audit" in result.stderr and "nowhere/audit.log" in result.stderr
