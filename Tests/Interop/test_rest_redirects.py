"""What an RPC caller is told when a REST backend points elsewhere: nobody follows, and the error says where to."""

import base64

import grpc
import pytest
from google.rpc.error_details_pb2 import Help
from google.rpc.status_pb2 import Status

from support.rest_service import Reply
from support.schema import SERVICE

CODES = {301: "failed_precondition", 302: "failed_precondition", 303: "unknown", 307: "failed_precondition",
         308: "failed_precondition"}
PLACE = "https://new.test/v2/books/b1?a=1"


def ask(gateway, fields=()):
    return gateway.fetch("POST", f"/{SERVICE}/GetBook", [("Content-Type", "application/json"), *fields], b'{"id":"b1"}')


@pytest.mark.parametrize("status, code", CODES.items())
def test_a_connect_caller_is_told_where_to(gateway_on_rest, rest, status, code):
    rest.answers(Reply(status, [("Location", PLACE), ("Content-Type", "text/html")], b"<html>moved"))
    answer = ask(gateway_on_rest)
    error = answer.json()
    assert (answer.status, error["code"]) == (400 if code == "failed_precondition" else 500, code)
    assert PLACE in error["message"] and str(status) in error["message"] and "html" not in error["message"]
    [detail] = error["details"]
    assert detail["type"] == "google.rpc.Help"
    value = detail["value"]
    [link] = Help.FromString(base64.b64decode(value + "=" * (-len(value) % 4))).links
    assert link.url == PLACE and link.description
    # As metadata too, as the backend said it.
    assert answer["location"] == PLACE
    assert len(rest.requests) == 1


@pytest.mark.parametrize("status, code", CODES.items())
def test_a_grpc_caller_is_told_where_to(gateway_on_rest, rest, status, code):
    rest.answers(Reply(status, [("Location", PLACE)]))
    with grpc.insecure_channel("%s:%d" % gateway_on_rest.address) as channel:
        with pytest.raises(grpc.RpcError) as caught:
            channel.unary_unary(f"/{SERVICE}/GetBook")(b"\x0a\x02b1", timeout=20)
    assert caught.value.code().name.lower() == code
    assert PLACE in caught.value.details()
    details = dict(caught.value.trailing_metadata())["grpc-status-details-bin"]
    [detail] = Status.FromString(details).details
    assert detail.type_url == "type.googleapis.com/google.rpc.Help"
    assert Help.FromString(detail.value).links[0].url == PLACE


def test_a_grpc_web_caller_is_told_where_to(gateway_on_rest, rest):
    rest.answers(Reply(308, [("Location", PLACE)]))
    answer = gateway_on_rest.fetch("POST", f"/{SERVICE}/GetBook", [
        ("Content-Type", "application/grpc-web+proto")], b"\0\0\0\0\x04\x0a\x02b1")
    said = answer.body.decode("latin-1") + "".join(f"{name}: {value}\n" for name, value in answer.fields)
    assert "grpc-status: 9" in said and "https://new.test/v2/books/b1" in said


@pytest.mark.parametrize("place", ["/v2/books/b1", "//new.test/b1", "b1"])
def test_a_place_that_is_no_whole_url_is_in_the_message_alone(gateway_on_rest, rest, place):
    rest.answers(Reply(302, [("Location", place)]))
    error = ask(gateway_on_rest).json()
    assert f"points to {place}," in error["message"] and not error.get("details")


@pytest.mark.parametrize("fields", [[], [("Location", "")], [("Location", "https://x.test/" + "a" * 3000)], [("Location", b"\xff\xfe".decode("latin-1"))]],
                         ids=["none", "empty", "long", "no text"])
def test_a_redirect_to_nowhere_that_can_be_said(gateway_on_rest, rest, fields):
    rest.answers(Reply(301, fields))
    answer = ask(gateway_on_rest)
    assert (answer.status, answer.json()["code"]) == (400, "failed_precondition")
    assert "301 Moved Permanently" in answer.json()["message"] and len(answer.json()["message"]) < 300


def test_not_modified_is_asked_for_by_nobody(gateway_on_rest, rest):
    """A call has no place for it: the conditions that ask for it do not go on, and a backend that says so has a fault."""
    rest.answers(lambda request: Reply(304) if request["if-modified-since"] or request["if-none-match"] else Reply.json({"id": "b1"}))
    conditions = [("If-None-Match", '"a"'), ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT")]
    assert ask(gateway_on_rest, conditions).json()["id"] == "b1"
    rest.answers(Reply(304))
    answer = ask(gateway_on_rest)
    assert (answer.status, answer.json()["code"]) == (500, "unknown")
    assert "304 Not Modified" in answer.json()["message"]


def test_a_redirect_is_no_failure_of_the_backend(start, configuration, rest, rpc):
    """For the guard and for `fallback`: as for REST callers, whom it is passed on to."""
    gateway = start(configuration(methods={"GetBook": {
        "stage": "canary", "canary": {"percent": "50%", "sticky_by": "header:x-user"}, "fallback": True}}))
    rest.answers(Reply(302, [("Location", PLACE)]))
    told = set()
    for number in range(12):
        answer = ask(gateway, [("X-User", f"user-{number}")])
        told.add(answer.status)
    assert told == {200, 400}
    assert gateway.metric("turnout_fallbacks_total") == 0
    answer = gateway.fetch("GET", "/v1/books/b1", [("X-User", next(
        f"user-{number}" for number in range(12) if ask(gateway, [("X-User", f"user-{number}")]).status == 400))])
    assert (answer.status, answer["location"]) == (302, PLACE)
