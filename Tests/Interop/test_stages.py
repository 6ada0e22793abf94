"""A route is moved by one word: the next request on the same connection follows, nothing in flight is dropped."""

import os
import re
import signal
import threading

import pytest

from support.gateway import run, wait_until
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.wire import request_bytes

PROCEDURE = f"{SERVICE}/GetBook"


class Traffic:
    """Clients on keep-alive connections that ask all the time; every answer must be right."""

    def __init__(self, gateway, clients=4):
        self.gateway, self.faults, self.answers, self.ends = gateway, [], 0, threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(number,)) for number in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        wait_until(lambda: self.answers > 20 or self.faults, what="traffic")
        return self

    def _run(self, number):
        try:
            with self.gateway.connect() as wire:
                while not self.ends.is_set():
                    answer = wire.request("GET", f"/v1/books/t{number}")
                    assert (answer.status, answer.json()["id"]) == (200, f"t{number}"), answer
                    assert not answer.closes
                    self.answers += 1
        except Exception as fault:
            self.faults.append(fault)

    def goes_on(self):
        before = self.answers
        wait_until(lambda: self.answers > before + 20 or self.faults, what="traffic")

    def __exit__(self, *_):
        self.ends.set()
        for thread in self.threads:
            thread.join(60)
        assert not self.faults, self.faults[:3]


def side_of(wire, rest, rpc):
    """Which service answers the next request on this connection."""
    def count(found):
        return len([one for one in found if "probe" in str(getattr(one, "target", getattr(one, "message", "")))])

    before = count(rest.requests), count(rpc.calls)
    answer = wire.request("GET", "/v1/books/probe")
    assert (answer.status, answer.json()) == (200, book("probe"))
    after = count(rest.requests), count(rpc.calls)
    return {(1, 0): "rest", (0, 1): "rpc"}[after[0] - before[0], after[1] - before[1]]


def by_command(gateway, stage):
    result = run("stage", PROCEDURE, stage, "--admin", gateway.admin_url, "--reason", "a test")
    assert result.returncode == 0, result.stderr
    assert stage in result.stdout


def by_put(gateway, stage):
    route = gateway.set_stage(PROCEDURE, stage).json()
    assert (route["procedure"], route["stage"]) == (PROCEDURE, stage)


@pytest.mark.parametrize("flip", [by_command, by_put])
def test_at_run_time(start, configuration, rest, rpc, flip):
    gateway = start(configuration())
    with gateway.connect() as wire, Traffic(gateway) as traffic:
        assert side_of(wire, rest, rpc) == "rest"
        for stage in ("rpc", "rest", "rpc"):
            flip(gateway, stage)
            assert side_of(wire, rest, rpc) == stage
            traffic.goes_on()
        # Other methods stay.
        before = len(rest.requests)
        assert wire.request("GET", "/v1/files/a").json() == {"path": "a"}
        assert [one for one in rest.requests[before:] if one.target == "/v1/files/a"]


def reloads(gateway, outcome="ok"):
    return gateway.metric("turnout_config_reloads_total", outcome=outcome)


def by_file(gateway, setup):
    before = reloads(gateway)
    gateway.write(setup)
    wait_until(lambda: reloads(gateway) > before, what="a reload after a change of the file")


def by_file_in_place(gateway, setup):
    import json

    before = reloads(gateway)
    gateway.file.write_text(json.dumps(setup))
    wait_until(lambda: reloads(gateway) > before, what="a reload after a change of the file")


def by_signal(gateway, setup):
    by_file(gateway, setup)
    before = reloads(gateway)
    gateway.signal(signal.SIGHUP)
    wait_until(lambda: reloads(gateway) > before, what="a reload after SIGHUP")


def by_request(gateway, setup):
    gateway.write(setup)
    answer = gateway.admin("POST", "/reload")
    assert (answer.status, answer.json()["outcome"]) == (200, "ok")


