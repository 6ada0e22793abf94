"""Signals that come before the start is done, and the very end of the process."""

import json
import os
import re
import signal
import subprocess

import pytest

from support.gateway import BINARY, Gateway, wait_until

LARGE = 'syntax = "proto3";\npackage large;\n' + "".join(
    f"message M{number} {{ {' '.join(f'string field_{field} = {field};' for field in range(1, 30))} }}\n"
    for number in range(1500))


def catches(process, number):
    """Whether a signal has a handler (proc(5), SigCgt)."""
    assert process.poll() is None, "it ended by itself"
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(r"SigCgt:\s+(\w+)", status.read())[1], 16) >> (number - 1) & 1


def cpu(process):
    """Ticks of a processor that it has used, of 100 in a second (proc(5))."""
    with open(f"/proc/{process.pid}/stat") as stat:
        return sum(map(int, stat.read().rpartition(")")[2].split()[11:13]))


@pytest.fixture
def slow(configuration, tmp_path):
    """A configuration whose schema takes a while to be read."""
    (tmp_path / "large.proto").write_text(LARGE)
    setup = configuration()
    setup["schema"].append({"protos": ["large.proto"], "import_paths": ["."]})
    (tmp_path / "turnout.yaml").write_text(json.dumps(setup))
    return tmp_path / "turnout.yaml"


@pytest.fixture
def begun():
    """Starts a command, and sends a signal as soon as that is not the end of the process."""
    processes = []

    def begin(folder, number, *arguments):
        log = folder / "stderr"
        with open(folder / "stdout", "wb") as out, open(log, "wb") as err:
            process = subprocess.Popen([BINARY, *arguments], stdout=out, stderr=err, cwd=folder)
        processes.append(process)
        # Without a pause: the start is short.
        while not catches(process, number):
            pass
        process.send_signal(number)
        return process, log

    yield begin
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_start_that_is_to_end_ends_well(slow, begun, number):
    # On a busy machine the start may be done before.
    for _ in range(20):
        process, log = begun(slow.parent, number, "serve", "--config", slow)
        assert process.wait(60) == 0
        text = log.read_text()
        assert text.splitlines()[-1].endswith("info: ended")
        if f"{number.name} came before the start was done" in text:
            return
    raise AssertionError("no signal came before the start was done")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_asks_twice_does_not_wait_for_the_start(slow, begun, number):
    """A start that hangs can be ended."""
    for _ in range(20):
        process, log = begun(slow.parent, number, "serve", "--config", slow)
        # Signals that wait together are one: the second is sent until it counts.
        while process.poll() is None:
            process.send_signal(number)
        if process.returncode == 128 + number:
            assert "listening on" not in log.read_text()
            return
    raise AssertionError("no second signal came before the start was done")


def test_other_signals_wait_for_the_start(slow, begun):
    process, log = begun(slow.parent, signal.SIGHUP, "serve", "--config", slow)
    process.send_signal(signal.SIGUSR1)
    wait_until(lambda: "reloaded (SIGHUP)" in log.read_text(), what="the reload")
    assert log.read_text().index("listening on") < log.read_text().index("reloaded (SIGHUP)")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def test_the_demo_leaves_nothing_however_early_it_ends(begun, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    process, log = begun(tmp_path, signal.SIGTERM, "demo")
    assert process.wait(60) == 0, log.read_text()
    assert os.listdir(tmp_path / "temporary") == []


def test_what_libraries_do_at_exit_does_not_meet_what_still_runs(configuration, tmp_path):
    """A reload may run on when the process ends. A library that cleans up would take from it what it uses."""
    source, library = tmp_path / "cleaning.c", tmp_path / "cleaning.so"
    source.write_text("#include <stdlib.h>\n__attribute__((destructor)) static void clean(void) { abort(); }\n")
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    except FileNotFoundError:
        pytest.skip("there is no C compiler")
    # Of the demonstration: another program does what it must not.
    assert subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": str(library)}).returncode == -signal.SIGABRT
    gateway = Gateway(tmp_path / "gateway", configuration(), environment={"LD_PRELOAD": str(library)})
    assert gateway.stop() == 0
    assert gateway.log().splitlines()[-1].endswith("info: ended")


def test_an_end_in_the_middle_of_a_reload(start, configuration, tmp_path):
    (tmp_path / "large.proto").write_text(LARGE)
    setup = configuration()
    for _ in range(3):
        gateway = start(setup)
        large = json.loads(json.dumps(setup))
        large["schema"].append({"protos": ["large.proto"], "import_paths": [str(tmp_path)]})
        gateway.write(large)
        before = cpu(gateway.process)
        gateway.signal(signal.SIGHUP)
        wait_until(lambda: cpu(gateway.process) > before + 2, what="a reload that works")
        assert gateway.stop() == 0
