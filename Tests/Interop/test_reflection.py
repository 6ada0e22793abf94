"""gRPC reflection, answered by the gateway: the official client library, and what tools ask on their way to a call."""

import json
import struct

import grpc
import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from support.http2 import HTTP2Client
from support.schema import SERVICE

V1, ALPHA = "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"
HEALTH = "grpc.health.v1.Health"
Request = reflection_pb2.ServerReflectionRequest


@pytest.fixture
def reflecting(start, configuration, rpc):
    """A gateway that answers reflection, in both versions, and a channel to it."""
    settings = configuration("rpc")
    for service in (V1, ALPHA, HEALTH):
        settings["services"][service] = {"answer": "gateway"}
    gateway = start(settings)
    with grpc.insecure_channel(
            "%s:%d" % gateway.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        yield gateway, channel


def ask(channel, *requests, version=V1):
    stub = channel.stream_stream(
        f"/{version}/ServerReflectionInfo", request_serializer=Request.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString)
    return list(stub(iter(requests), timeout=25))


def files(answer):
    return [
        descriptor_pb2.FileDescriptorProto.FromString(data)
        for data in answer.file_descriptor_response.file_descriptor_proto]


def test_the_official_library_finds_and_calls(reflecting):
    """As tools do it: list, find the service, make messages of what is found, call."""
    _, channel = reflecting
    database = ProtoReflectionDescriptorDatabase(channel)
    assert sorted(database.get_services()) == sorted([SERVICE, V1, ALPHA, HEALTH])
    pool = DescriptorPool(database)
    method = pool.FindServiceByName(SERVICE).FindMethodByName("GetBook")
    request, reply = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
    call = channel.unary_unary(
        f"/{SERVICE}/GetBook", request_serializer=request.SerializeToString, response_deserializer=reply.FromString)
    assert call(request(id="b1"), timeout=20).id == "b1"


@pytest.mark.parametrize("version", [V1, ALPHA])
def test_all_questions(reflecting, schema, version):
    _, channel = reflecting
    library = schema.pb.DESCRIPTOR
    answers = ask(
        channel, Request(host="h", list_services="*"), Request(file_by_filename=library.name),
        Request(file_containing_symbol=f"{SERVICE}.GetBook"), Request(file_containing_symbol="google.api.http"),
        Request(file_containing_extension={
            "containing_type": "google.protobuf.MethodOptions", "extension_number": 72295728}),
        Request(all_extension_numbers_of_type="google.protobuf.MethodOptions"),
        Request(all_extension_numbers_of_type=library.message_types_by_name["Book"].full_name),
        version=version)
    assert answers[0].valid_host == "h" and answers[0].original_request == Request(host="h", list_services="*")
    assert [one.name for one in answers[0].list_services_response.service] == sorted([SERVICE, V1, ALPHA, HEALTH])
    sent = files(answers[1])
    assert sent[0].name == library.name
    # The file as it was loaded, with its options, and after it all that it imports.
    expected = descriptor_pb2.FileDescriptorSet.FromString(schema.descriptors.read_bytes()).file
    wanted = next(one for one in expected if one.name == library.name)
    wanted.ClearField("source_code_info")
    assert sent[0] == wanted
    assert {name for one in sent for name in one.dependency} <= {one.name for one in sent}
    # What the stream has had comes once: now only what was asked for.
    assert [one.name for one in files(answers[2])] == [library.name]
    assert files(answers[3])[0].name == files(answers[4])[0].name == "google/api/annotations.proto"
    assert list(answers[5].all_extension_numbers_response.extension_number) == [72295728]
    assert answers[6].all_extension_numbers_response.base_type_name.endswith(".Book")
    assert not answers[6].all_extension_numbers_response.extension_number


def test_questions_without_an_answer(reflecting):
    _, channel = reflecting
    answers = ask(
        channel, Request(file_by_filename="no.proto"), Request(file_containing_symbol="no.Symbol"),
        Request(file_containing_extension={"containing_type": "no.Type", "extension_number": 1}),
        Request(all_extension_numbers_of_type="no.Type"), Request(host="h"), Request(list_services=""))
    codes = [answer.error_response.error_code for answer in answers]
    # The stream goes on after each of them.
    assert codes == [5, 5, 5, 5, 3, 0]
    assert "no.Symbol" in answers[1].error_response.error_message
    assert answers[5].list_services_response.service


def test_a_symbol_of_each_kind(reflecting, schema):
    _, channel = reflecting
    library = schema.pb.DESCRIPTOR
    names = [
        *(message.full_name for message in library.message_types_by_name.values()),
        *(field.full_name for message in library.message_types_by_name.values() for field in message.fields),
        *(oneof.full_name for message in library.message_types_by_name.values() for oneof in message.oneofs
          if not oneof.name.startswith("_")),
        *(enum.full_name for enum in library.enum_types_by_name.values()),
        *(f"{library.package}.{value.name}" for enum in library.enum_types_by_name.values() for value in enum.values),
        *(method.full_name for service in library.services_by_name.values() for method in service.methods),
    ]
    answers = ask(channel, *(Request(file_containing_symbol=name) for name in names))
    assert [files(answer)[0].name for answer in answers] == [library.name] * len(names)


def test_a_question_in_connect(reflecting):
    """Over HTTP/2, in JSON: the hub needs no dialect of its own for it."""
    gateway, _ = reflecting
    message = json.dumps({"listServices": "*"}).encode()
    with HTTP2Client(gateway.address) as client:
        answer = client.ask(
            "POST", f"/{V1}/ServerReflectionInfo", [("content-type", "application/connect+json")],
            struct.pack(">BI", 0, len(message)) + message)
    assert answer.status == 200
    size = struct.unpack(">I", answer.body[1:5])[0]
    told = json.loads(bytes(answer.body[5:5 + size]))
    assert {"name": SERVICE} in told["listServicesResponse"]["service"]
    assert bytes(answer.body[5 + size:]) == b"\x02\0\0\0\x02{}"


def test_a_malformed_question_ends_the_stream(reflecting):
    _, channel = reflecting
    call = channel.stream_stream(f"/{V1}/ServerReflectionInfo")
    with pytest.raises(grpc.RpcError) as refused:
        list(call(iter([b"\x1a\x09x"]), timeout=20))
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_without_configuration_there_is_none(gateway_on_rpc):
    with grpc.insecure_channel("%s:%d" % gateway_on_rpc.address) as channel:
        with pytest.raises(grpc.RpcError) as refused:
            ask(channel, Request(list_services="*"))
        assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED
