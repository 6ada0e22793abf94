"""Traces: ids passed on and made, spans at a collector, a collector that fails."""

import json
import re
import time

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.collector import Collector, attributes
from support.gateway import run, wait_until
from support.rest_service import Reply
from support.schema import SERVICE

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
BOOK = "/v1/books/b1"
SERVER, CLIENT = 2, 3


@pytest.fixture
def collector():
    collector = Collector()
    yield collector
    collector.stop()


@pytest.fixture
def traced(start, configuration, collector):
    """Starts a gateway that gives spans to the collector at once."""

    def begin(otlp=None, tracing=None, interceptors=(), **more):
        exporter = {"otlp": {"endpoint": collector.url, "interval": "50ms", **(otlp or {})}}
        chain = [{"tracing": {"exporter": exporter, **(tracing or {})}}, {"access_log": {"format": "json"}}]
        return start(configuration(interceptors=[*chain, *interceptors], **more))

    return begin


def split(traceparent):
    found = re.fullmatch("00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])", traceparent)
    assert found, traceparent
    return found.groups()


def of_kind(spans, kind):
    return [span for span in spans if span.kind == kind]


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_a_trace_goes_through(traced, collector, rest, protocol):
    before = time.time_ns()
    gateway = traced({"protocol": protocol}, {"service_name": "edge", "resource": {"deployment": "blue"}})
    fields = [("traceparent", PARENT), ("tracestate", "rojo=1,congo=2"), ("User-Agent", "phone/1")]
    assert gateway.fetch("GET", BOOK, fields).status == 200
    client, server = sorted(collector.wait_for(2), key=lambda span: -span.kind)
    assert {client.trace_id.hex(), server.trace_id.hex()} == {TRACE}
    # The caller's span, the call's, the request's, and so on at the backend.
    assert server.parent_span_id.hex() == SPAN and client.parent_span_id == server.span_id
    assert split(rest.only()["traceparent"]) == (TRACE, client.span_id.hex(), "01")
    assert rest.only()["tracestate"] == "rojo=1,congo=2" == server.trace_state
    assert (server.kind, server.name) == (SERVER, "GET /v1/books/{id}")
    assert (client.kind, client.name) == (CLIENT, "GET /v1/books/{id}")
    assert before <= server.start_time_unix_nano <= client.start_time_unix_nano
    assert client.start_time_unix_nano < client.end_time_unix_nano <= server.end_time_unix_nano <= time.time_ns()
    told = attributes(server)
    assert told.items() >= {
        "http.request.method": "GET", "http.route": "/v1/books/{id}", "http.response.status_code": 200,
        "network.protocol.version": "1.1", "client.address": "127.0.0.1", "user_agent.original": "phone/1",
        "rpc.service": SERVICE, "rpc.method": "GetBook", "turnout.stage": "rest", "turnout.side": "rest"}.items()
    assert attributes(client).items() >= {"turnout.upstream": "legacy", "http.response.status_code": 200}.items()
    request = collector.requests[0].resource_spans[0]
    assert attributes(request.resource).items() >= {"service.name": "edge", "deployment": "blue"}.items()
    assert request.scope_spans[0].scope.name == "turnout"
    line = json.loads(gateway.access_log()[0])
    assert (line["trace_id"], line["span_id"]) == (TRACE, server.span_id.hex())
    wait_until(lambda: gateway.metric("turnout_trace_spans_total", outcome="exported") == 2, what="the count")


@pytest.mark.parametrize("fields", [
    [], [("traceparent", PARENT.upper())], [("traceparent", PARENT), ("traceparent", PARENT)],
    [("traceparent", PARENT[:-1])], [("traceparent", f"00-{'0' * 32}-{SPAN}-01")],
])
def test_a_trace_begins_here(traced, collector, rest, fields):
    gateway = traced()
    gateway.fetch("GET", BOOK, [*fields, ("tracestate", "rojo=1")])
    server, = of_kind(collector.wait_for(2), SERVER)
    assert server.parent_span_id == b"" and server.trace_id.hex() != TRACE and server.trace_state == ""
    assert len(rest.only().all("traceparent")) == 1 and rest.only()["tracestate"] is None
    assert split(rest.only()["traceparent"])[0] == server.trace_id.hex()


