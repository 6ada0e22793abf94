"""What operators set survives a restart, over a file that did not change; whatever the state file is, serving goes on."""

import json
import os
import stat

import pytest

from support.gateway import Gateway, wait_until
from support.schema import SERVICE

GET, LIST = f"{SERVICE}/GetBook", f"{SERVICE}/ListBooks"


@pytest.fixture
def again(configuration, tmp_path, used, rest, rpc):
    """A gateway, always in the same folder: each call is the next process."""

    def make(stage="rest", **more):
        if used and used[-1].process.poll() is None:
            assert used[-1].stop() == 0
        gateway = Gateway(tmp_path / "gateway", configuration(stage, **{"state": {"file": "turnout.state"}, **more}))
        used.append(gateway)
        return gateway

    yield make
    for gateway in used:
        gateway.discard()


def stage(gateway, procedure=GET):
    return gateway.admin("GET", f"/routes/{procedure}").json()


def put(gateway, body, procedure=GET):
    answer = gateway.admin("PUT", f"/routes/{procedure}/stage", body)
    assert answer.status == 200, answer


def written(gateway, *parts):
    file = gateway.folder / "turnout.state"
    wait_until(lambda: file.exists() and all(part in file.read_text() for part in parts), what=f"{parts} in the file")
    return file


def test_an_override_survives_a_restart_and_a_kill(again):
    gateway = again()
    assert not (gateway.folder / "turnout.state").exists()
    put(gateway, {"stage": "canary", "percent": 12.5, "reason": "first step"})
    put(gateway, {"stage": "rpc"}, LIST)
    file = written(gateway, GET, LIST)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    content = json.loads(file.read_text())
    assert content["turnout_state"] == 1 and len(content["routes"]) == 2
    gateway.process.kill()
    gateway.process.wait()
    gateway = again()
    route = stage(gateway)
    assert (route["stage"], route["percent"], route["configured_stage"]) == ("canary", 12.5, "rest")
    assert (route["override"]["reason"], route["override"]["by"]) == ("first step", "127.0.0.1")
    assert stage(gateway, LIST)["stage"] == "rpc"
    assert gateway.admin("DELETE", f"/routes/{GET}/stage", {}).status == 200
    gateway = again()
    assert stage(gateway)["stage"] == "rest" and stage(gateway)["override"] is None
    assert stage(gateway, LIST)["stage"] == "rpc"


def test_the_last_change_is_written_before_the_end(again):
    gateway = again()
    put(gateway, {"stage": "rpc"})
    gateway = again()
    assert stage(gateway)["stage"] == "rpc"


def test_it_ends_when_the_file_has_changed_meanwhile(again):
    gateway = again()
    put(gateway, {"stage": "rpc"})
    gateway = again("shadow")
    assert stage(gateway)["stage"] == "shadow"
    assert "has ended" in gateway.log()
    # For good: the old stage in the file does not bring it back.
    gateway = again("rest")
    assert stage(gateway)["stage"] == "rest"


def test_unknown_routes_are_kept_for_when_they_come_back(again, configuration):
    gateway = again()
    put(gateway, {"stage": "rpc"})
    full = configuration("rest", state={"file": "turnout.state"})
    gateway = again(services={}, schema=[], fallback="legacy")
    assert gateway.admin("GET", "/routes").json()["routes"] == []
    assert GET in (gateway.folder / "turnout.state").read_text()
    gateway.write(full)
    assert gateway.admin("POST", "/reload").status == 200
    assert stage(gateway)["stage"] == "rpc"


@pytest.mark.parametrize("content", [
    "", "junk", "{", '{"turnout_state":99,"routes":[]}', '{"turnout_state":1,"routes":[{"procedure":1}]}', "[" * 100_000,
    "\0" * 100,
], ids=["empty", "junk", "cut", "foreign", "nonsense", "deep", "zeros"])
def test_a_broken_file_is_kept_aside(again, tmp_path, content):
    folder = tmp_path / "gateway"
    folder.mkdir()
    (folder / "turnout.state").write_text(content)
    gateway = again()
    assert gateway.admin("GET", "/readyz").status == 200 and stage(gateway)["stage"] == "rest"
    assert (folder / "turnout.state.broken").read_text() == content
    assert "turnout.state.broken" in gateway.log()
    assert gateway.metric("turnout_state_errors_total", operation="read") == 1
    put(gateway, {"stage": "rpc"})
    written(gateway, GET)


def test_a_folder_or_a_device_that_was_named_by_mistake_stays_where_it_is(again, tmp_path):
    folder = tmp_path / "gateway"
    (folder / "turnout.state").mkdir(parents=True)
    (folder / "turnout.state" / "precious").write_text("kept")
    gateway = again()
    assert "it is not a regular file" in gateway.log()
    put(gateway, {"stage": "rpc"})
    wait_until(lambda: gateway.metric("turnout_state_errors_total", operation="write") >= 1, what="the error")
    assert (folder / "turnout.state" / "precious").read_text() == "kept" and stage(gateway)["stage"] == "rpc"
    assert gateway.stop() == 0
    os.mkfifo(folder / "pipe")
    gateway = again(state={"file": "pipe"})
    put(gateway, {"stage": "rpc"})
    wait_until(lambda: gateway.metric("turnout_state_errors_total", operation="write") >= 1, what="the error")
    assert stat.S_ISFIFO(os.stat(folder / "pipe").st_mode)


