"""Metadata across the translation: leading, trailing, binary; what is reserved stays behind."""

import base64
import re

import grpc
import pytest
from connectrpc.client import ResponseMetadata
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.rest_service import Reply, book
from support.schema import SERVICE


def with_metadata(call, context):
    context.response_headers.add("x-lead", "1")
    context.response_headers.add("x-lead", "2")
    context.response_headers.add("x-blob-bin", "AAH/")
    context.response_trailers.add("x-tail", "t1")
    context.response_trailers.add("x-tail-bin", "/wA")
    context.response_trailers.add("set-cookie", "no=1")


def test_a_rest_client_and_a_connect_service(gateway_on_rpc, rpc):
    rpc.script = with_metadata
    blob = base64.b64encode(b"\x00\xff\x01").decode().rstrip("=")
    answer = gateway_on_rpc.fetch("GET", "/v1/books/b1", [
        ("X-Tenant", "blue"), ("X-Blob-Bin", blob), ("Authorization", "Bearer t"), ("Connection", "X-Dropped"),
        ("X-Dropped", "1"), ("Connect-Something", "1")])
    headers = rpc.only().headers
    assert (headers["x-tenant"], headers["authorization"]) == ("blue", "Bearer t")
    assert headers["x-blob-bin"].rstrip("=") == blob
    assert "x-dropped" not in headers and "connect-something" not in headers
    assert ", ".join(answer.all("x-lead")).replace(",  ", ", ") == "1, 2"
    assert (answer["x-blob-bin"], answer["trailer-x-tail"]) == ("AAH/", "t1")
    assert answer["trailer-x-tail-bin"].rstrip("=") == "/wA"
    assert not answer.all("trailer-set-cookie")
    assert answer.json() == book("b1")


@pytest.mark.parametrize("codec", ["proto", "json"])
def test_a_connect_client_and_a_connect_service(gateway_on_rpc, rpc, client_of, pb, codec):
    rpc.script = with_metadata
    with ResponseMetadata() as metadata:
        client_of(gateway_on_rpc, codec).get_book(pb.GetBookRequest(id="b1"), headers={"x-tenant": "blue"})
    assert rpc.only().headers["x-tenant"] == "blue"
    assert ", ".join(metadata.headers.getall("x-lead")) == "1, 2"
    assert metadata.headers["x-blob-bin"] == "AAH/"
    assert metadata.trailers["x-tail"] == "t1"
    assert metadata.trailers["x-tail-bin"].rstrip("=") == "/wA"


def test_a_connect_client_and_a_rest_service(gateway_on_rest, rest, client_of, pb):
    rest.answers(Reply.json(book("b1"), 200, [
        ("X-Lead", "1"), ("X-Lead", "2"), ("Trailer-X-Tail", "t1"), ("X-Blob-Bin", "AAH/"), ("Retry-After", "7")]))
    with ResponseMetadata() as metadata:
        client_of(gateway_on_rest).get_book(
            pb.GetBookRequest(id="b1"), headers={"x-tenant": "blue", "x-blob-bin": "AAH/", "authorization": "Bearer t"})
    request = rest.only()
    assert (request["x-tenant"], request["x-blob-bin"], request["authorization"]) == ("blue", "AAH/", "Bearer t")
    names = {name.lower() for name, _ in request.fields}
    assert not [name for name in names if name.startswith("connect-")]
    assert ", ".join(metadata.headers.getall("x-lead")) == "1, 2"
    assert (metadata.headers["x-blob-bin"], metadata.headers["retry-after"]) == ("AAH/", "7")
    assert metadata.trailers["x-tail"] == "t1"


FORBIDDEN = ["Set-Cookie", "Authorization", "Content-Length", "Transfer-Encoding", "Host", "Connect-Timeout-Ms"]


@pytest.mark.parametrize("codec", ["proto", "json"])
def test_trailers_of_a_rest_service(gateway_on_rest, rest, client_of, pb, codec):
    """In a trailer section and as `Trailer-` headers alike; framing, routing, cookies and credentials stay behind."""
    fields = [("Trailer-X-Tail", "t1"), *((f"Trailer-{name}", "no") for name in FORBIDDEN)]
    trailers = [("X-End", "e1"), ("X-End", "e2"), ("X-End-Bin", "/wA"), ("Set-Cookie", "no=1"), ("Authorization", "no"),
                ("Cookie", "no"), ("Cache-Control", "no"), ("X-Forwarded-For", "no")]
    body = Reply.json(book("b1")).body
    rest.answers(Reply(200, [("Content-Type", "application/json"), *fields], chunks=[body], trailers=trailers))
    with ResponseMetadata() as metadata:
        client_of(gateway_on_rest, codec).get_book(pb.GetBookRequest(id="b1"))
    assert set(metadata.trailers) == {"x-tail", "x-end", "x-end-bin"}
    assert (metadata.trailers["x-tail"], metadata.trailers["x-end-bin"]) == ("t1", "/wA")
    assert ", ".join(metadata.trailers.getall("x-end")) == "e1, e2"
    assert "no" not in metadata.headers.values() and "no=1" not in metadata.headers.values()


