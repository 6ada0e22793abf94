"""The audit log: a line for each change of a stage and each reload, by whom or what; opened anew after a rotation."""

import json
import signal
import threading

import pytest

from support.gateway import run, wait_until
from support.schema import SERVICE
from support.wire import Wire

GET = f"{SERVICE}/GetBook"
TOKEN = "s3cret-token"


@pytest.fixture
def gateway(start, configuration):
    return start(configuration(
        audit={"path": "audit.log"}, admin={"address": "127.0.0.1:0", "token": TOKEN}))


def lines(gateway, count, name="audit.log", event="stage_change"):
    file = gateway.folder / name

    def found():
        entries = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        entries = [entry for entry in entries if entry["event"] == event]
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


MEMBERS = ["event", "procedure", "action", "from", "to", "kind", "actor", "agent", "token", "reason"]


def test_every_line_has_the_same_members(gateway):
    fields = [("Authorization", f"Bearer {TOKEN}")]
    assert gateway.admin("PUT", f"/routes/{GET}/stage", {"stage": "rpc"}, fields).status == 200
    [line] = lines(gateway, 1)
    assert list(line) == ["time", "replica", "sequence", *MEMBERS] and line["event"] == "stage_change"


@pytest.fixture
def without_a_path(start, configuration):
    return lambda **top: start(configuration(admin={"address": "127.0.0.1:0", "token": TOKEN}, **top))


@pytest.mark.parametrize("format", ["json", "text"])
def test_without_a_path_the_log_is_the_audit_log(without_a_path, configuration, format):
    gateway = without_a_path(log=format)
    fields = [("Authorization", f"Bearer {TOKEN}"), ("User-Agent", 'ops "7"')]
    change = {"stage": "canary", "percent": 2.5, "reason": 'a "try"\nevent=forged'}
    assert gateway.admin("PUT", f"/routes/{GET}/stage", change, fields).status == 200
    wait_until(lambda: "stage_change" in gateway.log(), what="the change in the log")
    [line] = [line for line in gateway.log().splitlines() if "stage_change" in line]
    expected = {
        "event": "stage_change", "procedure": GET, "action": "moved", "from": {"stage": "rest"},
        "to": {"stage": "canary", "percent": 2.5}, "kind": "admin", "actor": "127.0.0.1", "agent": 'ops "7"', "token": True,
        "reason": change["reason"]}
    if format == "json":
        found = json.loads(line)
        assert (found.pop("level"), found.pop("time")[-1]) == ("info", "Z")
        assert found.pop("message").startswith(f"stage of {GET} set from rest to canary at 2.5% by 127.0.0.1")
        assert list(found.items()) == list(expected.items())
    else:
        # Each value is a plain word, or JSON.
        assert f"stage of {GET} set from rest to canary at 2.5% by 127.0.0.1 at the admin endpoint: a" in line
        assert line.endswith(
            f' event=stage_change procedure={GET} action=moved from={{"stage":"rest"}} to={{"stage":"canary","percent":2.5}} '
            f'kind=admin actor=127.0.0.1 agent="ops \\"7\\"" token=true reason="a \\"try\\"\\nevent=forged"')
    assert TOKEN not in gateway.log()


def test_the_last_changes_are_at_the_admin_endpoint(without_a_path, configuration):
    gateway = without_a_path()
    fields = [("Authorization", f"Bearer {TOKEN}")]
    assert gateway.admin("GET", "/audit").json()["changes"] == []
    for percent in (1, 2):
        change = {"stage": "canary", "percent": percent, "reason": f"step {percent}"}
        assert gateway.admin("PUT", f"/routes/{GET}/stage", change, fields).status == 200
    # The audit outlives the route.
    gateway.write(configuration(
        admin={"address": "127.0.0.1:0", "token": TOKEN}, services={}, schema=[], fallback="legacy"))
    assert gateway.admin("POST", "/reload", {}, fields).status == 200
    answer = gateway.admin("GET", "/audit").json()
    assert (answer["total"], [one["reason"] for one in answer["changes"]]) == (2, ["step 2", "step 1"])
    assert list(answer["changes"][0]) == ["time", "replica", "sequence", *MEMBERS]
    assert (answer["changes"][0]["from"], answer["changes"][0]["to"]) == (
        {"stage": "canary", "percent": 1}, {"stage": "canary", "percent": 2})
    assert gateway.admin("POST", "/audit", {}, fields).status == 405


