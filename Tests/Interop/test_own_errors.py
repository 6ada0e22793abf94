"""Errors of an old API: in its own shape towards REST callers, and with status 200 from its own backend."""

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.rpc.error_details_pb2 import ErrorInfo
from protobuf.wkt import Any

from support.gateway import wait_until
from support.http2 import HTTP2Client
from support.rest_service import Reply, book
from support.schema import SERVICE

JSON = [("Content-Type", "application/json")]
SHAPE = {
    "success": False, "data": None, "list": [1, "{number}"],
    "error": {"code": "{CODE}", "http": "{status}", "text": "Sorry: {message} ({code})", "more": "{details}", "brace": "{ }"},
}


@pytest.fixture
def own(start, configuration):
    def own(stage="rpc", **errors):
        return start(configuration(stage=stage, service={"errors": errors}))
    return own


def test_an_error_has_the_shape_of_the_old_api(own):
    gateway = own(body=SHAPE)
    answer = gateway.fetch("GET", "/v1/books/b1?colour=red")
    assert (answer.status, answer["content-type"]) == (400, "application/json")
    body = answer.json()
    violations = body["error"].pop("more")[0]["fieldViolations"]
    assert violations == [{"field": "colour", "description": "unknown query parameter"}]
    assert body == {
        "success": False, "data": None, "list": [1, 3], "error": {
            "code": "INVALID_ARGUMENT", "http": 400, "brace": "{ }",
            "text": "Sorry: colour: unknown query parameter (invalid_argument)"}}


def test_what_a_message_holds_stays_a_text(own):
    gateway = own(body={"text": "a {message} b", "all": "{message}"})
    answer = gateway.fetch("GET", "/v1/books/b1?%22%5C%0A%7Bcode%7D%C3%BC=1")
    name = '"\\\n{code}ü'
    assert answer.json() == {
        "text": f"a {name}: unknown query parameter b", "all": f"{name}: unknown query parameter"}


def test_statuses_by_code(own):
    gateway = own(statuses={"invalid_argument": 422}, body={"status": "{status}"})
    answer = gateway.fetch("GET", "/v1/books/b1?colour=red")
    assert (answer.status, answer.json()) == (422, {"status": 422})
    # RPC callers see what their protocol says.
    answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", JSON, b'{"colour":1}')
    assert (answer.status, answer.json()["code"]) == (400, "invalid_argument")
    # A refusal with a status of its own keeps it.
    answer = gateway.fetch("POST", "/v1/shelves/s/books", [("Content-Type", "text/csv")], b"a,b")
    assert (answer.status, answer.json()) == (415, {"status": 415})


@pytest.mark.parametrize("status", [204, 205, 304])
def test_a_status_without_content_has_none(own, rpc, status):
    """A byte behind its head would be the next answer's."""
    gateway = own(statuses={"invalid_argument": status}, body=SHAPE)
    with gateway.connect() as wire:
        for _ in range(2):
            answer = wire.request("GET", "/v1/books/b1?colour=red")
            assert (answer.status, answer.body, answer["content-type"]) == (status, b"", None)
            assert answer["content-length"] == ("0" if status == 205 else None)
            assert wire.request("GET", "/v1/books/b1").json()["id"] == "b1"
        assert wire.request("HEAD", "/v1/books/b1?colour=red").status == status
        assert wire.request("GET", "/v1/books/b2").json()["id"] == "b2"
    with HTTP2Client(gateway.address) as client:
        for _ in range(2):
            answer = client.ask("GET", "/v1/books/b1?colour=red")
            assert (answer.status, bytes(answer.body), answer["content-type"]) == (status, b"", None)
            assert client.ask("GET", "/v1/books/b1").json()["id"] == "b1"


def test_a_success_without_content_has_no_type(start, configuration, rpc):
    gateway = start(configuration(stage="rpc", methods={"DeleteBook": {"success_status": 204}}))
    with gateway.connect() as wire:
        for _ in range(2):
            answer = wire.request("DELETE", "/v1/books/b1")
            assert (answer.status, answer["content-type"], answer["content-length"]) == (204, None, None)
        assert wire.request("GET", "/v1/books/b1").json()["id"] == "b1"
    with HTTP2Client(gateway.address) as client:
        answer = client.ask("DELETE", "/v1/books/b1")
        assert (answer.status, bytes(answer.body), answer["content-type"]) == (204, b"", None)
        assert client.ask("GET", "/v1/books/b1").json()["id"] == "b1"


