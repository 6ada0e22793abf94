"""Logs and files on a disk that is full: said once, counted, and once more when it is over."""

import json
import os
import signal

import pytest

from support.gateway import wait_until
from support.schema import SERVICE

FULL = "/dev/full"
pytestmark = pytest.mark.skipif(not os.path.exists(FULL), reason="there is no /dev/full")


def test_an_access_log_that_cannot_be_written(start, configuration, rest, tmp_path):
    path = tmp_path / "access.log"
    path.symlink_to(FULL)
    gateway = start(configuration(interceptors=[{"access_log": {"format": "json", "path": str(path)}}]))

    def lost():
        return gateway.metric("turnout_access_log_dropped_lines", path=str(path))

    for count in range(1, 4):
        assert gateway.fetch("GET", "/v1/books/b1").status == 200
        wait_until(lambda: lost() == count, what="the count of a lost line")
    said = [line for line in gateway.log().splitlines() if "access.log" in line]
    assert len(said) == 1 and "error: the access log" in said[0] and "no space left" in said[0].lower(), said
    path.unlink()
    gateway.signal(signal.SIGUSR1)
    wait_until(path.exists, what="a new file")

    def works():
        assert gateway.fetch("GET", "/v1/books/b1").status == 200
        return "can be written again; 3 lines were lost" in gateway.log()

    wait_until(works, what="the word that it works")
    assert gateway.log().count("access.log") == 2
    for line in path.read_text().splitlines():
        json.loads(line)


def test_an_audit_log_that_cannot_be_written(start, configuration, tmp_path):
    path = tmp_path / "audit.log"
    path.symlink_to(FULL)
    gateway = start(configuration(audit={"path": str(path)}))
    for stage in ("rpc", "rest"):
        gateway.set_stage(f"{SERVICE}/GetBook", stage)
    wait_until(lambda: gateway.metric("turnout_state_errors_total", operation="audit") == 1, what="the count")
    wait_until(lambda: gateway.log().count("audit.log") == 1, what="the word")


def test_a_change_that_cannot_be_saved_says_so_and_is_saved_later(start, configuration, tmp_path):
    folder = tmp_path / "state"
    gateway = start(configuration(state={"file": str(folder / "turnout.state")}))
    answer = gateway.set_stage(f"{SERVICE}/GetBook", "rpc").json()
    assert (answer["stage"], answer["saved"]) == ("rpc", False)
    assert "turnout.state could not be written" in gateway.log()
    folder.mkdir()
    wait_until((folder / "turnout.state").exists, what="the file")
    answer = gateway.set_stage(f"{SERVICE}/GetBook", "rest").json()
    assert (answer["stage"], answer["saved"]) == ("rest", True)
    assert "saved" not in gateway.admin("GET", f"/routes/{SERVICE}/GetBook").json()