def test_the_last_changes_are_bounded(without_a_path):
    gateway = without_a_path()
    fields = [("Authorization", f"Bearer {TOKEN}"), ("Host", "%s:%d" % gateway.admin_address)]
    with Wire(gateway.admin_address) as wire:
        for number in range(503):
            body = json.dumps({"stage": "canary", "percent": number % 100, "reason": str(number)}).encode()
            answer = wire.request(
                "PUT", f"/routes/{GET}/stage", [*fields, ("Content-Type", "application/json")], body)
            assert answer.status == 200, answer
    answer = gateway.admin("GET", "/audit").json()
    assert answer["total"] == 503
    assert [one["reason"] for one in answer["changes"]] == [str(number) for number in reversed(range(3, 503))]


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


def test_a_reload_names_another_path(start, configuration):
    """The first lines of the new log are what the reload itself changed; the old one is whole."""
    gateway = start(configuration())

    def reload(stage, audit):
        gateway.write(configuration(methods={"GetBook": {"stage": stage}}, **({"audit": {"path": audit}} if audit else {})))
        return gateway.admin("POST", "/reload")

    def said(name):
        return [line["to"]["stage"] for line in lines(gateway, 1, name)]

    assert gateway.admin("PUT", f"/routes/{GET}/stage", {"stage": "rpc"}).status == 200
    assert reload("shadow", "one.log").json() == {"outcome": "ok"}
    assert said("one.log") == ["shadow"]
    assert reload("rpc", "two.log").json() == {"outcome": "ok"}
    assert gateway.admin("PUT", f"/routes/{GET}/stage", {"stage": "rest"}).status == 200
    wait_until(lambda: len(said("two.log")) == 2, what="both changes")
    assert (said("one.log"), said("two.log")) == (["shadow"], ["rpc", "rest"])
    # One that cannot be opened refuses the whole reload.
    refused = reload("shadow", "nowhere/audit.log")
    assert refused.status == 422, refused
    [error] = refused.json()["errors"]
    assert error["message"].startswith("the audit log cannot be opened: ") and error["line"] > 1
    assert gateway.admin("GET", f"/routes/{GET}").json()["configured_stage"] == "rpc"
    assert gateway.admin("PUT", f"/routes/{GET}/stage", {"stage": "rpc"}).status == 200
    wait_until(lambda: said("two.log") == ["rpc", "rest", "rpc"], what="the old log")
    assert reload("shadow", None).json() == {"outcome": "ok"}
    assert gateway.admin("PUT", f"/routes/{GET}/stage", {"stage": "rpc"}).status == 200
    wait_until(lambda: gateway.log().count("event\":\"stage_change\"") + gateway.log().count("event=stage_change") >= 7, what="the log")
    assert said("two.log") == ["rpc", "rest", "rpc"]


def test_a_path_that_cannot_be_opened_is_told_at_the_start(configuration, tmp_path):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(audit={"path": "nowhere/audit.log"}), indent=2))
    result = run("serve", "--config", file)
    assert result.returncode == 1 and "audit" in result.stderr and "nowhere/audit.log" in result.stderr


RELOAD = ["time", "replica", "sequence", "event", "outcome", "kind", "actor", "agent", "token", "error", "errors", "config"]