@pytest.mark.parametrize("change", [by_file, by_file_in_place, by_signal, by_request])
def test_by_the_file(start, configuration, rest, rpc, change):
    gateway = start(configuration())
    with gateway.connect() as wire, Traffic(gateway) as traffic:
        for stage in ("rpc", "rest", "rpc"):
            change(gateway, configuration(stage=stage))
            assert side_of(wire, rest, rpc) == stage
            traffic.goes_on()
    assert reloads(gateway, "failed") == 0


def test_a_swapped_symbolic_link(start, configuration, tmp_path, rest, rpc):
    """As Kubernetes mounts a config map: a link to a folder is renamed over the old one."""
    import json

    for stage in ("rest", "rpc"):
        (tmp_path / stage).mkdir()
        (tmp_path / stage / "turnout.yaml").write_text(json.dumps(configuration(stage=stage)))
    (tmp_path / "data").symlink_to("rest")
    gateway = start(configuration())
    gateway.file.unlink()
    gateway.file.symlink_to(tmp_path / "data" / "turnout.yaml")
    gateway.signal(signal.SIGHUP)
    wait_until(lambda: reloads(gateway) >= 1)
    with gateway.connect() as wire:
        assert side_of(wire, rest, rpc) == "rest"
        (tmp_path / "new").symlink_to("rpc")
        os.replace(tmp_path / "new", tmp_path / "data")
        wait_until(lambda: side_of(wire, rest, rpc) == "rpc", what="the file behind the new link")


def test_a_request_in_flight_keeps_its_side(start, configuration, rest, rpc):
    gateway = start(configuration())
    release = threading.Event()

    def slow(request):
        release.wait(30)
        return Reply.json({**book("slow"), "title": "from rest"})

    rest.answers(slow)
    with gateway.connect() as running, gateway.connect() as other:
        running.send(request_bytes("GET", "/v1/books/slow"))
        rest.wait_for(1)
        by_put(gateway, "rpc")
        by_request(gateway, configuration(stage="rpc"))
        assert other.request("GET", "/v1/books/b2").json() == book("b2")
        release.set()
        answer = running.answer()
        assert (answer.status, answer.json()["title"]) == (200, "from rest")
        assert not answer.closes
        assert running.request("GET", "/v1/books/b3").json() == book("b3")
    assert [call.message.id for call in rpc.calls] == ["b2", "b3"]
    assert len(rest.requests) == 1


def test_a_pipelined_request_follows_the_flip(start, configuration, rest, rpc):
    """The second one came in before the flip, and is looked at after it."""
    gateway = start(configuration())
    release = threading.Event()

    def slow(request):
        release.wait(30)
        return Reply.json(book("b1"))

    rest.answers(slow)
    with gateway.connect() as wire:
        wire.send(request_bytes("GET", "/v1/books/b1") + request_bytes("GET", "/v1/books/b2"))
        rest.wait_for(1)
        by_put(gateway, "rpc")
        release.set()
        assert [wire.answer().json()["id"], wire.answer().json()["id"]] == ["b1", "b2"]
    assert (len(rest.requests), rpc.only().message.id) == (1, "b2")


def test_a_stage_set_at_run_time_outlives_a_reload_that_says_nothing_new(start, configuration, rest, rpc):
    gateway = start(configuration())
    with gateway.connect() as wire:
        by_put(gateway, "rpc")
        by_request(gateway, configuration(drain="29s"))
        assert side_of(wire, rest, rpc) == "rpc"
        routes = {route["procedure"]: route for route in gateway.admin("GET", "/routes").json()["routes"]}
        assert (routes[PROCEDURE]["stage"], routes[PROCEDURE]["configured_stage"]) == ("rpc", "rest")


def test_a_method_overrides_its_service(start, configuration, rest, rpc):
    gateway = start(configuration(stage="rest", methods={"GetFile": {"stage": "rpc"}}))
    with gateway.connect() as wire:
        assert side_of(wire, rest, rpc) == "rest"
        wire.request("GET", "/v1/files/a")
    assert rpc.only().method == "get_file"


