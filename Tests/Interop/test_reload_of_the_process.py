"""What a reload takes over of the process's own keys, and which wait for a restart."""

import pytest

from support.gateway import wait_until


def reload(gateway, token=None):
    fields = [("Authorization", f"Bearer {token}")] if token else []
    return gateway.admin("POST", "/reload", {}, fields)


def pending(gateway):
    return {dict(pairs)["key"] for (name, pairs), value in gateway.metrics().items()
            if name == "turnout_restart_pending" and value}


def test_the_form_of_the_log_changes_with_a_reload(start, configuration):
    gateway = start(configuration(log="text"))
    gateway.write(configuration(log="json"))
    assert reload(gateway).json() == {"outcome": "ok"}
    wait_until(lambda: '"message":"reloaded (' in gateway.log(), what="a line of JSON")
    before = gateway.log()
    gateway.write(configuration(log="text"))
    assert reload(gateway).json() == {"outcome": "ok"}
    wait_until(lambda: " info: reloaded (" in gateway.log()[len(before):], what="a line of text")
    assert pending(gateway) == set()


def test_the_admin_token_changes_with_a_reload(start, configuration):
    def admin(token):
        return configuration(admin={"address": "127.0.0.1:0", **({"token": token} if token else {})})

    gateway = start(admin("first"))
    assert reload(gateway).status == 401
    gateway.write(admin("second"))
    wait_until(lambda: reload(gateway, "second").status == 200, what="the new token")
    assert reload(gateway, "first").status == 401
    gateway.write(admin(None))
    wait_until(lambda: reload(gateway).status == 200, what="no token")
    gateway.write(admin("third"))
    wait_until(lambda: reload(gateway, "third").status == 200, what="a token again")
    assert reload(gateway).status == reload(gateway, "second").status == 401
    assert pending(gateway) == set()
    for token in ("first", "second", "third"):
        assert token not in gateway.log()


def test_a_token_stays_while_the_endpoint_waits_to_listen_elsewhere(start, configuration):
    """What is no token for this machine alone must open no other address."""
    gateway = start(configuration(admin={"address": "127.0.0.2:0", "token": "secret"}))
    gateway.write(configuration(admin={"address": "127.0.0.1:0"}))
    wait_until(lambda: reload(gateway, "secret").status == 200, what="the reload")
    assert pending(gateway) == {"admin"}
    assert reload(gateway).status == 401


@pytest.mark.parametrize("key, top", [
    ("workers", {"workers": 3}), ("admin", {"admin": {"address": "127.0.0.3:0"}}), ("probes", {"probes": {"address": "127.0.0.1:0"}})])
def test_what_waits_for_a_restart_is_said_until_it_is_so(start, configuration, key, top):
    gateway = start(configuration())
    assert pending(gateway) == set()
    gateway.write(configuration(**top))
    # It is not forgotten by the next reload.
    for timeout in ("3s", "4s"):
        gateway.write(configuration(**top, service={"timeout": timeout}))
        answer = reload(gateway).json()
        assert answer["outcome"] == "ok"
        assert [warning["message"] for warning in answer["warnings"]] == [f"{key} changes with the next start only"]
        assert pending(gateway) == {key}
    assert "warning" in gateway.log() and f"{key} changes with the next start only" in gateway.log()
    gateway.write(configuration())
    assert reload(gateway).json() == {"outcome": "ok"}
    assert pending(gateway) == set()