def test_every_dialect_is_traced(traced, collector, rpc, client_of, pb):
    gateway = traced(stage="rpc")
    client_of(gateway).get_book(pb.GetBookRequest(id="b1"), headers={"traceparent": PARENT})
    gateway.fetch("GET", BOOK, [("traceparent", PARENT)])
    spans = collector.wait_for(4)
    assert sorted(span.name for span in of_kind(spans, SERVER)) == ["GET /v1/books/{id}", f"{SERVICE}/GetBook"]
    assert [span.name for span in of_kind(spans, CLIENT)] == [f"{SERVICE}/GetBook"] * 2
    seen = [split(call.headers["traceparent"]) for call in rpc.calls]
    assert {trace for trace, _, _ in seen} == {TRACE}
    assert {span for _, span, _ in seen} == {span.span_id.hex() for span in of_kind(spans, CLIENT)}


def test_faults_are_marked_and_refusals_are_not(traced, collector, rest, client_of, pb):
    gateway = traced(methods={"ListBooks": {"interceptors": [{"api_key": {"keys": ["k"]}}]}})
    rest.answers(Reply.json({"message": "broken"}, 503))
    gateway.fetch("GET", BOOK)
    with pytest.raises(ConnectError):
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    rest.answers(Reply.json({"message": "no"}, 404))
    gateway.fetch("GET", BOOK)
    gateway.fetch("GET", "/v1/books")
    spans = collector.wait_for(7)
    found = [(span.status.code, attributes(span)["http.response.status_code"], attributes(span).get("error.type"))
             for span in of_kind(spans, SERVER)]
    assert sorted(found, key=str) == sorted(
        [(2, 503, "unavailable"), (2, 503, "unavailable"), (0, 404, None), (0, 401, None)], key=str)
    assert sorted(span.status.code for span in of_kind(spans, CLIENT)) == [2, 2, 2]


def test_what_the_caller_decides(traced, collector, rest):
    gateway = traced(tracing={"sample": "0%"})
    gateway.fetch("GET", BOOK)
    gateway.fetch("GET", BOOK, [("traceparent", PARENT[:-1] + "0")])
    gateway.fetch("GET", BOOK, [("traceparent", PARENT)])
    assert len(collector.wait_for(2)) == 2
    flags = [split(request["traceparent"]) for request in rest.requests]
    assert [flag for _, _, flag in flags] == ["00", "00", "01"] and [trace for trace, _, _ in flags][1:] == [TRACE] * 2
    strict = traced(tracing={"sample": "0%", "parent_based": False})
    strict.fetch("GET", BOOK, [("traceparent", PARENT)])
    assert split(rest.requests[-1]["traceparent"])[2] == "00"


def test_without_a_collector_ids_go_on(start, configuration, rest):
    gateway = start(configuration(interceptors=[{"tracing": {}}, {"request_id": {}}, {"access_log": {"format": "json"}}]))
    answer = gateway.fetch("GET", BOOK, [("traceparent", PARENT)])
    trace, span, _ = split(rest.only()["traceparent"])
    assert trace == TRACE == answer["x-request-id"] == rest.only()["x-request-id"] and span != SPAN
    assert json.loads(gateway.access_log()[0])["trace_id"] == TRACE
    assert gateway.fetch("GET", BOOK, [("X-Request-Id", "mine")])["x-request-id"] == "mine"


def test_the_collector_needs_a_key(traced, collector, rest):
    gateway = traced({"headers": {"x-collector-key": "hush"}})
    gateway.fetch("GET", BOOK)
    collector.wait_for(2)
    path, head = collector.heads[0]
    assert path == "/v1/traces" and head["x-collector-key"] == "hush"
    assert rest.only()["x-collector-key"] is None
    assert "hush" not in gateway.log() + gateway.admin("GET", "/routes").body.decode()