def test_a_success_stays_one(own, rpc):
    gateway = own(body=SHAPE, statuses={"invalid_argument": 422})
    assert gateway.fetch("GET", "/v1/books/b1").json()["id"] == "b1"


FALSE = {"member": "success", "equals": False}
CASES = [
    (FALSE, {"success": False, "error": {"message": "no such book"}}, "no such book", Code.FAILED_PRECONDITION),
    (FALSE, {"success": False, "message": "no", "code": "not_found"}, "no", Code.NOT_FOUND),
    ({**FALSE, "code": "not_found"}, {"success": False, "message": "no", "code": "E42"}, "no", Code.NOT_FOUND),
    ({"member": "error"}, {"id": "x", "error": "gone"}, "gone", Code.FAILED_PRECONDITION),
    ({"member": "result", "not": [0, "OK"]}, {"result": 17, "message": "x"}, "x", Code.FAILED_PRECONDITION),
    ({"member": "result", "equals": ["ERROR", "FAIL"]}, {"result": "FAIL", "detail": "x"}, "x", Code.FAILED_PRECONDITION),
]


@pytest.mark.parametrize("rule, body, message, code", CASES)
def test_an_error_with_status_200(own, rest, client_of, pb, rule, body, message, code):
    rest.answers(Reply.json(body))
    gateway = own("rest", in_success=rule)
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert (error.value.code, error.value.message) == (code, message)
    # A REST caller gets it as it comes.
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer.json()) == (200, body)


@pytest.mark.parametrize("rule, member", [
    (FALSE, {}), (FALSE, {"success": True}), (FALSE, {"success": None}), ({"member": "error"}, {"error": None}),
    ({"member": "result", "not": [0, "OK"]}, {"result": 0}), ({"member": "result", "not": [0, "OK"]}, {"result": "OK"})])
def test_a_success_is_told_from_it(start, configuration, rest, client_of, pb, rule, member):
    rest.answers(Reply.json({**book("b1"), **member}))
    gateway = start(configuration(
        stage="rest", service={"errors": {"in_success": rule}, "json": {"unknown_fields": "ignore"}}))
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b1")).id == "b1"


def test_a_comparison_sees_the_error(start, configuration, rest, rpc):
    """The old side says 200 with an error, and the new one answers: they differ."""
    rest.answers(Reply.json({"success": False, "message": "no"}))
    gateway = start(configuration(stage="shadow", service={"errors": {"in_success": FALSE}}))
    assert gateway.fetch("GET", "/v1/books/b1").json()["success"] is False
    wait_until(lambda: gateway.metric("turnout_shadow_total", outcome="mismatch") == 1, what="the comparison")
    sample = gateway.admin("GET", f"/routes/{SERVICE}/GetBook/samples").json()["samples"][0]
    assert sample["status"] == {"rest": "failed_precondition", "rpc": "ok"}


@pytest.mark.parametrize("rule, member", [
    (FALSE, {"success": True}), ({"member": "error"}, {"error": None}), ({"member": "result", "not": [0]}, {"result": 0}),
    (FALSE, {"success": "true"}), (FALSE, {"success": {"a": [1, "}"]}})])
@pytest.mark.parametrize("place", ["first", "last", "alone"])
def test_the_member_of_a_success_counts_as_known(own, rest, client_of, pb, rule, member, place):
    """A strict route: the schema does not have it, and it is no unknown member all the same."""
    body = {"first": {**member, **book("b1")}, "last": {**book("b1"), **member}, "alone": member}[place]
    rest.answers(Reply.json(body))
    gateway = own("rest", in_success=rule)
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b1")).id == ("" if place == "alone" else "b1")
    assert gateway.metric("turnout_unknown_fields_total") == 0
    # A REST caller gets it as it comes.
    assert gateway.fetch("GET", "/v1/books/b1").json() == body


def test_a_member_that_the_schema_has_stays(own, rest, client_of, pb):
    rest.answers(Reply.json({**book("b1"), "title": "fine"}))
    gateway = own("rest", in_success={"member": "title", "equals": "failed"})
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b1")).title == "fine"


