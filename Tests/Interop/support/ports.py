"""Ports that nobody listens on."""

import socket


def free_port():
    """A port that is free now: for programs that cannot be told to take any, and for places where nobody is."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
