"""Streams of RPC callers that an old REST service answers: every form, every dialect, to the end and not to it."""

import base64
import gzip
import json
import os
import struct

import grpc
import pytest

from support.echo import SERVICE
from support.echo_clients import CLIENTS
from support.gateway import Gateway, run, settled, wait_until
from support.http2 import HTTP2Client
from support.packing import brotli, zstd
from support.rest_streams import RULES, TYPES, RESTStreams

CALLERS = ["connect", "connect-json", "connect-h2", "grpc", "grpc-runtime", "grpc-web", "grpc-web-text"]


def configuration(schema, url, **more):
    service = {"rest": "old", "stage": "rest", "methods": RULES, **more.pop("service", {})}
    return {
        "listeners": [{"address": "127.0.0.1:0"}],
        "admin": {"address": "127.0.0.1:0"},
        "workers": 1,
        "schema": [{"descriptor_set": str(schema.descriptors)}],
        "upstreams": {"old": {"protocol": "rest", "endpoints": [url], **more.pop("upstream", {})}},
        "services": {SERVICE: service},
        **more,
    }


@pytest.fixture(scope="module")
def service():
    return RESTStreams()


@pytest.fixture(scope="module")
def gateway(echo_schema, service, tmp_path_factory):
    made = Gateway(tmp_path_factory.mktemp("rest-backend-streams"), configuration(echo_schema, service.url))
    yield made
    assert made.discard() in (0, -9), "the gateway crashed"


@pytest.fixture
def old(service):
    service.reset()
    yield service
    service.go_on.set()
    service.reset()


@pytest.fixture
def client(echo_schema):
    made = []

    def make(gateway, caller):
        made.append(CLIENTS[caller](echo_schema, gateway.address))
        return made[-1]

    yield make
    for one in made:
        one.close()


def numbers(outcome):
    return [line.number for line in outcome.lines]


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("form", TYPES)
def test_every_form_for_every_caller(gateway, old, client, line, caller, form):
    old.reset(form)
    outcome = client(gateway, caller).call("Hear", line("mo in/ü", count=3), headers={"x-word": "w"})
    assert (outcome.code, numbers(outcome)) == (None, [1, 2, 3])
    assert [one.text for one in outcome.lines] == ["mo in/ü"] * 3
    assert outcome.headers["x-head"] == "h"
    request = old.service.only()
    assert (request.method, request.path) == ("GET", "/v1/hear/mo%20in%2F%C3%BC")
    assert (request.query, request["x-word"]) == ("wish.count=3", "w")
    assert request["accept"].split(";")[0].split(",")[0] == "application/x-ndjson"
    assert "text/event-stream" in request["accept"] and "application/json" in request["accept"]


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("form", TYPES)
def test_no_message(gateway, old, client, line, caller, form):
    old.reset(form)
    outcome = client(gateway, caller).call("Hear", line())
    assert (outcome.code, outcome.lines) == (None, [])


@pytest.mark.parametrize("caller", ["connect", "grpc", "grpc-web-text"])
@pytest.mark.parametrize("form", TYPES)
def test_a_thousand_messages_in_odd_pieces(gateway, old, client, line, caller, form):
    old.reset(form, piece=13)
    outcome = client(gateway, caller).call("Hear", line(count=1000))
    assert (outcome.code, numbers(outcome)) == (None, list(range(1, 1001)))


@pytest.mark.parametrize("caller", ["connect", "connect-json", "grpc"])
@pytest.mark.parametrize("form", TYPES)
def test_large_messages(gateway, old, client, line, caller, form):
    old.reset(form)
    outcome = client(gateway, caller).call("Hear", line(count=3, size=3_000_000))
    assert (outcome.code, [len(one.data) for one in outcome.lines]) == (None, [3_000_000] * 3)


