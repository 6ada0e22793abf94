"""Every code in both directions, with details."""

import base64

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from protobuf.wkt import Any

from support.rest_service import Reply
from support.schema import SERVICE

CODES = {
    "canceled": (1, 499), "unknown": (2, 500), "invalid_argument": (3, 400), "deadline_exceeded": (4, 504),
    "not_found": (5, 404), "already_exists": (6, 409), "permission_denied": (7, 403), "resource_exhausted": (8, 429),
    "failed_precondition": (9, 400), "aborted": (10, 409), "out_of_range": (11, 400), "unimplemented": (12, 501),
    "internal": (13, 500), "unavailable": (14, 503), "data_loss": (15, 500), "unauthenticated": (16, 401),
}
ALL = pytest.mark.parametrize("code", CODES)
URL = "type.googleapis.com/"


def pack(message):
    return Any(type_url=URL + message.DESCRIPTOR.full_name, value=message.SerializeToString())


def details(pb):
    """One that is always known, one of the schema, one of a type that nobody knows."""
    return [
        pack(ErrorInfo(reason="GONE", domain="library", metadata={"a": "b"})),
        pack(pb.Shortage(shelf="s1", missing=2)),
        Any(type_url=URL + "nobody.Knows", value=b"\x08\x01\xff"),
    ]


DETAILS = [
    {"@type": URL + "google.rpc.ErrorInfo", "reason": "GONE", "domain": "library", "metadata": {"a": "b"}},
    {"@type": URL + "library.v1.Shortage", "shelf": "s1", "missing": 2},
    {"@type": URL + "nobody.Knows", "value": base64.b64encode(b"\x08\x01\xff").decode()},
]


def test_there_are_sixteen():
    assert {code.value for code in Code} == set(CODES)


@ALL
def test_a_connect_service_to_a_rest_client(gateway_on_rpc, rpc, pb, code):
    def script(call, context):
        raise ConnectError(Code(code), f"it is {code} – ü", details=details(pb))

    rpc.script = script
    answer = gateway_on_rpc.fetch("GET", "/v1/books/b1")
    number, status = CODES[code]
    assert answer.status == status
    assert answer["content-type"].startswith("application/json")
    assert answer.json() == {"code": number, "message": f"it is {code} – ü", "details": DETAILS}


@ALL
@pytest.mark.parametrize("codec", ["proto", "json"])
def test_a_connect_service_to_a_connect_client(gateway_on_rpc, rpc, client_of, pb, code, codec):
    """One codec passes through, the other is translated; an error is the same."""
    def script(call, context):
        raise ConnectError(Code(code), f"it is {code} – ü", details=details(pb))

    rpc.script = script
    with pytest.raises(ConnectError) as error:
        client_of(gateway_on_rpc, codec).get_book(pb.GetBookRequest(id="b1"))
    check(error.value, code, pb)


@ALL
def test_a_rest_service_to_a_connect_client(gateway_on_rest, rest, client_of, pb, code):
    number, status = CODES[code]
    rest.answers(Reply.json({"code": number, "message": f"it is {code} – ü", "details": DETAILS}, status))
    with pytest.raises(ConnectError) as error:
        client_of(gateway_on_rest).get_book(pb.GetBookRequest(id="b1"))
    check(error.value, code, pb)


def check(error, code, pb):
    assert (error.code, error.message) == (Code(code), f"it is {code} – ü")
    known, own, unknown = error.details
    assert known.type_name == "google.rpc.ErrorInfo"
    assert ErrorInfo.FromString(known.message_bytes).reason == "GONE"
    assert pb.Shortage.FromString(own.message_bytes) == pb.Shortage(shelf="s1", missing=2)
    assert unknown.type_name == "nobody.Knows"