def test_a_reload_is_an_event_whoever_asks_and_however_it_ends(gateway, configuration):
    """In the audit log, in the log, and at the admin endpoint; behind the changes of stages that it made."""
    top = {"audit": {"path": "audit.log"}, "admin": {"address": "127.0.0.1:0", "token": TOKEN}}
    fields = [("Authorization", f"Bearer {TOKEN}"), ("User-Agent", "ops-script/7")]

    def reloads(count):
        return lines(gateway, count, event="reload")

    def told(**members):
        """The event with these members, when it is in the file: that is written a little later."""
        return wait_until(
            lambda: next((line for line in reloads(1) if members.items() <= line.items()), None), what=f"{members}")

    gateway.write(configuration("rpc", **top))
    assert gateway.admin("POST", "/reload", {}, fields).status == 200
    # The watcher may have been there first, and does it too.
    done = told(kind="admin")
    assert list(done) == RELOAD and done["replica"] and done["time"].endswith("Z")
    assert (done["outcome"], done["actor"], done["agent"], done["token"]) == ("ok", "127.0.0.1", "ops-script/7", True)
    assert (done["error"], done["errors"]) == ("", 0)
    whole = [json.loads(line)["event"] for line in (gateway.folder / "audit.log").read_text().splitlines()]
    assert whole.index("reload") > whole.index("stage_change")

    gateway.write({**configuration("rpc", **top), "nonsense": 1})
    assert gateway.admin("POST", "/reload", {}, fields).status == 422
    failed = told(kind="admin", outcome="failed")
    assert failed["errors"] >= 1 and "nonsense" in failed["error"]

    refused = gateway.admin("POST", "/reload", {}, [("User-Agent", "stranger")])
    assert refused.status == 401
    stranger = told(outcome="refused")
    assert (stranger["agent"], stranger["token"], stranger["actor"]) == ("stranger", False, "127.0.0.1")
    assert "token is missing" in stranger["error"]
    # Anybody can send these, so not each is told.
    for _ in range(50):
        gateway.admin("POST", "/reload", {}, [("User-Agent", "stranger")])
    assert sum(line["outcome"] == "refused" for line in gateway.admin("GET", "/audit").json()["reloads"]) < 25

    gateway.write(configuration("rest", **top))
    gateway.signal(signal.SIGHUP)
    by_signal = told(kind="signal")
    assert (by_signal["outcome"], by_signal["actor"], by_signal["agent"], by_signal["token"]) == ("ok", "", None, None)

    served = gateway.admin("GET", "/audit").json()["reloads"]
    # The watcher may have had one more done since.
    assert list(reversed(served)) == reloads(len(served))[:len(served)]
    assert TOKEN not in (gateway.folder / "audit.log").read_text()
    assert "event=reload" in gateway.log() or '"event":"reload"' in gateway.log()


def test_a_file_that_changes_is_told_as_such(gateway, configuration):
    gateway.write(configuration("rpc", audit={"path": "audit.log"}, admin={"address": "127.0.0.1:0", "token": TOKEN}))
    [line] = lines(gateway, 1, event="reload")
    assert (line["kind"], line["outcome"], line["actor"]) == ("file", "ok", "")


def test_events_have_one_order_wherever_they_are_told(gateway, configuration):
    """Also those of one moment, of several callers at once."""
    fields = [("Authorization", f"Bearer {TOKEN}")]

    def change(number):
        for step in range(5):
            if number % 2:
                gateway.admin("POST", "/reload", {}, fields if number % 3 else [])
            else:
                gateway.admin("PUT", f"/routes/{GET}/stage", {"stage": "canary", "percent": 10 * number + step}, fields)

    threads = [threading.Thread(target=change, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answer = gateway.admin("GET", "/audit").json()
    events = sorted(answer["changes"] + answer["reloads"], key=lambda event: event["sequence"])
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    for kind in ("changes", "reloads"):
        order = [event["sequence"] for event in answer[kind]]
        assert order == sorted(order, reverse=True)

    def written():
        return [json.loads(line) for line in (gateway.folder / "audit.log").read_text().splitlines()]

    wait_until(lambda: len(written()) >= len(events), what="all lines")
    assert written()[:len(events)] == events
