"""What a reload does besides stages: faults leave the old one serving, listeners come and go, nothing is dropped."""

import re
import socket
import threading

import pytest

from support.gateway import run, wait_until
from support.ports import free_port
from support.rest_service import Reply, book
from support.schema import SERVICE
from support.wire import Wire, request_bytes


def reloads(gateway, outcome):
    return gateway.metric("turnout_config_reloads_total", outcome=outcome)


BAD = {
    "not YAML": "listeners: [",
    "an unknown key": "listeners:\n  - address: 127.0.0.1:0\n    adress: 1\n",
    "a missing upstream": "listeners:\n  - address: 127.0.0.1:0\nfallback: nobody\n",
    "a missing schema": (
        "listeners:\n  - address: 127.0.0.1:0\nschema:\n  - descriptor_set: nowhere.binpb\n"
        "upstreams:\n  a: { protocol: rest, endpoints: ['http://127.0.0.1:1'] }\n"
        "services:\n  library.v1.Library: { rest: a }\n"),
    "empty": "",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_a_bad_file_leaves_the_old_one_serving(start, configuration, rest, text):
    gateway = start(configuration())
    with gateway.connect() as wire:
        assert wire.request("GET", "/v1/books/b1").json() == book("b1")
        gateway.write(text)
        wait_until(lambda: reloads(gateway, "failed") >= 1, what="a failed reload")
        assert gateway.metric("turnout_config_last_reload_successful") == 0
        answer = gateway.admin("POST", "/reload")
        assert (answer.status, answer.json()["outcome"]) == (422, "failed")
        for error in answer.json()["errors"]:
            assert error.keys() >= {"file", "line", "column", "message"}
        wait_until(lambda: re.search(r"turnout\.yaml:\d+:\d+", gateway.log()), what="the fault in the log")
        assert wire.request("GET", "/v1/books/b2").json() == book("b2")
        check = run("check", "--config", gateway.file)
        assert check.returncode == 1
        gateway.write(configuration(stage="rpc"))
        wait_until(lambda: reloads(gateway, "ok") >= 1, what="a good reload")
        assert gateway.metric("turnout_config_last_reload_successful") == 1
        assert wire.request("GET", "/v1/books/b3").json() == book("b3")
    assert len(rest.requests) == 2


def test_who_looks_at_the_stages_sees_that_the_file_does_not_serve(start, configuration, rest):
    """Hours after a bad deploy, when no counter rises any more."""
    gateway = start(configuration())
    says = "warning: the configuration has faults, and the one before it serves"
    assert says not in run("status", "--admin", gateway.admin_url).stdout
    gateway.write("listeners: []")
    assert gateway.admin("POST", "/reload").status == 422
    assert says in run("status", "--admin", gateway.admin_url).stdout
    gateway.write(configuration())
    assert gateway.admin("POST", "/reload").status == 200
    assert says not in run("status", "--admin", gateway.admin_url).stdout


def test_a_changed_descriptor_set_is_a_reason_to_reload(start, configuration, schema, tmp_path):
    copy = tmp_path / "copy.binpb"
    copy.write_bytes(schema.descriptors.read_bytes())
    setup = configuration()
    setup["schema"] = [{"descriptor_set": str(copy)}]
    gateway = start(setup)
    copy.write_bytes(b"not a descriptor set")
    wait_until(lambda: reloads(gateway, "failed") >= 1, what="a failed reload")
    wait_until(lambda: "copy.binpb" in gateway.log(), what="the fault in the log")
    assert gateway.fetch("GET", "/v1/books/b1").status == 200
    copy.write_bytes(schema.descriptors.read_bytes())
    wait_until(lambda: reloads(gateway, "ok") >= 1, what="a good reload")


def test_listeners_that_take_any_free_port_have_one_each_and_keep_it(start, configuration, rest):
    """Each with the rules of its own place in the list."""
    kinds = ["x", "standard", "off"]

    def told(address):
        rest.requests.clear()
        with Wire(address) as wire:
            assert wire.request("GET", "/v1/books/b1").status == 200
        request = rest.only()
        return (bool(request["x-forwarded-for"]), bool(request["forwarded"]))

    setup = configuration(listeners=[{"address": "127.0.0.1:0", "forwarded": kind} for kind in kinds])
    gateway = start(setup)
    assert len(set(gateway.addresses)) == 3
    expected = [(True, False), (False, True), (False, False)]
    assert [told(address) for address in gateway.addresses] == expected
    gateway.write(setup | {"via": True})
    assert gateway.admin("POST", "/reload").status == 200
    assert [told(address) for address in gateway.addresses] == expected
    gateway.write(setup | {"listeners": setup["listeners"][:2]})
    assert gateway.admin("POST", "/reload").status == 200
    assert [told(address) for address in gateway.addresses[:2]] == expected[:2]
    with pytest.raises(OSError):
        Wire(gateway.addresses[2])


def test_listeners_come_and_go_while_a_slow_request_runs(start, configuration, rest):
    old, new = free_port(), free_port()
    setup = configuration()
    setup["listeners"].append({"address": f"127.0.0.1:{old}"})
    gateway = start(setup)
    release = threading.Event()

    def slow(request):
        release.wait(60)
        return Reply.json(book("slow"))

    rest.answers(slow)
    with Wire(("127.0.0.1", old)) as running, gateway.connect() as staying:
        running.send(request_bytes("GET", "/v1/books/slow"))
        rest.wait_for(1)
        setup["listeners"][1] = {"address": f"127.0.0.1:{new}"}
        gateway.write(setup)
        assert gateway.admin("POST", "/reload").status == 200
        rest.answers(Reply.json(book("b1")))

        def refused():
            try:
                Wire(("127.0.0.1", old)).close()
            except ConnectionRefusedError:
                return True

        wait_until(refused, what="the end of the old listener")
        with Wire(("127.0.0.1", new)) as fresh:
            assert fresh.request("GET", "/v1/books/b1").status == 200
        assert staying.request("GET", "/v1/books/b1").status == 200
        release.set()
        assert running.answer().json() == book("slow")


def test_a_listener_whose_port_is_taken_fails_the_reload_only(start, configuration, rest):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        setup = configuration()
        gateway = start(setup)
        setup["listeners"].append({"address": "127.0.0.1:%d" % taken.getsockname()[1]})
        setup["services"][SERVICE]["stage"] = "rpc"
        gateway.write(setup)
        answer = gateway.admin("POST", "/reload")
        assert answer.status == 422, answer
        assert gateway.fetch("GET", "/v1/books/b1").status == 200
        assert len(rest.requests) == 1, "a reload that failed was half taken"


def test_an_upstream_moves(start, configuration, rest, connect_service):
    """New requests go to the new endpoint, a running one ends at the old."""
    from support.rest_service import RESTService

    other = RESTService()
    gateway = start(configuration())
    release = threading.Event()

    def slow(request):
        release.wait(60)
        return Reply.json(book("slow"))

    rest.answers(slow)
    with gateway.connect() as running, gateway.connect() as wire:
        running.send(request_bytes("GET", "/v1/books/slow"))
        rest.wait_for(1)
        setup = configuration()
        setup["upstreams"]["legacy"]["endpoints"] = [other.url]
        gateway.write(setup)
        assert gateway.admin("POST", "/reload").status == 200
        assert wire.request("GET", "/v1/books/b1").status == 200
        assert (len(rest.requests), len(other.requests)) == (1, 1)
        release.set()
        assert running.answer().json() == book("slow")


def test_many_reloads_under_load(start, configuration, rest, rpc):
    from test_stages import Traffic

    gateway = start(configuration())
    with Traffic(gateway) as traffic:
        for number in range(20):
            gateway.write(configuration(stage="rpc" if number % 2 else "rest", drain=f"{number + 1}s"))
            assert gateway.admin("POST", "/reload").status == 200
        traffic.goes_on()
    assert reloads(gateway, "failed") == 0