@pytest.mark.parametrize(
    "status, code",
    [
        (400, "invalid_argument"), (401, "unauthenticated"), (403, "permission_denied"), (404, "not_found"),
        (405, "unimplemented"), (409, "aborted"), (410, "not_found"), (412, "failed_precondition"),
        (413, "resource_exhausted"), (416, "out_of_range"), (422, "invalid_argument"), (429, "resource_exhausted"),
        (499, "canceled"), (500, "internal"), (501, "unimplemented"), (502, "unavailable"), (503, "unavailable"),
        (504, "deadline_exceeded"),
    ],
)
@pytest.mark.parametrize("body", [{"message": "the reason"}, {"error": {"message": "the reason"}}])
def test_the_statuses_of_a_legacy_service(gateway_on_rest, rest, client_of, pb, status, code, body):
    rest.answers(Reply.json(body, status))
    with pytest.raises(ConnectError) as error:
        client_of(gateway_on_rest).get_book(pb.GetBookRequest(id="b1"))
    assert (error.value.code, error.value.message) == (Code(code), "the reason")


def test_html_never_reaches_a_caller(gateway_on_rest, rest, client_of, pb):
    rest.answers(Reply(404, [("Content-Type", "text/html")], b"<html>stack trace</html>"))
    with pytest.raises(ConnectError) as error:
        client_of(gateway_on_rest).get_book(pb.GetBookRequest(id="b1"))
    assert error.value.code == Code.NOT_FOUND
    assert "stack" not in error.value.message


def test_googles_shape_is_read(gateway_on_rest, rest, client_of, pb):
    rest.answers(Reply.json(
        {"error": {"code": 404, "message": "no such book", "status": "NOT_FOUND", "details": DETAILS[:1]}}, 404))
    with pytest.raises(ConnectError) as error:
        client_of(gateway_on_rest).get_book(pb.GetBookRequest(id="b1"))
    assert (error.value.code, error.value.message) == (Code.NOT_FOUND, "no such book")
    assert [detail.type_name for detail in error.value.details] == ["google.rpc.ErrorInfo"]


@pytest.mark.parametrize(
    "form, expected, kind",
    [
        ("status", {"code": 5, "message": "no such book", "details": []}, "application/json"),
        ("connect", {"code": "not_found", "message": "no such book"}, "application/json"),
        ("google", {"error": {"code": 404, "message": "no such book", "status": "NOT_FOUND"}}, "application/json"),
        ("problem", {"status": 404, "detail": "no such book"}, "application/problem+json"),
    ],
)
def test_the_shapes_for_rest_clients(start, configuration, rpc, form, expected, kind):
    gateway = start(configuration(stage="rpc", service={"errors": {"format": form}}))

    def script(call, context):
        raise ConnectError(Code.NOT_FOUND, "no such book")

    rpc.script = script
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer["content-type"].split(";")[0]) == (404, kind)
    assert contains(answer.json(), expected), answer


def contains(whole, part):
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(contains(whole.get(key), value) for key, value in part.items())
    return whole == part


def test_retry_info_and_retry_after_reach_the_client(gateway_on_rpc, rpc):
    retry = RetryInfo()
    retry.retry_delay.seconds = 30

    def script(call, context):
        context.response_headers.add("retry-after", "30")
        raise ConnectError(Code.UNAVAILABLE, "later", details=[pack(retry)])

    rpc.script = script
    answer = gateway_on_rpc.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer["retry-after"]) == (503, "30")
    assert answer.json()["details"] == [{"@type": URL + "google.rpc.RetryInfo", "retryDelay": "30s"}]


@pytest.mark.parametrize("body", [b"null", b"[]", b"<html>", b'{"code": null}', b'{"code": "nonsense"}', b""])
def test_a_connect_error_without_a_usable_code(start, configuration, rest, body):
    """Then the status says what it was."""
    setup = configuration(stage="rpc")
    setup["upstreams"]["content"]["endpoints"] = [rest.url]
    gateway = start(setup)
    rest.answers(Reply(403, [("Content-Type", "application/json")], body))
    answer = gateway.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer.json()["code"]) == (403, 7)


def test_a_route_that_nobody_has(start, configuration):
    gateway = start(configuration())
    answer = gateway.fetch("GET", "/nothing/here")
    assert (answer.status, answer["content-type"].split(";")[0]) == (404, "application/json")
    assert answer.json()["code"] in (5, 12)
    answer = gateway.fetch("POST", f"/{SERVICE}/Nothing", [("Content-Type", "application/proto")])
    assert answer.status == 404
