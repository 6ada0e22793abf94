"""The JSON profile of a route: what a legacy API writes and reads, in every direction that has RPC on one side."""

import json

import grpc
import pytest
from google.protobuf import json_format

from support.legacy_json import legacy
from support.rest_service import Reply, RESTService
from support.schema import compile_messages

SERVICE = "archive.v1.Archive"
JSON = [("Content-Type", "application/json")]
PROTO = [("Content-Type", "application/proto")]

PROFILES = {
    "plain": {},
    "emit_defaults": {"emit_defaults": True},
    "proto names": {"field_names": "proto"},
    "int64 as numbers": {"int64": "number"},
    "enums as numbers": {"enums": "number"},
    "enums without prefix": {"enum_prefix": "strip"},
    "enums in lower case": {"enum_case": "lower"},
    "short enums in lower case": {"enum_prefix": "strip", "enum_case": "lower"},
    "null for unset": {"unset": "null"},
    "null and defaults": {"unset": "null", "emit_defaults": True},
    "unix": {"timestamps": "unix"},
    "unix_ms": {"timestamps": "unix_ms"},
    "all": {
        "emit_defaults": True, "field_names": "proto", "int64": "number", "enum_prefix": "strip", "enum_case": "lower",
        "unset": "null", "timestamps": "unix_ms", "unknown_fields": "ignore",
    },
    "all with numbers": {
        "emit_defaults": True, "field_names": "proto", "int64": "number", "enums": "number", "unset": "null",
        "timestamps": "unix", "unknown_fields": "report",
    },
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return compile_messages(tmp_path_factory.mktemp("profile"), "archive/v1/archive.proto")


@pytest.fixture(scope="module")
def pb(archive):
    return archive[0]


@pytest.fixture(scope="module")
def service():
    """Plays the RPC service: a server whose script speaks Connect."""
    return RESTService()


@pytest.fixture
def open_gateway(archive, service, start, rest_service):
    service.reset()

    def open_gateway(profile, **more):
        content = {"protocol": "connect", "endpoints": [service.url]}
        return start({
            "listeners": [{"address": "127.0.0.1:0"}],
            "admin": {"address": "127.0.0.1:0"},
            "workers": 1,
            "schema": [{"descriptor_set": str(archive[1])}],
            "upstreams": {
                "legacy": {"protocol": "rest", "endpoints": [rest_service.url]},
                "content": {**content, "codec": "proto"},
                "talker": {**content, "codec": "json"},
            },
            "services": {
                SERVICE: {
                    "rest": "legacy", "rpc": "content", "json": profile, **more,
                    "methods": {
                        "Give": {"stage": "rpc"}, "Seek": {"stage": "rpc"}, "Tell": {"stage": "rpc", "rpc": "talker"},
                    },
                }
            },
        })

    return open_gateway


@pytest.fixture(params=PROFILES)
def profile(request):
    return PROFILES[request.param]


@pytest.fixture
def gateway(open_gateway, profile):
    return open_gateway(profile)


def item(pb, depth=0):
    """An item with something in every kind of field."""
    made = pb.Item(
        display_name="Näme", total_size=-(2**53) - 1, item_kind=pb.KIND_LONG_BOOK, maybe_count=0,
        sizes_by_id={-5: 2**62, 0: 0}, kinds_by_name={"a": pb.KIND_MAP, "b": 0}, all_sizes=[0, 1, 2**63 - 1],
        all_kinds=[pb.KIND_MAP, 0, 77], what_kind=pb.KIND_UNSPECIFIED, more_bytes=2**64 - 1, is_open=True, score=2.5)
    made.created_at.FromJsonString("2026-01-02T03:04:05.500Z")
    made.all_times.add().FromJsonString("1969-12-31T23:59:59Z")
    made.all_times.add().FromJsonString("1970-01-01T00:00:00Z")
    made.wrapped_size.value = 2**60
    made.wrapped_name.value = ""
    made.any_value.list_value.extend([1.5, None, "x", {"some_key": 1}])
    if depth < 2:
        made.sub_item.CopyFrom(item(pb, depth + 1))
        made.sub_items.add().total_size = 9
        made.sub_items.add()
        made.items_by_name["k_k"].CopyFrom(pb.Item(what_size=0, is_open=True))
        made.any_thing.Pack(item(pb, depth + 1))
    else:
        made.any_thing.Pack(made.created_at)
    return made


def form(message):
    """What a message says; its bytes may differ in an Any, which is bytes itself."""
    return json_format.MessageToDict(message)


def variants(pb):
    time = pb.Item(display_name="")
    time.what_time.FromJsonString("2026-01-02T03:04:05Z")
    return [item(pb), pb.Item(), time, pb.Item(what_size=7)]


def test_a_rest_client_writes_it_and_reads_it(gateway, profile, service, pb):
    for message in variants(pb):
        sent = json.dumps(legacy(message, profile)).encode()
        service.reset()
        service.answers(Reply(200, PROTO, message.SerializeToString()))
        answer = gateway.fetch("POST", "/v1/give", JSON, sent)
        assert answer.status == 200, answer
        assert answer.json() == legacy(message, profile)
        assert form(pb.Item.FromString(service.only().body)) == form(message)


def test_it_holds_when_both_sides_speak_json(gateway, profile, service, pb):
    for message in variants(pb):
        sent = json.dumps(legacy(message, profile)).encode()
        plain = json_format.MessageToJson(message).encode()
        service.reset()
        service.answers(Reply(200, JSON, plain))
        answer = gateway.fetch("POST", "/v1/tell", JSON, sent)
        assert answer.status == 200, answer
        assert answer.json() == legacy(message, profile)
        # Nothing of the profile reaches the RPC side: what it gets is ProtoJSON.
        assert service.only().json() == json.loads(plain)


def test_a_rest_service_reads_it_and_writes_it(gateway, profile, rest, pb):
    for message in variants(pb):
        rest.reset()
        rest.answers(Reply.json(legacy(message, profile)))
        answer = gateway.fetch("POST", f"/{SERVICE}/Keep", PROTO, message.SerializeToString())
        assert answer.status == 200, answer
        assert form(pb.Item.FromString(answer.body)) == form(message)
        assert rest.only().json() == legacy(message, profile)


def test_a_json_client_of_a_rest_service_speaks_protojson(gateway, profile, rest, pb):
    for message in variants(pb):
        plain = json_format.MessageToDict(message)
        rest.reset()
        rest.answers(Reply.json(legacy(message, profile)))
        answer = gateway.fetch("POST", f"/{SERVICE}/Keep", JSON, json.dumps(plain).encode())
        assert answer.status == 200, answer
        assert answer.json() == plain
        assert rest.only().json() == legacy(message, profile)


def test_rest_to_rest_stays_untouched(gateway, rest):
    sent = b'{ "displayName" :"x", "unknown": [1 ], "totalSize":1e2 }'
    reply = b'[ {"anything" : 1.50} ]'
    rest.answers(Reply(200, JSON, reply))
    answer = gateway.fetch("POST", "/v1/keep", JSON, sent)
    assert (rest.only().body, answer.body) == (sent, reply)


def query(pb, profile):
    """A request, and the URL that a legacy client writes for it."""
    message = pb.FindRequest(
        item_kind=pb.KIND_LONG_BOOK, other_kinds=[pb.KIND_MAP, pb.KIND_UNSPECIFIED], least_size=2**60)
    message.created_after.FromJsonString("2026-01-02T03:04:05Z")
    message.most_size.value = 0
    form = legacy(message, profile)
    name = {field.name: field.name if profile.get("field_names") == "proto" else field.json_name
            for field in message.DESCRIPTOR.fields}
    text = lambda value: str(int(value) if isinstance(value, float) else value).replace(":", "%3A")
    pairs = [
        *((name["other_kinds"], kind) for kind in form[name["other_kinds"]]),
        (name["created_after"], form[name["created_after"]]),
        (name["least_size"], form[name["least_size"]]),
        (name["most_size"], form[name["most_size"]]),
    ]
    return message, f"{text(form[name['item_kind']])}?" + "&".join(f"{key}={text(value)}" for key, value in pairs)


def test_paths_and_queries_to_a_rest_service(gateway, profile, rest, pb):
    message, target = query(pb, profile)
    rest.answers(Reply.json({}))
    answer = gateway.fetch("POST", f"/{SERVICE}/Find", PROTO, message.SerializeToString())
    assert answer.status == 200, answer
    assert rest.only().target == f"/v1/find/{target}"


def test_paths_and_queries_of_a_rest_client(gateway, profile, service, pb):
    message, target = query(pb, profile)
    service.answers(Reply(200, PROTO, b""))
    answer = gateway.fetch("GET", f"/v1/seek/{target}")
    assert answer.status == 200, answer
    assert pb.FindRequest.FromString(service.only().body) == message


@pytest.mark.parametrize("mode", ["reject", "ignore", "report"])
def test_unknown_fields_of_a_rest_client(open_gateway, service, mode):
    gateway = open_gateway({"unknown_fields": mode})
    service.answers(Reply(200, PROTO, b""))
    body = b'{"displayName":"x","subItem":{"newName":null},"itemKind":"KIND_NEW"}'
    answer = gateway.fetch("POST", "/v1/give", JSON, body)
    counted = gateway.metric("turnout_unknown_fields_total", method="Give")
    if mode == "reject":
        assert answer.status == 400
        assert answer.json()["details"][0]["fieldViolations"][0]["field"] == "subItem.newName"
        assert not service.requests
    else:
        assert (answer.status, service.only().body) == (200, b"\x0a\x01x\x3a\x00")
        assert not answer.all("x-turnout-unknown-fields")
    assert counted == (0 if mode == "reject" else 2)


@pytest.mark.parametrize("mode", ["reject", "ignore", "report"])
def test_unknown_fields_of_a_rest_service(open_gateway, rest, mode, pb):
    gateway = open_gateway({"unknown_fields": mode})
    rest.answers(Reply.json({"displayName": "x", "subItems": [{}, {"rank": 1}]}))
    asks = [*PROTO, ("X-Turnout-Report", "unknown-fields")]
    answer = gateway.fetch("POST", f"/{SERVICE}/Keep", asks)
    if mode == "reject":
        assert answer.status == 500
        assert "rank" not in answer.body.decode()
    else:
        assert pb.Item.FromString(answer.body) == pb.Item(display_name="x", sub_items=[pb.Item(), pb.Item()])
    assert answer.all("x-turnout-unknown-fields") == (["subItems[1].rank"] if mode == "report" else [])
    assert gateway.metric("turnout_unknown_fields_total", path="subItems[1].rank") == (mode != "reject")
    assert not rest.only()["x-turnout-report"], "the question is the gateway's alone"


def test_the_report_on_demand(open_gateway, service):
    gateway = open_gateway({"unknown_fields": "report"})
    service.answers(Reply(200, PROTO, b""))
    ask = lambda value, body: gateway.fetch("POST", "/v1/give", [*JSON, ("x-turnout-report", value)], body)
    named = lambda answer: answer.all("x-turnout-unknown-fields")
    assert named(ask("unknown-fields", b'{"b":1,"a":{"c":1}}')) == ["b,a"]
    assert named(ask("other, Unknown-Fields", b'{"b":1}')) == ["b"]
    assert named(ask("unknown-fields", b"{}")) == []
    assert named(ask("unknown", b'{"b":1}')) == []
    # A name is the caller's own text, as it is spelt in the JSON: it is never a header of its own, and never endless.
    odd = json.dumps({"a\r\nset-cookie: x": 1, "ü,é": 2, "%": 3}, ensure_ascii=False).encode()
    answer = ask("unknown-fields", odd)
    assert named(answer) == ["a%5Cr%5Cnset-cookie%3A%20x,%C3%BC%2C%C3%A9,%25"]
    assert not answer.all("set-cookie")
    many = json.dumps({f"unknown{number:060}": number for number in range(500)}).encode()
    assert 900 < len(named(ask("unknown-fields", many))[0]) <= 1024
    # It comes with an error too.
    service.answers(Reply.json({"code": "not_found", "message": "no"}, 404))
    answer = ask("unknown-fields", b'{"b":1}')
    assert (answer.status, named(answer)) == (404, ["b"])


def test_a_grpc_client_of_a_legacy_service(open_gateway, rest, pb):
    """The profile and the report are the route's, whatever the RPC client speaks."""
    profile = PROFILES["all with numbers"]
    gateway = open_gateway(profile)
    message = item(pb)
    rest.answers(Reply.json({**legacy(message, profile), "old": 1}))
    with grpc.insecure_channel("%s:%d" % gateway.address) as channel:
        ask = channel.unary_unary(
            f"/{SERVICE}/Keep", request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=pb.Item.FromString)
        answer, call = ask.with_call(message, metadata=[("x-turnout-report", "unknown-fields")])
    assert form(answer) == form(message)
    assert rest.only().json() == legacy(message, profile)
    assert dict(call.initial_metadata())["x-turnout-unknown-fields"] == "old"
