"""Raw bytes between RPC callers and an old REST service: downloads as streams of HttpBody, uploads from client streams."""

import gzip
import hashlib
import json
import socket
import threading

import grpc
import pyqwest
import pytest
from connectrpc.compat import google_protobuf_binary_codec
from connectrpc.errors import ConnectError
from google.api.httpbody_pb2 import HttpBody

from support.gateway import Gateway
from support.rest_service import Reply, RESTService
from support.schema import Schema
from support.wire import chunked

CONTENT = bytes(range(256)) * 4000


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    return Schema(tmp_path_factory.mktemp("rest-files"), "files")


def configuration(schema, url):
    return {
        "listeners": [{"address": "127.0.0.1:0"}],
        "schema": [{"descriptor_set": str(schema.descriptors)}],
        "upstreams": {"old": {"protocol": "rest", "endpoints": [url]}},
        "services": {"files.v1.Files": {"rest": "old", "stage": "rest"}},
    }


@pytest.fixture(scope="module")
def shared(schema, tmp_path_factory):
    service = RESTService()
    gateway = Gateway(tmp_path_factory.mktemp("rest-files-gateway"), configuration(schema, service.url))
    gateway.service = service
    yield gateway
    assert gateway.discard() in (0, -9), "the gateway crashed"


@pytest.fixture
def files(shared):
    shared.service.reset()
    return shared


def stubs(schema, gateway):
    channel = grpc.insecure_channel("%s:%d" % gateway.address, options=[("grpc.use_local_subchannel_pool", 1)])
    pb = schema.pb
    return (
        channel.unary_stream(
            "/files.v1.Files/Download", request_serializer=pb.DownloadRequest.SerializeToString,
            response_deserializer=HttpBody.FromString),
        channel.stream_unary(
            "/files.v1.Files/Upload", request_serializer=pb.UploadRequest.SerializeToString,
            response_deserializer=pb.UploadResponse.FromString))


def test_a_download(files, schema):
    download, _ = stubs(schema, files)
    for reply in (
        Reply(200, [("Content-Type", "image/png")], chunks=[CONTENT[:70_000], CONTENT[70_000:]]),
        Reply(200, [("Content-Type", "image/png")], CONTENT),
        Reply(200, [("Content-Type", "image/png"), ("Content-Encoding", "gzip")], gzip.compress(CONTENT)),
    ):
        files.service.reset()
        files.service.answers(reply)
        pieces = list(download(schema.pb.DownloadRequest(name="a b", pieces=2), timeout=60))
        assert b"".join(piece.data for piece in pieces) == CONTENT
        assert [piece.content_type for piece in pieces] == ["image/png"] + [""] * (len(pieces) - 1)
        assert max(len(piece.data) for piece in pieces) <= 65_536
        request = files.service.only()
        assert (request.target, request["accept"]) == ("/v1/files/a%20b?pieces=2", "*/*")


def test_a_download_of_no_byte(files, schema):
    download, _ = stubs(schema, files)
    files.service.answers(Reply(200, [("Content-Type", "text/csv")], b""))
    assert [(one.content_type, one.data) for one in download(schema.pb.DownloadRequest(name="a"))] == [("text/csv", b"")]
    files.service.answers(Reply(204))
    assert list(download(schema.pb.DownloadRequest(name="a"))) == []


def test_a_download_by_the_connect_runtime(files, schema):
    files.service.answers(Reply(200, [("Content-Type", "image/png")], CONTENT))
    with pyqwest.SyncHTTPTransport(http_version=pyqwest.HTTPVersion.HTTP1) as transport:
        client = schema.connect.FilesClientSync(
            files.url, codec=google_protobuf_binary_codec(), http_client=pyqwest.SyncClient(transport),
            send_compression=None)
        assert b"".join(one.data for one in client.download(schema.pb.DownloadRequest(name="a"))) == CONTENT
        files.service.answers(Reply.json({"message": "no such file"}, 404))
        with pytest.raises(ConnectError) as error:
            list(client.download(schema.pb.DownloadRequest(name="a")))
        assert (error.value.code.value, error.value.message) == ("not_found", "no such file")