def test_trailers_of_a_rest_service_for_grpc(gateway_on_rest, rest, pb):
    body = Reply.json(book("b1")).body
    fields = [("Content-Type", "application/json"), ("Trailer-X-Tail", "t1"), ("Trailer-Set-Cookie", "no"),
              ("Trailer-Grpc-Status", "5")]
    rest.answers(Reply(200, fields, chunks=[body], trailers=[("X-End-Bin", "/wA"), ("Set-Cookie", "no"), ("Host", "no")]))
    with grpc.insecure_channel("%s:%d" % gateway_on_rest.address) as channel:
        ask = channel.unary_unary(
            f"/{SERVICE}/GetBook", request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=pb.Book.FromString)
        answer, call = ask.with_call(pb.GetBookRequest(id="b1"))
    assert answer.id == "b1"
    assert dict(call.trailing_metadata()) == {"x-tail": "t1", "x-end-bin": b"\xff\x00"}
    assert "no" not in dict(call.initial_metadata()).values()


def test_trailers_of_a_rest_error(gateway_on_rest, rest, client_of, pb):
    body = b'{"message":"no"}'
    fields = [("Content-Type", "application/json"), ("Trailer-X-Tail", "t1"), ("Trailer-Set-Cookie", "no")]
    rest.answers(Reply(409, fields, chunks=[body], trailers=[("X-End", "e1")]))
    with ResponseMetadata() as metadata, pytest.raises(ConnectError) as error:
        client_of(gateway_on_rest).get_book(pb.GetBookRequest(id="b1"))
    assert error.value.code == Code.ABORTED
    assert dict(metadata.trailers) == {"x-tail": "t1", "x-end": "e1"}


def test_rest_to_rest_keeps_trailers_as_they_are(gateway_on_rest, rest):
    body = Reply.json(book("b1")).body
    fields = [("Content-Type", "application/json"), ("Trailer-Set-Cookie", "a=1")]
    rest.answers(Reply(200, fields, chunks=[body], trailers=[("X-End", "e1")]))
    answer = gateway_on_rest.fetch("GET", "/v1/books/b1", [("TE", "trailers")])
    assert (answer["trailer-set-cookie"], answer.trailers) == ("a=1", [("X-End", "e1")])


def test_metadata_of_an_error(gateway_on_rest, gateway_on_rpc, rest, rpc, client_of, pb):
    def script(call, context):
        with_metadata(call, context)
        raise ConnectError(Code.ABORTED, "no")

    rpc.script = script
    answer = gateway_on_rpc.fetch("GET", "/v1/books/b1")
    assert (answer.status, answer["x-blob-bin"], answer["trailer-x-tail"]) == (409, "AAH/", "t1")
    rest.answers(Reply.json({"message": "no"}, 409, [("X-Lead", "1")]))
    with ResponseMetadata() as metadata, pytest.raises(ConnectError):
        client_of(gateway_on_rest).get_book(pb.GetBookRequest(id="b1"))
    assert metadata.headers["x-lead"] == "1"


def test_a_request_id_goes_along(gateway_on_rest, gateway_on_rpc, rest, rpc):
    fields = [("X-Request-Id", "my-id.1")]
    gateway_on_rest.fetch("GET", "/v1/books/b1", fields)
    gateway_on_rest.fetch("GET", "/healthy", fields)
    gateway_on_rpc.fetch("GET", "/v1/books/b1", fields)
    assert [request["x-request-id"] for request in rest.requests] == ["my-id.1", "my-id.1"]
    assert rpc.only().headers["x-request-id"] == "my-id.1"


def test_the_gateway_does_not_name_itself(gateway_on_rest, gateway_on_rpc):
    for gateway in (gateway_on_rest, gateway_on_rpc):
        answer = gateway.fetch("GET", "/v1/books/nothing?")
        assert not answer.all("x-powered-by")
        assert "turnout" not in (answer["server"] or "").lower()


ECHO = "/echo.v1.Echo/Say"


# From gRPC-Web to gRPC-Web it passes as it came.
@pytest.mark.parametrize("dialect, backend", [("connect", "grpc"), ("connect", "grpc-web"), ("web", "grpc")])
def test_binary_metadata_that_is_no_base64_is_refused_towards_grpc(echo, backend, dialect):
    """A gRPC library may end the stream over it, and the caller would not know why."""
    client = echo("connect", backend)

    def ask(value):
        fields = [("Content-Type", "application/json" if dialect == "connect" else "application/grpc-web+proto"), ("X-Word-Bin", value)]
        return client.gateway.fetch("POST", ECHO, fields, b"{}" if dialect == "connect" else b"\0\0\0\0\0")

    for value in ("!!!", "A", "AA E", "AAE,!"):
        answer = ask(value)
        if dialect == "connect":
            assert (answer.status, answer.json()["code"]) == (400, "invalid_argument"), value
            assert "x-word-bin" in answer.json()["message"].lower()
        else:
            told = answer["grpc-status"] or re.search(rb"grpc-status: ?(\d+)", answer.body)[1].decode()
            assert told == "3", value
    assert client.memory.calls == 0
    for value in ("AAE", "AAE=", "-_8", "AAE,AAI", ""):
        assert ask(value).status == 200, value
    assert client.memory.calls == 5


def test_names_that_are_kept_for_grpc_stay_behind(gateway_on_rpc, gateway_on_rest, rest, rpc):
    fields = [("Content-Type", "application/json"), ("Grpc-Foo", "1"), ("Grpc-Previous-Rpc-Attempts", "1"), ("Grpc-Trace-Bin", "AAE"),
              ("X-Grpc", "1")]
    gateway_on_rest.fetch("POST", f"/{SERVICE}/GetBook", fields, b'{"id": "b1"}')
    gateway_on_rpc.fetch("GET", "/v1/books/b1", fields)
    for names in ({name.lower() for name, _ in rest.only().fields}, {name.lower() for name in rpc.only().headers}):
        assert not {name for name in names if name.startswith("grpc-")} - {"grpc-trace-bin"} and {"x-grpc", "grpc-trace-bin"} <= names