@pytest.mark.parametrize("caller", ["connect", "grpc"])
@pytest.mark.parametrize("form", TYPES)
def test_compressed_answers(gateway, old, client, line, caller, form):
    for count, size in [(0, 0), (1000, 0), (3, 1_000_000)]:
        old.reset(form, coding="gzip", piece=1777)
        outcome = client(gateway, caller).call("Hear", line(count=count, size=size))
        assert (outcome.code, numbers(outcome)) == (None, list(range(1, count + 1)))
        assert all(len(one.data) == size for one in outcome.lines)


@pytest.mark.parametrize("caller", CALLERS)
def test_an_error_before_the_first_message(gateway, old, client, line, caller):
    outcome = client(gateway, caller).call("Hear", line(code=9))
    assert (outcome.code, outcome.message, outcome.lines) == ("failed_precondition", "not ünow", [])
    assert [name for name, _ in outcome.details] == ["google.protobuf.Duration"]


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("form", TYPES)
def test_an_error_in_mid_stream(gateway, old, client, line, caller, form):
    old.reset(form)
    outcome = client(gateway, caller).call("Hear", line(count=2, code=9))
    assert (outcome.code, outcome.message, numbers(outcome)) == ("failed_precondition", "not ünow", [1, 2])
    assert [name for name, _ in outcome.details] == ["google.protobuf.Duration"]


BROKEN = {
    # The form, what stands behind two messages, the code.
    "half a line": ("ndjson", b'{"text":"x', "internal"),
    "half an array": ("array", b"", "internal"),
    "half an element": ("array", b',{"te', "internal"),
    "no comma": ("array", b"{}]", "internal"),
    "bytes behind the array": ("array", b"]{}", "internal"),
    "a cut record": ("sequence", b'\x1e{"text":"x\x1e{}\n', "internal"),
    "half an event": ("sse", b'data: {"text":"x"}\n', "internal"),
    "no JSON": ("ndjson", b"oops\n", "internal"),
    "a page": ("ndjson", b"<html>\n", "internal"),
    "another type": ("ndjson", b'{"number":[]}\n', "internal"),
    "a null": ("array", b",null]", "internal"),
    "an error that is a text": ("ndjson", b'{"error":"it broke"}\n', "unknown"),
    "an error with a name": ("ndjson", b'{"error":{"code":"aborted","message":"m"}}\n', "aborted"),
    "an error with a status": ("ndjson", b'{"error":{"code":404,"message":"m"}}\n', "not_found"),
    "an event that is no JSON": ("sse", b"event: error\ndata: it broke\n\n", "unknown"),
    "an error without a word": ("sse", b"event: error\n\n", "unknown"),
}


@pytest.mark.parametrize("caller", ["connect", "grpc", "grpc-web"])
@pytest.mark.parametrize("what", BROKEN)
def test_what_was_good_before_a_fault_arrives(gateway, old, client, line, caller, what):
    form, ending, code = BROKEN[what]
    old.reset(form)
    old.ending = ending
    outcome = client(gateway, caller).call("Hear", line(count=2))
    assert (outcome.code, numbers(outcome)) == (code, [1, 2]), outcome
    assert outcome.message


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("form", TYPES)
def test_an_answer_that_is_cut(gateway, old, client, line, caller, form):
    old.reset(form)
    old.cuts = True
    outcome = client(gateway, caller).call("Hear", line(count=2))
    assert (outcome.code, numbers(outcome)) == ("unavailable", [1, 2]), outcome