@pytest.mark.parametrize("body, path", [
    (b'{"success":true,"id":"b1","isbn":"1"}', "isbn"), (b'{"success":true,"success":true,"id":"b1"}', "success"),
    (b'{"id":"b1","labels":{},"shelf":{"success":true}}', "shelf")])
def test_no_other_member_counts_as_known(own, rest, body, path):
    rest.answers(Reply(200, [("Content-Type", "application/json")], body))
    gateway = own("rest", in_success=FALSE)
    answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", JSON, b'{"id":"b1"}')
    assert (answer.status, answer.json()["code"]) == (500, "internal")
    assert path in gateway.access_log()[-1]


OLD_SHAPE = {"error": {"code": "{reason}", "text": "{message}", "more": ["{number}", {"info": "{details}"}]}}


def reason_of(error):
    assert [detail.type_name for detail in error.details] == ["google.rpc.ErrorInfo"]
    return ErrorInfo.FromString(error.details[0].message_bytes).reason


def test_errors_of_the_old_side_are_read_by_their_shape(own, rest, client_of, pb):
    rest.answers(Reply.json({"error": {"code": "ITEM_NOT_FOUND", "text": "no such item"}}, 404))
    gateway = own("rest", body=OLD_SHAPE)
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert (error.value.code, error.value.message) == (Code.NOT_FOUND, "no such item")
    assert reason_of(error.value) == "ITEM_NOT_FOUND"
    # What the new side would say so is the same to an old app.
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert answer.json() == {"error": {"code": "ITEM_NOT_FOUND", "text": "no such item"}}


def test_an_old_code_survives_the_move(own, rpc):
    info = ErrorInfo(reason="ITEM_NOT_FOUND", domain="shop")
    detail = Any(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=info.SerializeToString())

    def script(call, context):
        raise ConnectError(Code.NOT_FOUND, "no such item", details=[detail])

    rpc.script = script
    gateway = own(body={"error": {"code": "{reason}", "text": "{message}"}})
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer.json()) == (404, {"error": {"code": "ITEM_NOT_FOUND", "text": "no such item"}})
    # One without a reason has the code's name.
    answer = gateway.fetch("GET", "/v1/books/b1?colour=red")
    assert answer.json()["error"]["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("shape, body, status, code, message", [
    ({"code": "{CODE}", "msg": "Sorry: {message}"}, {"code": "NOT_FOUND", "msg": "Sorry: gone"}, 400, Code.NOT_FOUND, "gone"),
    ({"code": "{CODE}", "msg": "Sorry: {message}"}, {"code": "E1", "msg": "Gone."}, 404, Code.NOT_FOUND, "Gone."),
    ({"errors": [{"n": "{number}", "msg": "{message}"}]}, {"errors": [{"n": 6, "msg": "twice"}, {"msg": "b"}]}, 400,
     Code.ALREADY_EXISTS, "twice"),
    ({"s": "{status}", "msg": "{message} ({code})"}, {"s": "403", "msg": "no (x)"}, 400, Code.PERMISSION_DENIED, "no (x)"),
    # Not of that shape: as ever.
    ({"error": {"text": "{message}"}}, {"message": "plain"}, 404, Code.NOT_FOUND, "plain"),
    ({"error": {"text": "{message}"}}, {"error": "plain"}, 404, Code.NOT_FOUND, "plain"),
    ({"error": {"text": "{message}"}}, {"error": {"text": None, "message": "inner"}}, 404, Code.NOT_FOUND, "inner")])
def test_places_of_a_shape(own, rest, client_of, pb, shape, body, status, code, message):
    rest.answers(Reply.json(body, status))
    gateway = own("rest", body=shape)
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert (error.value.code, error.value.message) == (code, message)


def test_an_error_with_status_200_is_read_by_it_too(own, rest, client_of, pb):
    rest.answers(Reply.json({"success": False, "fault": {"id": "SOLD_OUT", "text": "none left"}}))
    gateway = own("rest", in_success=FALSE, body={"success": False, "fault": {"id": "{reason}", "text": "{message}"}})
    with pytest.raises(ConnectError) as error:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert (error.value.code, error.value.message) == (Code.FAILED_PRECONDITION, "none left")
    assert reason_of(error.value) == "SOLD_OUT"