def test_a_file_that_cannot_be_written_stops_nothing(again):
    """A folder in its place, as a full or read-only disk would be; when it is gone, the changes are written."""
    gateway = again()
    (gateway.folder / "turnout.state.new").mkdir()
    put(gateway, {"stage": "rpc"})
    wait_until(lambda: gateway.metric("turnout_state_errors_total", operation="write") >= 1, what="the error")
    wait_until(lambda: "cannot be written" in gateway.log(), what="the reason in the log")
    assert gateway.admin("GET", "/readyz").status == 200
    assert gateway.fetch("GET", "/v1/books/b1").status == 200 and stage(gateway)["stage"] == "rpc"
    (gateway.folder / "turnout.state.new").rmdir()
    written(gateway, GET)


def reload(gateway, setup):
    gateway.write(setup)
    answer = gateway.admin("POST", "/reload")
    assert (answer.status, answer.json()) == (200, {"outcome": "ok"}), answer


def test_a_reload_names_a_file(start, configuration):
    """What was set before it was there is in it; without it nothing more is written."""
    gateway = start(configuration())
    put(gateway, {"stage": "canary", "percent": 7, "reason": "before"})
    reload(gateway, configuration(state={"file": "turnout.state"}))
    written(gateway, GET, "before")
    put(gateway, {"stage": "rpc"}, LIST)
    written(gateway, LIST)
    reload(gateway, configuration())
    content = (gateway.folder / "turnout.state").read_text()
    put(gateway, {"stage": "rest", "reason": "after"})
    # Another one has all of it, the first one stays as it was.
    reload(gateway, configuration(state={"file": "other.state"}))
    wait_until(lambda: "after" in ((gateway.folder / "other.state").read_text() if (gateway.folder / "other.state").exists() else ""),
               what="the other file")
    assert (gateway.folder / "turnout.state").read_text() == content
    assert gateway.stop() == 0
    routes = {one["procedure"]: one for one in json.loads((gateway.folder / "other.state").read_text())["routes"]}
    assert routes[LIST]["override"]["to"] == {"stage": "rpc"} and routes[GET]["override"]["to"] == {"stage": "rest"}


def test_a_file_that_a_reload_names_is_read_as_at_the_start(again, start, configuration):
    """Of each route the newest counts, whether it was set here or stands in the file."""
    old = again()
    put(old, {"stage": "canary", "percent": 3, "reason": "in the file"})
    put(old, {"stage": "rpc", "reason": "in the file"}, LIST)
    file = written(old, GET, LIST)
    assert old.stop() == 0
    gateway = start(configuration())
    put(gateway, {"stage": "rpc", "reason": "here, later"})
    reload(gateway, configuration(state={"file": str(file)}))
    assert (stage(gateway)["stage"], stage(gateway)["override"]["reason"]) == ("rpc", "here, later")
    assert (stage(gateway, LIST)["stage"], stage(gateway, LIST)["override"]["reason"]) == ("rpc", "in the file")
    wait_until(lambda: "here, later" in file.read_text(), what="the merged file")
    # Lines that move in the configuration are no change of the file.
    reload(gateway, {"drain": "7s", **configuration(state={"file": str(file)})})
    assert stage(gateway, LIST)["stage"] == "rpc" and gateway.metric("turnout_state_errors_total") == 0


def test_a_folder_that_cannot_be_written_is_told_at_the_start_and_at_reloads(again, configuration):
    """Before there is anything to write; serving goes on, and when the folder is there all is written."""
    def told():
        return gateway.metric("turnout_state_errors_total", operation="write")

    gateway = again(state={"file": "nowhere/turnout.state"})
    assert told() == 1 and gateway.admin("GET", "/readyz").status == 200
    said = "nowhere/turnout.state could not be written"
    wait_until(lambda: gateway.log().count(said) == 1, what="the reason in the log")
    assert gateway.admin("POST", "/reload").status == 200
    assert told() == 2 and gateway.fetch("GET", "/v1/books/b1").status == 200
    (gateway.folder / "nowhere").mkdir()
    assert gateway.admin("POST", "/reload").status == 200
    assert told() == 2 and not os.listdir(gateway.folder / "nowhere")
    put(gateway, {"stage": "rpc"})
    wait_until(lambda: os.listdir(gateway.folder / "nowhere") == ["turnout.state"], what="the file")
    assert told() == 2


def test_a_full_disk(again):
    target = "/dev/full"
    if not os.path.exists(target):
        pytest.skip("no /dev/full here")
    gateway = again()
    os.symlink(target, gateway.folder / "turnout.state.new")
    put(gateway, {"stage": "rpc"})
    wait_until(lambda: gateway.metric("turnout_state_errors_total", operation="write") >= 1, what="the error")
    assert stage(gateway)["stage"] == "rpc" and gateway.admin("GET", "/readyz").status == 200
