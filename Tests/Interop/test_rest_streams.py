"""Streams of REST callers before RPC backends: lines, arrays, events and raw bytes, both ways, to their ends."""

import gzip
import hashlib
import http.client
import json
import socket
import subprocess

import pytest

from support.echo import MESSAGE, SERVICE
from support.files import PIECE, FilesUnderUvicorn
from support.gateway import Gateway, run, wait_until
from support.schema import Schema

HTTP = {
    "Hear": {"http": {"get": "/v1/hear/{text}", "additional_bindings": [{"post": "/v1/hear", "body": "*"}]}},
    "Tell": {"http": {"post": "/v1/tell/{number}", "body": "*"}},
    "Talk": {"http": {"post": "/v1/talk", "body": "*"}},
}
TYPES = {"ndjson": "application/x-ndjson", "array": "application/json", "sse": "text/event-stream"}
BACKENDS = ["connect", "connect-json", "grpc", "grpc-web", "grpc-runtime"]


@pytest.fixture(scope="module")
def gateways(echo_gateways, tmp_path_factory):
    made = {}

    def get(backend="grpc", **service):
        key = backend, json.dumps(service)
        if key not in made:
            configuration = echo_gateways.configuration(backend)
            configuration["services"][SERVICE] |= {"methods": HTTP, **service}
            made[key] = Gateway(tmp_path_factory.mktemp("rest-streams"), configuration)
        echo_gateways.memory(backend).reset()
        return made[key]

    get.memory = echo_gateways.memory
    yield get
    assert all(gateway.discard() in (0, -9) for gateway in made.values()), "a gateway crashed"


def ask(gateway, method, target, body=None, **headers):
    connection = http.client.HTTPConnection(*gateway.address, timeout=60)
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, target, body, fields, encode_chunked=body is not None and not isinstance(body, bytes))
    return connection.getresponse()


def messages(form, text):
    """The messages of a body, and what it says of its end."""
    if form == "array":
        found = json.loads(text)
    elif form == "ndjson":
        assert not text or text.endswith("\n")
        found = [json.loads(line) for line in text.splitlines()]
    else:
        found, name = [], None
        for line in text.splitlines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                found.append({name: data} if name else data)
            else:
                assert line == ""
                name = None
        if found and "end" in found[-1]:
            assert found.pop() == {"end": {}}
        else:
            assert "error" in found[-1], "an end that is not told"
    if found and "error" in found[-1]:
        return found[:-1], found[-1]["error"]
    return found, None


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("form", TYPES)
def test_forms_by_accept(gateways, backend, form):
    answer = ask(gateways(backend), "GET", "/v1/hear/moin?wish.count=3", accept=TYPES[form], x_word="w")
    assert (answer.status, answer.getheader("content-type")) == (200, TYPES[form])
    assert (answer.getheader("x-head"), answer.getheader("vary")) == ("h", "Accept")
    found, error = messages(form, answer.read().decode())
    assert error is None
    assert [(one["text"], one["number"]) for one in found] == [("moin", "1"), ("moin", "2"), ("moin", "3")]
    assert found[0]["seen"]["x-word"] == "w"


@pytest.mark.parametrize("form", TYPES)
def test_the_routes_own_form(gateways, form):
    gateway = gateways(stream=form)
    answer = ask(gateway, "GET", "/v1/hear/x?wish.count=1", accept="*/*")
    assert answer.getheader("content-type") == TYPES[form]
    assert len(messages(form, answer.read().decode())[0]) == 1
    other = ask(gateway, "GET", "/v1/hear/x", accept="application/jsonl;q=0.5, text/html")
    assert other.getheader("content-type") == "application/jsonl"
    assert other.read() == b""


@pytest.mark.parametrize("form", TYPES)
def test_no_message(gateways, form):
    answer = ask(gateways(), "GET", "/v1/hear/x", accept=TYPES[form])
    text = answer.read().decode()
    assert (answer.status, messages(form, text)) == (200, ([], None))
    assert text == {"ndjson": "", "array": "[]", "sse": "event: end\ndata: {}\n\n"}[form]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("form", TYPES)
def test_an_error_in_mid_stream(gateways, backend, form):
    target = "/v1/hear"
    body = json.dumps({"text": "x", "wish": {"count": 2, "code": 15, "message": MESSAGE, "detail": True}}).encode()
    answer = ask(gateways(backend), "POST", target, body, accept=TYPES[form], content_type="application/json")
    assert answer.status == 200
    found, error = messages(form, answer.read().decode())
    assert len(found) == 2
    assert error == {
        "code": 15, "message": MESSAGE, "details": [{"@type": "type.googleapis.com/google.protobuf.Duration", "value": "30s"}]}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("form", ["ndjson", "array"])
