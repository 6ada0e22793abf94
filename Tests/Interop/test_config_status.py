"""Which configuration serves: its hash in metrics, logs and at the admin endpoint, its warnings, the last reload."""

import hashlib
import json
import re
import signal

import pytest

from support.gateway import wait_until
from support.schema import SERVICE
from support.wire import fetch


def config(gateway):
    answer = gateway.admin("GET", "/config")
    assert answer.status == 200, answer
    return answer.json()


def shown(gateway):
    """The hashes that a scrape has."""
    return [dict(pairs)["hash"] for (name, pairs), value in gateway.metrics().items()
            if name == "turnout_config_info" and value == 1]


def reload(gateway, setup):
    gateway.write(setup)
    return gateway.admin("POST", "/reload")


def logged(gateway, words):
    """The line of the log with these words: lines are written a little later."""
    return wait_until(
        lambda: next((line for line in gateway.log().splitlines() if words in line), None), what=words)


def test_equal_replicas_have_equal_hashes(start, configuration):
    """Wherever their files are."""
    one, other = start(configuration()), start(configuration())
    [hash] = shown(one)
    assert re.fullmatch("[0-9a-f]{16}", hash) and shown(other) == [hash]
    assert config(one)["hash"] == one.admin("GET", "/routes").json()["config"]["hash"] == hash
    assert logged(one, "info: configuration ").endswith(f" config={hash}")
    changed = configuration(drain="7s")
    assert reload(one, changed).status == 200
    [now] = shown(one)
    assert now != hash and config(one)["hash"] == now
    assert f"config={now}" in logged(one, "reloaded (")
    assert one.admin("GET", "/audit").json()["reloads"][0]["config"] == now
    assert shown(other) == [hash]
    assert reload(other, changed).status == 200 and shown(other) == [now]
    # Back, and no series of what was is left.
    for setup, expected in [(configuration(), hash), (changed, now), (configuration(), hash)]:
        assert reload(one, setup).status == 200 and shown(one) == [expected]
    assert sum(name == "turnout_config_info" for name, _ in one.metrics()) == 1


def test_a_configuration_that_is_refused_changes_no_hash(start, configuration):
    gateway = start(configuration())
    [hash] = shown(gateway)
    assert reload(gateway, {**configuration(), "nonsense": 1}).status == 422
    assert shown(gateway) == [hash] == [config(gateway)["hash"]]


def parts(folder):
    """All kinds of files that a configuration is made of, and the secrets that are none of it."""
    (folder / "routes").mkdir(parents=True)
    (folder / "part.proto").write_text('syntax = "proto3";\npackage part;\nmessage Part { string a = 1; }\n')
    (folder / "whole.proto").write_text('syntax = "proto3";\npackage whole;\nimport "part.proto";\nmessage Whole { part.Part part = 1; }\n')
    (folder / "api.yaml").write_text(
        f"type: google.api.Service\nhttp:\n  rules:\n  - selector: {SERVICE}.GetBook\n    get: /v2/books/{{id}}\n")
    (folder / "routes/one.yaml").write_text("limits: { header: 20KiB }\n")
    (folder / "token").write_text("first-secret\n")


@pytest.mark.parametrize("file, old, new, counts", [
    ("turnout.yaml", '"11s"', '"12s"', True), ("routes/one.yaml", "20KiB", "21KiB", True), ("api.yaml", "/v2/", "/v3/", True),
    ("whole.proto", "Part part = 1", "Part part = 2", True), ("part.proto", "string a", "bytes a", True),
    ("token", "first", "second", False)])
def test_it_is_of_all_files_but_for_secrets(start, configuration, tmp_path, file, old, new, counts):
    folder = tmp_path / "gateway0"
    parts(folder)
    setup = configuration(drain="11s", include=["routes/*.yaml"], admin={
        "address": "127.0.0.1:0", "token": "${file:token}"})
    setup["schema"] += [{"protos": ["whole.proto"], "import_paths": ["."]}, {"service_config": "api.yaml"}]
    gateway = start(setup)
    fields = [("Authorization", "Bearer first-secret")]
    before = config(gateway)["hash"]
    place = folder / file
    assert old in place.read_text()
    place.write_text(place.read_text().replace(old, new))
    # The watcher may have seen it before.
    wait_until(lambda: gateway.admin("POST", "/reload", {}, fields).status == 200 or gateway.admin(
        "POST", "/reload", {}, [("Authorization", "Bearer second-secret")]).status == 200, what="the reload")
    assert (config(gateway)["hash"] != before) == counts
    assert "secret" not in json.dumps(config(gateway))


