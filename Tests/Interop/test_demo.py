"""`turnout demo` prints five curl lines that work when pasted."""

import os
import signal
import subprocess
import time

import pytest

from support.demo import start_demo
from support.gateway import wait_until


@pytest.fixture
def demo(tmp_path):
    process, output = start_demo(tmp_path)
    yield process, output
    if process.poll() is None:
        process.kill()
    process.wait()


def curls(text):
    """The lines that begin with curl, with what continues them."""
    lines, whole = text.replace("\\\n", " ").splitlines(), []
    for line in lines:
        if line.strip().removeprefix("$ ").startswith("curl "):
            whole.append(line.strip().removeprefix("$ "))
    return whole


def test_the_five_lines(demo, tmp_path):
    process, output = demo
    def ready():
        assert process.poll() is None, output.read_text()
        return len(curls(output.read_text())) >= 5

    wait_until(ready, what="five curl lines")
    lines = curls(output.read_text())
    assert len(lines) == 5, lines
    flips = 0
    for line in lines:
        result = subprocess.run(
            ["bash", "-c", line.replace("curl ", "curl -f -m 30 ", 1)], capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, (line, result.stderr, output.read_text())
        assert result.stdout.strip(), line
        flips += "/stage" in line
    assert flips == 1
    # Pasting all of it again works as well.
    for line in lines:
        subprocess.run(["bash", "-c", line.replace("curl ", "curl -sf -m 30 ", 1)], check=True, timeout=60,
                       capture_output=True)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert not [name for name in os.listdir(tmp_path) if name != "output"], "something stayed behind"
    time.sleep(0)