def test_an_error_before_the_first_message_is_an_answer(gateways, backend, form):
    answer = ask(gateways(backend), "GET", "/v1/hear/x?wish.code=5&wish.message=gone", accept=TYPES[form])
    assert (answer.status, answer.getheader("content-type")) == (404, "application/json")
    assert json.load(answer) == {"code": 5, "message": "gone", "details": []}
    assert answer.getheader("trailer-x-tail") == "t"


def test_errors_in_the_routes_format(gateways):
    gateway = gateways(errors={"format": "problem"})
    answer = ask(gateway, "GET", "/v1/hear/x?wish.count=1&wish.code=10&wish.message=again")
    found, error = messages("ndjson", answer.read().decode())
    assert (len(found), error["status"], error["code"], error["detail"]) == (1, 409, "aborted", "again")


@pytest.mark.parametrize("form", TYPES)
def test_messages_come_one_by_one_and_a_client_that_leaves_ends_the_call(gateways, form):
    answer = ask(gateways(), "GET", "/v1/hear/x?wish.count=1&wish.delay=60", accept=TYPES[form])
    # The stream has a minute to go; what came is here.
    first = answer.read1(1000).decode()
    assert '"number":"1"' in first
    answer.close()
    wait_until(gateways.memory("grpc").cancelled.is_set, what="the end of the call")


def test_curl_sees_events_as_they_come(gateways):
    process = subprocess.Popen(
        ["curl", "-sN", "-H", "Accept: text/event-stream",
         gateways().url + "/v1/hear/x?wish.count=2&wish.delay=60"], stdout=subprocess.PIPE, text=True)
    try:
        lines = [process.stdout.readline() for _ in range(4)]
        assert [line[:6] for line in lines] == ["data: ", "\n", "data: ", "\n"]
    finally:
        process.kill()
        process.wait()


def test_an_event_source_is_open_before_its_first_event(gateways):
    answer = ask(gateways(), "GET", "/v1/hear/x?wish.delay=60", accept="text/event-stream")
    assert (answer.status, answer.getheader("cache-control")) == (200, "no-cache")
    answer.close()


def test_a_deadline_of_silence_is_told_in_the_stream(echo_gateways, start):
    configuration = echo_gateways.configuration("grpc")
    configuration["services"][SERVICE]["methods"] = HTTP
    configuration["timeouts"] = {"stream_idle": "1s"}
    answer = ask(start(configuration), "GET", "/v1/hear/x?wish.count=1&wish.delay=60")
    found, error = messages("ndjson", answer.read().decode())
    assert (len(found), error["code"]) == (1, 4)


def test_a_thousand_messages_and_large_ones(gateways):
    found, error = messages("array", ask(
        gateways(), "GET", "/v1/hear/x?wish.count=1000", accept="application/json").read().decode())
    assert (error, [int(one["number"]) for one in found]) == (None, list(range(1, 1001)))
    found, error = messages("ndjson", ask(
        gateways(), "GET", "/v1/hear/x?wish.count=4&wish.size=1000000").read().decode())
    assert (error, [len(one["data"]) for one in found]) == (None, [1333336] * 4)


def test_bad_requests_ask_nobody(gateways):
    for method, target, body, status in [
        ("GET", "/v1/hear/x?nonsense=1", None, 400), ("POST", "/v1/hear", b"{", 400),
        ("POST", "/v1/hear", b'{"wish":{"count":"many"}}', 400), ("POST", "/v1/tell/1", b'{"text":1}', 400),
        ("POST", "/v1/tell/1", b"[}]", 400), ("POST", "/v1/tell/one", b"{}", 400),
    ]:
        answer = ask(gateways(), method, target, body, content_type="application/json")
        assert answer.status == status, target
        assert json.load(answer)["code"] == 3
    assert gateways.memory("grpc").calls == 0


def test_head_has_no_body(gateways):
    answer = ask(gateways(), "HEAD", "/v1/hear/x?wish.count=3")
    assert (answer.status, answer.read()) == (200, b"")


