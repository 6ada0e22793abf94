"""Files whose opening waits for somebody else: refused, or waited for apart, so that later reloads and the end take place."""

import fcntl
import os
import signal

import pytest

from support.gateway import run, wait_until
from support.rest_service import book


def pipe(folder):
    path = folder / "pipe"
    os.mkfifo(path)
    return path


def as_configuration(gateway, setup, path):
    gateway.file.unlink()
    os.mkfifo(gateway.file)


def as_include(gateway, setup, path):
    gateway.write({**setup, "include": [str(path)]})


def as_value(gateway, setup, path):
    gateway.write({**setup, "drain": "${file:%s}" % path})


def as_descriptors(gateway, setup, path):
    gateway.write({**setup, "schema": [{"descriptor_set": str(path)}]})


def as_source(gateway, setup, path):
    gateway.write({**setup, "schema": [{"protos": [path.name], "import_paths": [str(path.parent)]}]})


def as_source_by_path(gateway, setup, path):
    gateway.write({**setup, "schema": [{"protos": [str(path)], "import_paths": [str(path.parent)]}]})


def as_certificate(gateway, setup, path):
    listener = {**setup["listeners"][0], "tls": {"certificate": str(path), "key": str(path)}}
    gateway.write({**setup, "listeners": [listener]})


def as_access_log(gateway, setup, path):
    gateway.write({**setup, "interceptors": [{"access_log": {"path": str(path)}}]})


def as_audit_log(gateway, setup, path):
    gateway.write({**setup, "audit": {"path": str(path)}})


PLACES = [as_configuration, as_include, as_value, as_descriptors, as_source, as_source_by_path, as_certificate,
          as_access_log, as_audit_log]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_pipe_in_place_of_a_file_is_an_error(start, configuration, rest, tmp_path, place):
    setup = configuration()
    gateway = start(setup)
    place(gateway, setup, pipe(tmp_path))
    answer = gateway.admin("POST", "/reload")
    assert answer.status == 422 and answer.json()["errors"], answer
    check = run("check", "--config", gateway.file)
    # Logs are only opened by who writes them.
    assert check.returncode == 1 or place in (as_access_log, as_audit_log), check
    if place is as_configuration:
        gateway.file.unlink()
    gateway.write(configuration(stage="rpc"))
    assert gateway.admin("POST", "/reload").json()["outcome"] == "ok"
    with gateway.connect() as wire:
        assert wire.request("GET", "/v1/books/b1").json() == book("b1")
    assert not rest.requests
    assert gateway.stop() == 0


def test_a_folder_of_the_kernel_as_includes_is_an_error(start, configuration):
    setup = configuration()
    gateway = start(setup)
    gateway.write({**setup, "include": ["/proc/self/*"]})
    assert gateway.admin("POST", "/reload").status == 422
    gateway.write(setup)
    assert gateway.admin("POST", "/reload").status == 200
    assert gateway.stop() == 0


@pytest.fixture
def held(tmp_path, schema):
    """A .proto file whose opening waits, as on a disk that does not answer, until its holder lets go (fcntl(2), leases)."""
    path = tmp_path / "held.proto"
    path.write_text('syntax = "proto3"; message Held {}')
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        pytest.skip(f"no leases on this file system: {error}")
    yield path
    os.close(descriptor)
    signal.signal(signal.SIGIO, before)


def test_the_end_does_not_wait_for_a_reload(start, configuration, held):
    setup = configuration()
    gateway = start(setup)
    gateway.write({**setup, "schema": [*setup["schema"], {"protos": [held.name], "import_paths": [str(held.parent)]}]})
    gateway.signal(signal.SIGHUP)

    def waits():
        tasks = os.listdir(f"/proc/{gateway.process.pid}/task")
        return any("lease" in open(f"/proc/{gateway.process.pid}/task/{task}/wchan").read() for task in tasks)

    try:
        wait_until(waits, seconds=10, what="a reload that waits")
    except AssertionError:
        pytest.skip("the kernel does not tell what threads wait for")
    assert gateway.admin("GET", "/readyz").status == 200
    assert gateway.fetch("GET", "/v1/books/b1").status == 200
    # The kernel breaks a lease after 45 s: whoever waits for that does not end in time.
    gateway.signal(signal.SIGTERM)
    assert gateway.process.wait(20) == 0
