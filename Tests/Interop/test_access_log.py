"""The access log: a line a call, no secrets, reopened for rotation."""

import json
import os
import re
import signal
import threading
from urllib.parse import urlsplit

import pytest

from support.gateway import wait_until
from support.rest_service import Reply
from support.schema import SERVICE

JSON = [("Content-Type", "application/json")]


def lines_of(path, count):
    def lines():
        found = path.read_text().splitlines() if path.exists() else []
        return found if len(found) >= count else None

    return wait_until(lines, what=f"{count} lines in {path.name}")


def ask(gateway):
    """Calls of each kind, all of them with something that no log may have; on one connection, so that its loop writes them in order."""
    with gateway.connect() as wire:
        wire.request("GET", "/v1/books/secret-id?titleSize=3", [
            ("User-Agent", "tests/1 \"q\""), ("X-Request-Id", "r-1"), ("Authorization", "Bearer secret-token")])
        wire.request("GET", f"/{SERVICE}/GetBook?connect=v1&encoding=json&message=%7B%22id%22%3A%22secret-id%22%7D")
        wire.request("POST", f"/{SERVICE}/GetBook", JSON, b'{"id": "secret-id"}')
        wire.request("GET", "/unmatched?key=secret-value", [("Cookie", "secret-cookie")])
        wire.request("GET", "/v1/books/secret-id?titleSize=secret-value")


def test_json(start, configuration, rest, rpc, connect_service, rest_service):
    gateway = start(configuration(fallback="legacy", methods={"GetBook": {"stage": "rpc"}}))
    ask(gateway)
    text = gateway.access_log(5)
    assert len(text) == 5
    assert "secret" not in "".join(text)
    first, by_get, by_post, unmatched, refused = map(json.loads, text)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", first["time"])
    assert (first["client"], first["method"], first["route"]) == ("127.0.0.1", "GET", "/v1/books/{id}")
    assert (first["face"], first["stage"], first["side"], first["upstream"]) == ("rest", "rpc", "rpc", "content")
    assert (first["status"], first["code"]) == (200, "ok")
    assert (first["user_agent"], first["request_id"]) == ('tests/1 "q"', "r-1")
    assert first["duration_ms"] >= 0 and first["sent"] > 0
    for line in (by_get, by_post):
        assert (line["face"], line["route"]) == ("connect", f"/{SERVICE}/GetBook")
    assert by_post["received"] == len(b'{"id": "secret-id"}')
    assert (unmatched["path"], unmatched["upstream"], unmatched["status"]) == ("/unmatched", "legacy", 404)
    assert (refused["status"], refused["code"], refused["side"]) == (400, "invalid_argument", "rpc")
    # Which of an upstream's servers it was.
    assert [line.get("endpoint") for line in (first, by_post, unmatched, refused)] == [
        urlsplit(connect_service.url).netloc, urlsplit(connect_service.url).netloc, urlsplit(rest_service.url).netloc, None]


def test_the_version_of_an_app_that_fails(start, configuration, rest):
    """Errors of one version are found by the line, for no metric has a label that clients choose."""
    gateway = start(configuration(callers={"version_header": "X-App-Version"}))
    rest.answers(Reply(500, body=b"x"))
    gateway.fetch("GET", "/v1/books/b1", [("Host", "h"), ("X-App-Version", "5.1.0")])
    gateway.fetch("GET", "/v1/books/b1")
    lines = [json.loads(line) for line in gateway.access_log(2)]
    # Each of the two may have been another loop's, and in the log first.
    assert {line.get("app_version") for line in lines} == {"5.1.0", None}


def test_what_a_late_call_waited_for(start, configuration, rest, rest_service):
    release = threading.Event()
    rest.answers(lambda request: release.wait(20) and Reply(200))
    gateway = start(configuration(service={"timeout": "300ms"}))
    assert gateway.fetch("GET", "/v1/books/b1").status == 504
    release.set()
    (line,) = map(json.loads, gateway.access_log(1))
    assert line["detail"] == f"legacy ({urlsplit(rest_service.url).netloc}): it had not answered"


def test_text(start, configuration, rest, rpc):
    gateway = start(configuration(
        fallback="legacy", methods={"GetBook": {"stage": "rpc"}}, interceptors=[{"access_log": {"format": "text"}}]))
    ask(gateway)
    text = gateway.access_log(5)
    assert len(text) == 5
    assert "secret" not in "".join(text)
    assert "/v1/books/{id}" in text[0] and " 200 " in text[0] and "rest" in text[0]


@pytest.mark.parametrize("form", ["json", "text"])
def test_control_bytes_cannot_make_a_line(start, configuration, rest, form):
    gateway = start(configuration(fallback="legacy", interceptors=[{"access_log": {"format": form}}]))
    rest.answers(Reply(200, body=b"x"))
    with gateway.connect() as wire:
        wire.request("GET", "/a%0Ab%1B[31m", [("User-Agent", "a\tb\xe9\xff \"}\\")])
        wire.request("GET", "/next")
    lines = gateway.access_log(2)
    assert len(lines) == 2
    assert not re.search(r"[\x00-\x1f\x7f]", "".join(lines))
    if form == "json":
        assert [json.loads(line)["path"] for line in lines][1] == "/next"


def test_a_file_is_reopened(start, configuration, tmp_path, rest):
    log = tmp_path / "access.log"
    gateway = start(configuration(interceptors=[{"access_log": {"format": "json", "path": str(log)}}]))
    gateway.fetch("GET", "/v1/books/b1")
    assert len(lines_of(log, 1)) == 1
    os.rename(log, tmp_path / "access.log.1")
    gateway.fetch("GET", "/v1/books/b2")
    assert len(lines_of(tmp_path / "access.log.1", 2)) == 2
    gateway.signal(signal.SIGUSR1)
    wait_until(log.exists, what="a new file")
    gateway.fetch("GET", "/v1/books/b3")
    assert len(lines_of(log, 1)) == 1
    assert len(lines_of(tmp_path / "access.log.1", 2)) == 2
    assert gateway.stdout.read_text() == ""


def test_nothing_is_lost_at_the_end(start, configuration):
    gateway = start(configuration())
    with gateway.connect() as wire:
        for _ in range(200):
            wire.request("GET", "/v1/books/b1")
    assert gateway.stop() == 0
    assert len(gateway.stdout.read_text().splitlines()) == 200


def test_other_logs_as_json(start, configuration):
    gateway = start(configuration(log="json"))
    gateway.fetch("GET", "/v1/books/b1")
    assert gateway.stop() == 0
    events = [json.loads(line) for line in gateway.log().splitlines()]
    assert all(event.keys() >= {"time", "level", "message"} for event in events)
    assert any("listening on" in event["message"] for event in events)
