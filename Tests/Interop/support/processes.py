"""Programs beside the gateway."""

import subprocess


def end(process):
    """Asks a program to end, and makes it end when it does not."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