@pytest.mark.parametrize("what", ["cut", "no gzip"])
def test_compressed_answers_that_are_broken(gateway, old, client, line, what):
    old.reset("ndjson", coding="gzip")
    if what == "cut":
        def answer(request):
            import zlib
            packer = zlib.compressobj(wbits=31)
            body = packer.compress(b'{"number":1}\n') + packer.flush(zlib.Z_SYNC_FLUSH)
            old.head(request, 200, TYPES["ndjson"], f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n")
            request.send(body)
        expected = [1]
    else:
        def answer(request):
            old.head(request, 200, TYPES["ndjson"], "Content-Encoding: gzip\r\nContent-Length: 13\r\n")
            request.send(b'{"number":1}\n')
        expected = []
    old.service.answers(answer)
    outcome = client(gateway, "grpc").call("Hear", line())
    assert (outcome.code, numbers(outcome)) == ("internal", expected)


@pytest.mark.parametrize("caller", ["connect", "grpc", "grpc-web"])
def test_other_answers_than_streams(gateway, old, client, line, caller):
    def says(type, body, status=200):
        def answer(request):
            field = f"Content-Type: {type}\r\n" if type else ""
            length = f"Content-Length: {len(body)}\r\n" if status != 204 else ""
            request.send(f"HTTP/1.1 {status} X\r\n{field}{length}\r\n".encode() + body)
        old.service.answers(answer)
        return client(gateway, caller).call("Hear", line())

    # One object is one message.
    assert numbers(says("application/json", b'{"number":7}')) == [7]
    assert numbers(says(None, b'[{"number":7}]')) == [7]
    assert numbers(says("application/vnd.old+json", b'[{"number":7},{}]')) == [7, 0]
    assert numbers(says("application/x-protobuf", b"\x18\x07")) == [7]
    assert says(None, b"", 204).lines == [] and says("application/json", b"").lines == []
    assert says("text/html", b"<html>").code == "internal"
    assert says("image/png", b"x").code == "internal"
    page = says("text/html", b"<html>go away</html>", 503)
    assert (page.code, "html" in page.message) == ("unavailable", False)
    moved = says("text/plain", b"", 302)
    assert moved.code == "failed_precondition" and moved.lines == []


@pytest.mark.parametrize("caller", ["connect", "connect-h2", "grpc", "grpc-web"])
def test_messages_come_one_by_one_and_a_caller_who_leaves_ends_the_call(gateway, old, client, line, caller):
    stream = client(gateway, caller).begin("Hear", line(count=2, delay=60))
    # The answer has a minute to go; what came is here.
    assert [next(stream).number, next(stream).number] == [1, 2]
    stream.cancel() if caller == "grpc" else stream.close()
    assert old.left.wait(30), "the upstream was not left"


@pytest.mark.parametrize("caller", CALLERS)
def test_the_callers_deadline(gateway, old, client, line, caller):
    outcome = client(gateway, caller).call("Hear", line(count=2, delay=60), timeout=1)
    assert outcome.code == "deadline_exceeded"
    assert old.left.wait(30), "the upstream was not left"


@pytest.mark.parametrize("caller", ["connect", "connect-h2", "grpc-web"])
def test_silence_ends_a_stream(echo_schema, old, start, client, line, caller):
    """For callers that name no deadline: one that they name counts alone."""
    gateway = start(configuration(echo_schema, old.url, timeouts={"stream_idle": "1s"}))
    outcome = client(gateway, caller).call("Hear", line(count=2, delay=60))
    assert (outcome.code, numbers(outcome)) == ("deadline_exceeded", [1, 2])
    assert old.left.wait(30), "the upstream was not left"


@pytest.mark.parametrize("form", ["ndjson", "array", "sse"])
@pytest.mark.parametrize("coding", [None, "gzip"])
def test_a_caller_that_does_not_read_holds_the_service_back(gateway, old, line, form, coding):
    """Kernels take some of it, the gateway next to nothing: not of a small body either that unpacks to 200 MB."""
    old.reset(form, coding)
    before = gateway.resident_bytes()
    request = line("x", count=1500, size=100_000).SerializeToString()
    with HTTP2Client(gateway.address, window=1 << 16, connection_window=1 << 20) as caller:
        caller.reads = False
        stream = caller.start(
            "POST", f"/{SERVICE}/Hear", [("content-type", "application/grpc"), ("te", "trailers")],
            struct.pack(">BI", 0, len(request)) + request)
        assert caller.wait_for(lambda: len(caller.answers[stream].body) > 50_000)
        sent = settled(lambda: old.sent, quiet=1, what="what the service sends")
        assert gateway.resident_bytes() - before < 20 << 20
        if coding is None:
            assert sent < 800, "more than kernels hold went somewhere"


@pytest.mark.parametrize("form", ["ndjson", "array", "sse"])
@pytest.mark.parametrize("coding", [None, "gzip"])
def test_a_caller_that_pauses_gets_all(gateway, old, client, line, form, coding):
    old.reset(form, coding)
    stream = client(gateway, "grpc").begin("Hear", line(count=400, size=100_000))
    assert next(stream).number == 1
    settled(lambda: old.sent, what="what the service sends")
    assert [one.number for one in stream] == list(range(2, 401))


def test_a_message_over_the_limit(echo_schema, old, start, client, line):
    gateway = start(configuration(echo_schema, old.url, limits={"message": "1KiB"}))
    for form in TYPES:
        old.reset(form)
        outcome = client(gateway, "grpc").call("Hear", line(count=500))
        assert (outcome.code, len(outcome.lines)) == (None, 500), form
        for coding in (None, "gzip"):
            old.reset(form, coding)
            outcome = client(gateway, "grpc").call("Hear", line(count=1, size=2000))
            assert (outcome.code, outcome.lines) == ("resource_exhausted", []), form


def test_the_legacy_profile_and_the_envelope(echo_schema, old, start, client, line):
    gateway = start(configuration(
        echo_schema, old.url, service={"envelope": "data", "json": {"int64": "number", "unknown_fields": "ignore"}}))
    for form in TYPES:
        old.reset(form)
        old.wrap = lambda message: {"data": {"number": int(message["number"]), "more": 1}, "took": 3}
        outcome = client(gateway, "grpc").call("Hear", line(count=3))
        assert (outcome.code, numbers(outcome)) == (None, [1, 2, 3]), form
        outcome = client(gateway, "grpc").call("Hear", line(count=1, code=9))
        assert (outcome.code, numbers(outcome)) == ("failed_precondition", [1]), form
    # A list in one envelope.
    old.service.answers(lambda request: request.send(
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n'
        b'{"total":2,"data":[{"number":1},{"number":2}],"next":null}'))
    assert numbers(client(gateway, "grpc").call("Hear", line())) == [1, 2]


def test_the_body_of_the_request(gateway, old, client, line):
    # What no query holds goes by the next rule: a body.
    outcome = client(gateway, "connect").call("Hear", line("x", count=1, seen={"a": "b"}))
    request = old.service.only()
    assert (outcome.code, request.method, request.path) == (None, "POST", "/v1/hear/x")
    assert request.json() == {"seen": {"a": "b"}, "wish": {"count": 1}}


def test_what_is_not_one_message_asks_nobody(gateway, old, echo_schema):
    with grpc.insecure_channel("%s:%d" % gateway.address) as channel:
        pb = echo_schema.pb
        call = channel.stream_stream(
            f"/{SERVICE}/Hear", request_serializer=pb.Line.SerializeToString, response_deserializer=pb.Line.FromString)
        for count in (0, 2):
            with pytest.raises(grpc.RpcError) as error:
                list(call(iter([pb.Line(text="x")] * count), timeout=30))
            assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED, error.value.details()
    assert old.service.requests == []


@pytest.mark.parametrize("caller", ["connect-h2", "grpc", "grpc-web-h2"])
def test_client_streams_are_refused_with_the_reason(gateway, old, client, line, caller):
    told = client(gateway, caller).call("Tell", iter([line(), line()]))
    assert told.code == "unimplemented" and "streams from the client" in told.message, told
    talked = client(gateway, caller).call("Talk", iter([line(), line()]))
    assert talked.code == "unimplemented" and "streams both ways" in talked.message, talked
    assert old.service.requests == []


def test_check_tells_what_cannot_be(tmp_path, echo_schema, old):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(echo_schema, old.url)))
    checked = run("check", "--config", file)
    assert checked.returncode == 0
    said = checked.stdout + checked.stderr
    assert "Echo/Tell cannot be asked by RPC while its stage is rest: Tell streams from the client" in said
    assert "Echo/Talk cannot be asked by RPC while its stage is rest: Talk streams both ways" in said
    assert "Echo/Hear" not in said