def test_a_download_that_is_cut(files, schema):
    download, _ = stubs(schema, files)
    files.service.answers(Reply(200, [("Content-Type", "image/png")], CONTENT, cut=100_000))
    got = b""
    with pytest.raises(grpc.RpcError) as error:
        for piece in download(schema.pb.DownloadRequest(name="a"), timeout=60):
            got += piece.data
    assert error.value.code() == grpc.StatusCode.UNAVAILABLE
    assert got == CONTENT[:len(got)] and len(got) > 50_000


def answered(request):
    return Reply.json({
        "name": request.path.split("/")[-1], "contentType": request["content-type"], "size": str(len(request.body)),
        "sha256": hashlib.sha256(request.body).hexdigest()})


def test_an_upload(files, schema):
    _, upload = stubs(schema, files)
    pb = schema.pb
    files.service.answers(answered)
    pieces = [CONTENT[at:at + 100_000] for at in range(0, len(CONTENT), 100_000)]

    def first_says_all():
        yield pb.UploadRequest(name="x y", content=HttpBody(content_type="image/png", data=pieces[0]))
        for piece in pieces[1:]:
            yield pb.UploadRequest(content=HttpBody(data=piece))

    def second_has_the_type():
        yield pb.UploadRequest(name="x y")
        yield pb.UploadRequest(content=HttpBody(content_type="image/png"))
        yield from (pb.UploadRequest(name="x y", content=HttpBody(data=piece)) for piece in pieces)

    for messages in (first_says_all, second_has_the_type):
        files.service.reset()
        files.service.answers(answered)
        got = upload(messages(), timeout=60)
        assert (got.name, got.content_type, got.size) == ("x%20y", "image/png", len(CONTENT))
        assert got.sha256 == hashlib.sha256(CONTENT).hexdigest()
        request = files.service.only()
        assert (request.method, request.target, request["transfer-encoding"]) == ("PUT", "/v1/files/x%20y", "chunked")


def test_an_upload_of_nothing(files, schema):
    _, upload = stubs(schema, files)
    files.service.answers(answered)
    got = upload(iter([schema.pb.UploadRequest(name="e")]), timeout=60)
    assert (got.name, got.size) == ("e", 0)
    # Without a message there is no name, which the path needs.
    with pytest.raises(grpc.RpcError) as error:
        upload(iter([]), timeout=60)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_a_message_for_another_file_is_refused(files, schema):
    _, upload = stubs(schema, files)
    files.service.answers(answered)
    body = HttpBody(data=b"x")
    with pytest.raises(grpc.RpcError) as error:
        upload(iter([schema.pb.UploadRequest(name="a", content=body), schema.pb.UploadRequest(name="b", content=body)]))
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert error.value.details().startswith("message 2 of the stream: "), error.value.details()


def test_an_upload_that_the_service_refuses(files, schema):
    _, upload = stubs(schema, files)
    files.service.answers(Reply.json({"message": "too much"}, 413))
    with pytest.raises(grpc.RpcError) as error:
        upload(iter([schema.pb.UploadRequest(name="a", content=HttpBody(data=b"x"))]), timeout=60)
    assert (error.value.code(), error.value.details()) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "too much")


def test_an_upload_goes_on_as_it_comes(schema, tmp_path):
    """The service has the first bytes before the caller sends the next."""
    listener = socket.create_server(("127.0.0.1", 0))
    has_first, seen = threading.Event(), []

    def serve():
        connection, _ = listener.accept()
        with connection:
            data = b""
            while not data.endswith(b"\r\n0\r\n\r\n"):
                part = connection.recv(65_536)
                if not part:
                    return
                data += part
                if b"first" in data:
                    has_first.set()
            seen.append(data)
            body = json.dumps({"name": "n"}).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.sendall(chunked([body]))

    threading.Thread(target=serve, daemon=True).start()
    gateway = Gateway(tmp_path / "gateway", configuration(schema, "http://127.0.0.1:%d" % listener.getsockname()[1]))

    def messages():
        yield schema.pb.UploadRequest(name="n", content=HttpBody(data=b"first"))
        assert has_first.wait(30)
        yield schema.pb.UploadRequest(content=HttpBody(data=b"second"))

    try:
        assert stubs(schema, gateway)[1](messages(), timeout=60).name == "n"
        assert b"content-type: application/octet-stream" in seen[0].lower() and b"second" in seen[0]
    finally:
        assert gateway.discard() in (0, -9)
        listener.close()