def test_a_collector_that_is_away_for_a_while(traced, collector):
    collector.status, collector.fields = 503, [("Retry-After", "1")]
    gateway = traced()
    for _ in range(5):
        assert gateway.fetch("GET", BOOK).status == 200
    collector.wait_for_requests(1)
    collector.status = 200
    assert len(collector.wait_for(10)) == 10
    wait_until(lambda: "takes spans again" in gateway.log(), what="the word in the log")
    assert gateway.log().count("takes no spans: it answers 503") in (1, 2)  # One for each loop that had spans.


def test_what_is_too_much_is_dropped_and_counted(traced, collector):
    collector.status = 503
    gateway = traced({"queue": 4}, workers=1)
    for _ in range(20):
        assert gateway.fetch("GET", BOOK).status == 200
    assert gateway.metric("turnout_trace_spans_total", outcome="dropped") == 36
    # What no collector takes is not sent for ever.
    collector.status = 400
    wait_until(lambda: gateway.metric("turnout_trace_spans_total", outcome="failed") == 4, what="the end of the batch")


def test_a_call_that_was_asked_again_has_a_span_for_each_side(traced, collector, rest, rpc):
    def script(call, context):
        raise ConnectError(Code.UNAVAILABLE, "broken")

    rpc.script = script
    gateway = traced(methods={"GetBook": {"stage": "rpc", "fallback": True}})
    assert gateway.fetch("GET", BOOK, [("traceparent", PARENT)]).status == 200
    spans = collector.wait_for(3)
    server = of_kind(spans, SERVER)[0]
    told = attributes(server)
    assert (told["turnout.side"], told["turnout.fallback_from"], told["turnout.fallback_code"]) == ("rest", "rpc", "unavailable")
    assert server.status.code != 2
    sides = {attributes(span)["turnout.side"]: span for span in of_kind(spans, CLIENT)}
    assert (sides["rpc"].name, sides["rest"].name) == (f"{SERVICE}/GetBook", "GET /v1/books/{id}")
    assert (sides["rpc"].status.code, attributes(sides["rpc"])["http.response.status_code"]) == (2, 503)
    # Each side got the id of its own.
    for side, got in (("rest", rest.only()["traceparent"]), ("rpc", rpc.only().headers["traceparent"])):
        assert split(got)[1] == sides[side].span_id.hex()


def test_the_last_spans_are_given_away(traced, collector):
    gateway = traced({"interval": "1h"})
    for _ in range(3):
        gateway.fetch("GET", BOOK)
    assert not collector.spans
    assert gateway.stop() == 0
    assert len(collector.spans) == 6


def test_an_end_does_not_wait_for_a_dead_collector(traced, collector):
    gateway = traced({"interval": "1h", "endpoint": "http://127.0.0.1:9/v1/traces"})
    gateway.fetch("GET", BOOK)
    assert gateway.stop() == 0


@pytest.mark.parametrize("tracing,says", [
    ({"exporter": {}}, "an exporter of traces needs `otlp`"),
    ({"exporter": {"otlp": {}}}, "an OTLP exporter needs `endpoint`"),
    ({"exporter": {"otlp": {"endpoint": "127.0.0.1:4318"}}}, "has no scheme"),
    ({"exporter": {"otlp": {"endpoint": "http://a/", "protocol": "grpc"}}}, "is not a protocol of OTLP"),
    ({"sample": "110%"}, "110%"), ({"samples": "1%"}, "did you mean `sample`?"),
])
def test_what_is_wrong_in_a_file(configuration, tmp_path, tracing, says):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(interceptors=[{"tracing": tracing}]), indent=1))
    checked = run("check", "--config", file)
    assert checked.returncode == 1 and says in checked.stderr, checked.stderr