def test_what_came_of_the_last_reload(start, configuration):
    gateway = start(configuration())
    first = config(gateway)
    assert (first["last_reload"], first["warnings"], first["restart_pending"], first["reload_pending"]) == (None, [], [], False)
    mark = gateway.admin("GET", "/routes").json()["config"]["revision"]
    faulty = {**configuration(), "nonsense": 1, "drian": "3s"}
    gateway.write(faulty)
    assert gateway.admin("POST", "/reload", {}, [("User-Agent", "ops-script/7")]).status == 422
    now = config(gateway)
    last = now["last_reload"]
    assert (now["reload_pending"], last["outcome"], last["errors"]) == (True, "failed", 2)
    assert [one["severity"] for one in last["diagnostics"]] == ["error", "error"]
    assert {re.search("`(nonsense|drian)`", one["message"])[1] for one in last["diagnostics"]} == {"nonsense", "drian"}
    assert all(one["file"].endswith("turnout.yaml") and one["line"] > 1 for one in last["diagnostics"])
    assert (now["hash"], now["since"]) == (first["hash"], first["since"])
    assert gateway.admin("GET", "/routes").json()["config"]["revision"] > mark
    gateway.write(configuration(workers=1))
    gateway.signal(signal.SIGHUP)
    now = wait_until(
        lambda: (found := config(gateway))["last_reload"]["outcome"] == "ok" and found, what="the reload")
    assert (now["restart_pending"], now["reload_pending"]) == (["workers"], False)
    assert now["last_reload"]["kind"] in ("signal", "file") and now["since"] > first["since"]
    assert any("workers changes with the next start" in one["message"] for one in now["last_reload"]["diagnostics"])


def test_warnings_of_what_serves_stay_until_they_are_mended(start, configuration):
    odd = configuration(include=["nothing-*.yaml"])
    gateway = start(odd)
    [warning] = config(gateway)["warnings"]
    assert "matches no file" in warning["message"] and warning["file"].endswith("turnout.yaml")
    assert reload(gateway, {**odd, "nonsense": 1}).status == 422
    assert config(gateway)["warnings"] == [warning]
    assert reload(gateway, configuration()).status == 200
    assert config(gateway)["warnings"] == []


def test_warnings_of_the_schema_outlast_a_renewal_of_keys(start, configuration, tmp_path):
    """Files of keys come in by themselves, and the schema is not read for them."""
    (tmp_path / "odd.proto").write_text(
        'syntax = "proto3";\npackage odd;\nmessage Odd { string a = 1 [json_name = "b"]; string b = 2 [json_name = "c"]; }\n')
    keys = tmp_path / "keys"
    keys.write_text(hashlib.sha256(b"one").hexdigest() + "\n")
    setup = configuration(interceptors=[{"api_key": {"keys_file": str(keys)}}])
    setup["schema"].append({"protos": ["odd.proto"], "import_paths": [str(tmp_path)]})
    gateway = start(setup)
    [warning] = config(gateway)["warnings"]
    assert "is the name of another field" in warning["message"]
    keys.write_text(hashlib.sha256(b"two").hexdigest() + "\n")
    logged(gateway, "keys and certificates were read anew")
    assert config(gateway)["warnings"] == [warning]


def test_who_may_not_read_the_routes_may_not_read_this(start, configuration):
    """A page whose name was turned to this machine."""
    gateway = start(configuration(admin={"address": "127.0.0.1:0", "token": "s3cret-token"}))
    stranger, token = ("Host", "pages.example.com"), ("Authorization", "Bearer s3cret-token")
    refused = [fetch(gateway.admin_address, "GET", path, [stranger]).status for path in ("/config", "/routes")]
    assert refused[0] == refused[1] and refused[0] in (401, 403)
    assert fetch(gateway.admin_address, "GET", "/config", [stranger, token]).status == 200
    assert gateway.admin("POST", "/config", {}, [token]).status == 405