LINES = [{"text": "a"}, {"text": "b}]\"\\"}, {"text": "c\n"}]
BODIES = {
    "lines": ("application/x-ndjson", "\n".join(json.dumps(line) for line in LINES)),
    "array": ("application/json", json.dumps(LINES, indent=2)),
    "values": ("application/json", "".join(json.dumps(line) for line in LINES)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("body", BODIES)
def test_client_streams(gateways, backend, body):
    type, text = BODIES[body]
    pieces = [text[at:at + 7].encode() for at in range(0, len(text), 7)]
    answer = ask(gateways(backend), "POST", "/v1/tell/7", iter(pieces), content_type=type)
    assert (answer.status, answer.getheader("content-type")) == (200, "application/json")
    got = json.load(answer)
    assert (got["text"], got["number"]) == ('ab}]"\\c\n', "3")
    assert answer.getheader("trailer-x-tail") == "t"


def test_a_client_stream_of_no_message(gateways):
    for body in (b"", b"[]", b" \n"):
        answer = ask(gateways(), "POST", "/v1/tell/7", body)
        assert (answer.status, json.load(answer).get("text", "")) == (200, "")


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_one_answer_to_a_client_stream_is_no_event(gateways, backend):
    for gateway, accept in [(gateways(backend), "text/event-stream"), (gateways(backend, stream="sse"), "*/*")]:
        connection = http.client.HTTPConnection(*gateway.address, timeout=60)
        for _ in range(2):
            connection.request("POST", "/v1/tell/7", b'{"text":"a"}', {"Accept": accept})
            answer = connection.getresponse()
            assert (answer.status, answer.getheader("content-type")) == (200, "application/json")
            assert json.load(answer)["text"] == "a"
        connection.request("POST", "/v1/tell/7", b'{"wish":{"code":9}}', {"Accept": accept})
        answer = connection.getresponse()
        assert (answer.status, json.load(answer)["code"]) == (400, 9)


def test_an_error_ends_a_client_stream(gateways):
    body = json.dumps({"text": "x", "wish": {"code": 9, "message": "not so"}}).encode()
    answer = ask(gateways(), "POST", "/v1/tell/1", body)
    assert (answer.status, json.load(answer)["message"]) == (400, "not so")


@pytest.mark.parametrize("second", [b"{", b'{"text":1}', b'{"number":"8"}', b"}"])
def test_a_bad_message_behind_good_ones(gateways, second):
    answer = ask(gateways(), "POST", "/v1/tell/7", iter([b'{"text":"a"}\n', second]))
    assert (answer.status, json.load(answer)["code"]) == (400, 3)


@pytest.mark.parametrize("body", [b'{}\n{}\n{"text":1}\n{}\n', b'[{},{},{"text":1},{}]', b"{}{}7{}"])
def test_which_message_is_bad(gateways, body):
    answer = ask(gateways(), "POST", "/v1/tell/7", body, content_type="application/json")
    message = json.load(answer)["message"]
    assert answer.status == 400 and message.startswith("message 3 of the stream: "), message


def test_limits_and_codings_of_client_streams(echo_gateways, start):
    configuration = echo_gateways.configuration("grpc")
    configuration["services"][SERVICE]["methods"] = HTTP
    configuration["limits"] = {"message": "1KiB"}
    gateway = start(configuration)
    small = json.dumps({"text": "x", "data": "QUJD" * 200}).encode()
    answer = ask(gateway, "POST", "/v1/tell/1", iter([small] * 5))
    assert (answer.status, json.load(answer)["text"]) == (200, "xxxxx")
    answer = ask(gateway, "POST", "/v1/tell/1", iter([small, b'{"text":"' + b"x" * 2000]))
    assert (answer.status, json.load(answer)["code"]) == (413, 8)
    answer = ask(gateway, "POST", "/v1/tell/1", gzip.compress(small), content_encoding="gzip")
    assert answer.status == 415
    answer = ask(gateway, "POST", "/v1/tell/1", small, content_type="text/plain")
    assert (answer.status, answer.getheader("accept-post")) == (415, "application/x-ndjson, application/json")


def test_both_ways(gateways):
    body = "".join(json.dumps(line) + "\n" for line in LINES).encode()
    refused = ask(gateways(), "POST", "/v1/talk", body, content_type="application/x-ndjson")
    assert refused.status == 505
    answer = subprocess.run(
        ["curl", "-s", "--http2-prior-knowledge", "-H", "Content-Type: application/x-ndjson", "--data-binary", "@-",
         gateways().url + "/v1/talk"], input=body, capture_output=True, timeout=60)
    found, error = messages("ndjson", answer.stdout.decode())
    assert (error, [one["text"] for one in found]) == (None, [line["text"] for line in LINES])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    schema = Schema(tmp_path_factory.mktemp("files"), "files")
    service = FilesUnderUvicorn(schema)
    gateway = Gateway(tmp_path_factory.mktemp("files-gateway"), {
        "listeners": [{"address": "127.0.0.1:0"}],
        "schema": [{"descriptor_set": str(schema.descriptors)}],
        "upstreams": {"files": {"protocol": "connect", "endpoints": [service.url]}},
        "services": {"files.v1.Files": {"rpc": "files", "stage": "rpc"}},
    })
    gateway.memory = service.memory
    yield gateway
    assert gateway.discard() in (0, -9)
    service.stop()


def test_a_download_is_raw_bytes(files):
    answer = ask(files, "GET", "/v1/files/a.csv?pieces=50", accept="text/event-stream")
    assert (answer.status, answer.getheader("content-type")) == (200, "text/csv; charset=utf-8")
    assert answer.read() == PIECE * 50
    answer = ask(files, "GET", "/v1/files/a.csv")
    assert (answer.status, answer.getheader("content-type"), answer.read()) == (200, "application/octet-stream", b"")


def test_a_download_that_fails_is_cut(files):
    # A reset may overtake what was sent.
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        ask(files, "GET", "/v1/files/a.csv?pieces=2&fails=data_loss").read()
    answer = ask(files, "GET", "/v1/files/a.csv?fails=not_found")
    assert (answer.status, json.load(answer)["message"]) == (404, "the disk is gone")


def test_an_upload_is_raw_bytes(files):
    content = PIECE * 700
    pieces = [content[at:at + 100_000] for at in range(0, len(content), 100_000)]
    answer = ask(files, "PUT", "/v1/files/b.bin", iter(pieces), content_type="image/png")
    got = json.load(answer)
    assert (got["name"], got["contentType"], int(got["size"])) == ("b.bin", "image/png", len(content))
    assert got["sha256"] == hashlib.sha256(content).hexdigest()
    assert got["pieces"] > 100


def test_an_empty_upload_is_one_message(files):
    for body in [b"", iter([])]:
        got = json.load(ask(files, "PUT", "/v1/files/empty", body, content_type="text/plain"))
        assert (got["name"], got["contentType"], got["pieces"]) == ("empty", "text/plain", 1)
        assert got["sha256"] == hashlib.sha256(b"").hexdigest()


def test_an_upload_that_breaks_off_ends_the_call(files):
    connection = socket.create_connection(files.address)
    connection.sendall(
        b"PUT /v1/files/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    before = files.memory.calls
    connection.close()
    # The service is free for others.
    answer = ask(files, "PUT", "/v1/files/d", b"x")
    assert (answer.status, files.memory.calls > before) == (200, True)


def test_events_have_names_and_ids_from_fields(gateways):
    """A page that listens for events of a name, and comes back with Last-Event-ID."""
    gateway = gateways(events={"event": "text", "id": "number"})
    answer = ask(gateway, "GET", "/v1/hear/moin?wish.count=2", accept=TYPES["sse"], last_event_id="7")
    lines = answer.read().decode().split("\n")
    assert [line for line in lines if line and not line.startswith("data: ")] == [
        "event: moin", "id: 1", "event: moin", "id: 2", "event: end"]
    assert lines.index("id: 1") + 1 == next(at for at, line in enumerate(lines) if line.startswith("data: "))
    # Other forms are as they were.
    text = ask(gateway, "GET", "/v1/hear/moin?wish.count=2", accept=TYPES["ndjson"]).read().decode()
    assert [json.loads(line)["number"] for line in text.splitlines()] == ["1", "2"]


def test_a_value_is_no_line_of_its_own(gateways):
    gateway = gateways(events={"event": "text"})
    answer = ask(gateway, "GET", "/v1/hear/a%0Adata%3A%20x%0D%00b?wish.count=1", accept=TYPES["sse"])
    lines = answer.read().decode().split("\n")
    assert lines[0] == "event: a data: x  b" and lines[1].startswith("data: {")


@pytest.mark.parametrize("events, words", [
    ({"id": "nobody"}, "the messages of the stream have no field"), ({"event": "data"}, "have no field"),
    ({"event": "seen"}, "that is one word"), ({"name": "text"}, "unknown key `name`")])
def test_fields_that_are_none(echo_gateways, tmp_path, events, words):
    configuration = echo_gateways.configuration("grpc")
    configuration["services"][SERVICE] |= {"methods": HTTP, "events": events}
    path = tmp_path / "turnout.yaml"
    path.write_text(json.dumps(configuration))
    result = run("check", "--config", path)
    assert result.returncode == 1 and words in result.stderr