def test_explain(tmp_path, echo_schema, old):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(echo_schema, old.url)))
    told = run(
        "explain", "--config", file, "POST", f"/{SERVICE}/Hear", "-H", "content-type: application/connect+json",
        "--data", '{"text":"moin","wish":{"count":2}}')
    assert told.returncode == 0
    assert "translated from Connect to REST" in told.stdout
    assert "GET /v1/hear/moin?wish.count=2" in told.stdout
    assert "accept: application/x-ndjson" in told.stdout
    told = run(
        "explain", "--config", file, "POST", f"/{SERVICE}/Tell", "-H", "content-type: application/grpc",
        "--data", '{"text":"moin"}')
    assert "no upstream is asked" in told.stdout and "streams from the client" in told.stdout


def test_a_rest_caller_passes_untouched(gateway, old):
    old.reset("sse-crlf")
    answer = gateway.fetch("GET", "/v1/hear/x?wish.count=1&wish.code=9&any=thing", [("Accept", "*/*")])
    assert (answer.status, answer["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert bytes(answer.body).startswith(b"retry: 10\r\nid: 7\r\nevent: line\r\ndata:{\r\n")
    assert old.service.only()["accept"] == "*/*"


@pytest.mark.parametrize("form", ["ndjson", "array", "sse"])
@pytest.mark.parametrize("format", ["status", "google", "problem", "connect"])
def test_gateway_to_gateway(echo_gateways, start, client, line, form, format):
    """What our own REST face writes is read as what it was, errors too."""
    behind = echo_gateways.configuration("grpc")
    behind["services"][SERVICE] |= {"methods": RULES, "stream": form, "errors": {"format": format}}
    inner = start(behind)
    echo_gateways.memory("grpc").reset()
    # The one who asks says what it reads; only the route's own form is left then.
    outer = start(configuration(
        echo_gateways.schema, inner.url, upstream={"headers": {"set": {"accept": "*/*"}}}))
    for caller in ("connect", "grpc"):
        good = client(outer, caller).call("Hear", line("x", count=3))
        assert (good.code, numbers(good)) == (None, [1, 2, 3])
        bad = client(outer, caller).call("Hear", line("x", count=2, code=10, message="again", detail=True))
        assert (bad.code, bad.message, numbers(bad)) == ("aborted", "again", [1, 2]), bad
        assert [name for name, _ in bad.details] == ["google.protobuf.Duration"]
        early = client(outer, caller).call("Hear", line("x", code=10, message="again"))
        assert (early.code, early.message) == ("aborted", "again")


def test_the_stage_moves_a_stream(echo_gateways, old, start, client, line):
    setup = echo_gateways.configuration("grpc")
    setup["upstreams"]["old"] = {"protocol": "rest", "endpoints": [old.url]}
    setup["services"][SERVICE] |= {
        "rest": "old", "methods": {"Hear": {
            **RULES["Hear"], "stage": "canary", "canary": {"percent": "50%", "sticky_by": "header:x-user-id"}}}}
    gateway = start(setup)
    caller = client(gateway, "grpc")
    sides = set()
    for user in range(40):
        outcome = caller.call("Hear", line(count=2), headers={"x-user-id": str(user)})
        assert (outcome.code, numbers(outcome)) == (None, [1, 2])
        # Only the old service leaves out what it saw.
        sides.add("rpc" if outcome.lines[0].seen else "rest")
    assert sides == {"rest", "rpc"}
    wait_until(
        lambda: sum(gateway.metric("turnout_requests_total", method="Hear", side=side) for side in sides) == 40,
        what="the count")


@pytest.mark.parametrize("last", ["event: end\ndata: {}\n\n", "data: [DONE]\n\n"], ids=["end", "DONE"])
@pytest.mark.parametrize("caller", ["connect", "grpc"])
def test_the_end_that_is_said_is_the_end_although_the_connection_stays(gateway, old, client, line, caller, last):
    def answer(request):
        old.head(request, 200, TYPES["sse"], "Transfer-Encoding: chunked\r\n")
        text = ('data: {"number":1}\n\n' + last).encode()
        request.send(b"%x\r\n%s\r\n" % (len(text), text))
        old.go_on.wait(60)

    old.service.answers(answer)
    outcome = client(gateway, caller).call("Hear", line(), timeout=30)
    assert (outcome.code, numbers(outcome)) == (None, [1])
    old.go_on.set()


def test_what_came_before_a_broken_byte_is_delivered(gateway, old, client, line):
    """All of it in one read: a hundred messages, and a check sum that is wrong."""
    body = bytearray(gzip.compress(b'{"number":1}\n' * 100))
    body[-6] ^= 1

    def answer(request):
        old.head(request, 200, TYPES["ndjson"], f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n")
        request.send(bytes(body))

    old.service.answers(answer)
    outcome = client(gateway, "grpc").call("Hear", line())
    assert (outcome.code, len(outcome.lines)) == ("internal", 100)


def test_a_body_where_there_is_none_is_not_kept(gateway, old, client, line):
    """A status that has no body, and one that never ends."""
    def answer(request):
        old.head(request, 205, TYPES["ndjson"], f"Content-Length: {64 << 20}\r\n")
        for _ in range(64):
            request.send(b" " * (1 << 20))

    before = gateway.resident_bytes()
    old.service.answers(answer)
    outcome = client(gateway, "grpc").call("Hear", line())
    assert (outcome.code, outcome.lines) == (None, [])
    assert gateway.resident_bytes() < before + (24 << 20)


def test_what_unpacks_to_nothing_is_bounded(gateway, old, client, line):
    body = gzip.compress(b" " * (64 << 20))

    def answer(request):
        old.head(request, 200, TYPES["ndjson"], f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n")
        request.send(body)

    old.service.answers(answer)
    assert client(gateway, "grpc").call("Hear", line()).code == "resource_exhausted"


def packed_lines(coding):
    """Seven MiB of messages in the widest window that is taken."""
    lines = b"".join(b'{"data":"%s"}\n' % base64.b64encode(os.urandom(90_000)) for _ in range(60))
    return brotli(lines, 24) if coding == "br" else zstd(lines, 23)


@pytest.mark.parametrize("coding", ["br", "zstd"])
def test_what_a_decoder_holds_is_a_part_of_the_budget(gateway, old, client, line, coding):
    """The service chooses how far its answer looks back, and so how much memory each of its streams takes."""
    body = packed_lines(coding)

    def answer(request):
        old.head(request, 200, TYPES["ndjson"], f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n")
        request.send(body[:-100])
        old.go_on.wait(60)
        request.send(body[-100:])

    old.service.answers(answer)
    stream = client(gateway, "grpc").begin("Hear", line())
    for _ in range(50):
        next(stream)
    assert gateway.metric("turnout_buffered_bytes") > 4 << 20
    old.go_on.set()
    assert len(list(stream)) == 10
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="that it is given back")


@pytest.mark.parametrize("coding", ["br", "zstd"])
def test_beyond_the_budget_no_decoder_grows(echo_schema, old, start, client, line, coding):
    gateway = start(configuration(echo_schema, old.url, limits={"buffers": "2MiB", "message": "1MiB"}))
    body = packed_lines(coding)

    def answer(request):
        old.head(request, 200, TYPES["ndjson"], f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n")
        request.send(body)

    old.service.answers(answer)
    assert client(gateway, "grpc").call("Hear", line()).code == "unavailable"
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="that it is given back")
    old.reset("ndjson", coding="gzip")
    assert numbers(client(gateway, "grpc").call("Hear", line(count=3))) == [1, 2, 3]