@pytest.mark.parametrize(
    "procedure, stage, words",
    [
        (f"{SERVICE}/GetBoook", "rpc", f"did you mean {SERVICE}/GetBook?"),
        ("Library/getbook", "rpc", f"did you mean {SERVICE}/GetBook?"),
        ("other.v1.Other/Nothing", "rpc", "GET /routes lists all"),
        (f"{SERVICE}/GetBook", "canary", ""),
    ],
)
def test_a_flip_that_cannot_be(start, configuration, rest, rpc, procedure, stage, words):
    gateway = start(configuration())
    result = run("stage", procedure, stage, "--admin", gateway.admin_url)
    assert result.returncode == 1
    assert len(result.stderr.strip().splitlines()) == 1 and words in result.stderr
    with gateway.connect() as wire:
        assert side_of(wire, rest, rpc) == "rest"


def test_a_side_without_an_upstream_cannot_be_chosen(start, configuration):
    setup = configuration()
    del setup["services"][SERVICE]["rpc"]
    gateway = start(setup)
    answer = gateway.admin("PUT", f"/routes/{PROCEDURE}/stage", {"stage": "rpc"})
    assert answer.status == 400 and "error" in answer.json()


def stage_of(gateway, method):
    return gateway.admin("GET", f"/routes/{SERVICE}/{method}").json()["stage"]


def test_all_routes_of_a_service_at_once(start, configuration, rest, rpc):
    """What somebody wants at three in the morning."""
    gateway = start(configuration(stage="rpc", methods={"GetFile": {"stage": "rest"}, "ListBooks": {"stage": "shadow"}}))
    back = ("stage", f"{SERVICE}/*", "rest", "--admin", gateway.admin_url, "--reason", "errors")
    result = run(*back)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    count = len(gateway.admin("GET", "/routes").json()["routes"])
    assert lines[0] == f"{count} routes of {SERVICE}, {count - 1} to change"
    assert "  GetBook: rpc -> rest" in lines and "  ListBooks: shadow -> rest" in lines
    assert "  GetFile: rest already" in lines and f"{SERVICE}/GetBook: rest" in lines
    assert {route["stage"] for route in gateway.admin("GET", "/routes").json()["routes"]} == {"rest"}
    history = gateway.admin("GET", f"/routes/{PROCEDURE}").json()["history"]
    assert history[0]["reason"] == "errors"
    # What is done already is not done again.
    assert run(*back).stdout.splitlines()[0] == f"{count} routes of {SERVICE}, 0 to change"
    cleared = run("stage", f"{SERVICE}/*", "--clear", "--admin", gateway.admin_url)
    assert cleared.returncode == 0 and "  GetFile: rest already" in cleared.stdout
    assert [stage_of(gateway, method) for method in ("GetBook", "ListBooks", "GetFile")] == ["rpc", "shadow", "rest"]


def test_a_route_that_cannot_does_not_keep_the_others(start, configuration, rest, rpc):
    """Nothing is bound to REST of one method: it cannot be in a stage in which the old side answers."""
    setup = configuration(stage="rpc", methods={"GetFile": {"rest": None}})
    setup["services"][SERVICE]["methods"]["GetBook"] = {"rest": "legacy"}
    del setup["services"][SERVICE]["rest"], setup["services"][SERVICE]["methods"]["GetFile"]
    gateway = start(setup)
    result = run("stage", f"{SERVICE}/*", "rest", "--admin", gateway.admin_url)
    assert result.returncode == 1 and f"{SERVICE}/GetBook: rest\n" in result.stdout
    assert stage_of(gateway, "GetBook") == "rest" and stage_of(gateway, "GetFile") == "rpc"
    assert re.search(r"turnout: \d+ of \d+ routes failed: .*GetFile", result.stderr)


def test_a_service_that_is_not_there(start, configuration, rest, rpc):
    gateway = start(configuration())
    result = run("stage", "library.v1.Libary/*", "rest", "--admin", gateway.admin_url)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"turnout: there is no route of library.v1.Libary; did you mean {SERVICE}/*?\n"


def test_a_route_without_a_ramp_is_not_held(start, configuration, rest, rpc):
    gateway = start(configuration())
    for more in ((), ("--off",)):
        result = run("hold", PROCEDURE, *more, "--admin", gateway.admin_url)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == f"turnout: {PROCEDURE} has no ramp: there is nothing to hold\n"
