"""Starts `turnout demo`, of which several at once would choose the same ports."""

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

from .gateway import BINARY, wait_until


def start_demo(folder, *options):
    """The process and the file of what it prints, once it has said how to end it.

    Until then it looks for ports that are free and takes them: in that time no other test does, of whatever process.
    """
    output = Path(folder) / "output"

    def text():
        return output.read_text(errors="replace")

    with open(Path(tempfile.gettempdir()) / f"turnout-demo-{os.getuid()}.lock", "w") as lock, open(output, "wb") as file:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen([BINARY, "demo", *options], stdout=file, stderr=subprocess.STDOUT, cwd=folder)
        try:
            wait_until(lambda: "End the demo" in text() or process.poll() is not None, seconds=60, what="the demo's guide")
            assert process.poll() is None, text()
        except BaseException:
            process.kill()
            process.wait()
            raise
    return process, output
