"""What is asked once more, and what never is."""

import socket
import threading
import time
from concurrent import futures

import grpc
import pytest

from support.echo import SERVICE as ECHO
from support.fleet import Fleet, proxy, who
from support.gateway import wait_until
from support.http2 import HTTP2Upstream
from support.rest_service import Reply, book, hang
from support.scripted import Scripted, read_head


INSTANCES = 2


def urls(fleet):
    return [instance.url for instance in fleet]


QUICK = {"attempts": 2, "backoff": {"base": "1ms", "max": "10ms"}, "min_per_second": 100}


def retries(gateway, **labels):
    return gateway.metric("turnout_upstream_retries_total", **labels)


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateways_error_is_asked_again_elsewhere(start, fleet, status):
    gateway = start(proxy(urls(fleet), retries=QUICK))
    fleet[0].answers(Reply(status, body=b"x" * 1000))
    assert set(who(gateway, 10)) == {"i1"}
    assert retries(gateway, upstream="fleet", reason=str(status)) == len(fleet[0].requests) >= 5
    # The answers that were dropped were read to their end: their connection is used again.
    assert fleet[0].connections == 1


@pytest.mark.parametrize("status", [500, 501, 400, 404, 409, 429])
def test_other_answers_are_the_answer(start, fleet, status):
    gateway = start(proxy([fleet[0].url], retries=QUICK))
    fleet[0].answers(Reply(status, body=b"that is it"))
    answer = gateway.fetch("GET", "/")
    assert (answer.status, answer.body) == (status, b"that is it")
    assert len(fleet[0].requests) == 1


def test_429_is_when_it_is_listed(start, fleet):
    gateway = start(proxy([fleet[0].url], retries={**QUICK, "on": ["429"]}))
    replies = [Reply(429), Reply(429), Reply(200, body=b"now")]
    fleet[0].answers(lambda request: replies.pop(0))
    assert gateway.fetch("GET", "/").body == b"now"
    assert retries(gateway, reason="429") == 2


def test_what_may_change_something_is_sent_once(start, fleet):
    gateway = start(proxy(urls(fleet), retries=QUICK))
    for instance in fleet:
        instance.answers(Reply(503))
    assert gateway.fetch("POST", "/", body=b"once").status == 503
    assert sum(len(instance.requests) for instance in fleet) == 1


@pytest.mark.parametrize("fields, body", [((), b"x" * 5000), ([("Transfer-Encoding", "chunked")], b"3\r\nabc\r\n0\r\n\r\n")])
def test_the_body_of_an_idempotent_request_is_sent_again(start, fleet, fields, body):
    gateway = start(proxy(urls(fleet), retries=QUICK))
    fleet[0].answers(Reply(503))
    assert set(who(gateway, 4, method="PUT", fields=fields, body=body)) == {"i1"}
    bodies = {request.body for instance in fleet for request in instance.requests}
    assert bodies == {body if not fields else b"abc"}
    assert len(fleet[0].requests) == retries(gateway) >= 2


def test_a_body_that_is_too_long_to_be_kept_is_sent_once(start, fleet):
    gateway = start(proxy(urls(fleet), retries={**QUICK, "body": "1KiB"}))
    for instance in fleet:
        instance.answers(Reply(503, body=b"no"))
    assert gateway.fetch("PUT", "/", body=b"x" * 5000).body == b"no"
    assert sum(len(instance.requests) for instance in fleet) == 1
    assert gateway.metric("turnout_buffered_bytes") == 0


def test_a_connection_that_ends_before_an_answer(start, fleet):
    """Also a fresh one, and also inside the head."""
    def cut(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")

    server = Scripted(cut)
    gateway = start(proxy([server.url, fleet[0].url], retries=QUICK))
    assert set(who(gateway, 6)) == {"i0"}
    assert retries(gateway, reason="reset_before_answer") >= 1
    server.close()


def test_nothing_is_asked_again_once_a_byte_was_passed_on(start, fleet):
    gateway = start(proxy([fleet[0].url], retries=QUICK))
    fleet[0].answers(Reply(200, body=b"x" * 1000, cut=10))
    with gateway.connect() as wire:
        wire.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with pytest.raises(Exception):
            wire.answer()
    assert len(fleet[0].requests) == 1


def test_a_try_has_a_time_of_its_own(start, fleet):
    gateway = start(proxy(urls(fleet), retries={**QUICK, "per_try_timeout": "200ms"}))
    fleet[0].answers(hang)
    assert set(who(gateway, 4)) == {"i1"}
    assert retries(gateway, reason="timeout") >= 2
    fleet[1].answers(hang)
    answer = gateway.fetch("GET", "/")
    assert answer.status == 504


@pytest.mark.parametrize("asked, tries", [("1", 2), ("30", 1)])
def test_a_pause_that_the_upstream_asks_for(start, fleet, asked, tries):
    """It is made up to a bound; beyond it the answer is passed on."""
    gateway = start(proxy([fleet[0].url], retries={**QUICK, "max_retry_after": "2s"}))
    times = []

    def script(request):
        times.append(time.monotonic())
        return Reply(503, [("Retry-After", asked)], b"later") if len(times) == 1 else Reply(200, body=b"ok")

    fleet[0].answers(script)
    answer = gateway.fetch("GET", "/")
    assert len(times) == tries
    if tries == 2:
        assert answer.body == b"ok" and times[1] - times[0] >= 0.99
    else:
        assert (answer.status, answer["retry-after"]) == (503, asked)


def dates(moment):
    """A time in the three forms of RFC 9110 section 5.6.7."""
    return [time.strftime(form, time.gmtime(moment)) for form in (
        "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y")]


@pytest.mark.parametrize("form", range(3))
def test_a_pause_until_a_date(start, fleet, form):
    """As one in seconds: kept up to the bound, and what lies beyond it is the caller's to know."""
    gateway = start(proxy([fleet[0].url], retries={**QUICK, "max_retry_after": "10s"}))
    times, asked = [], []

    def script(request):
        times.append(time.time())
        if len(times) > 1:
            return Reply(200, body=b"ok")
        asked.append(int(times[0]) + 2)
        return Reply(503, [("Retry-After", dates(asked[0])[form])])

    fleet[0].answers(script)
    assert gateway.fetch("GET", "/").body == b"ok"
    assert len(times) == 2 and times[1] >= asked[0]
    late = dates(time.time() + 3600)[form]
    fleet[0].answers(Reply(503, [("Retry-After", late)]))
    answer = gateway.fetch("GET", "/")
    assert (answer.status, answer["retry-after"], len(fleet[0].requests)) == (503, late, 3)
    # A date that is over asks for nothing.
    answers = [Reply(503, [("Retry-After", dates(time.time() - 3600)[form])]), Reply(200, body=b"ok")]
    fleet[0].answers(lambda request: answers.pop(0))
    assert gateway.fetch("GET", "/").body == b"ok"


def test_the_budget_is_for_all_requests(start, fleet):
    gateway = start(proxy([fleet[0].url], retries={**QUICK, "budget": "20%", "min_per_second": 0}, workers=2))
    fleet[0].answers(Reply(503))
    with gateway.connect() as one, gateway.connect() as other:
        for _ in range(50):
            assert one.request("GET", "/").status == other.request("GET", "/").status == 503
    assert 10 <= retries(gateway) <= 20
    assert len(fleet[0].requests) == 100 + retries(gateway)
    assert gateway.metric("turnout_upstream_retry_budget_exhausted_total", upstream="fleet") >= 80


def test_a_client_that_leaves_ends_the_tries(start, fleet):
    gateway = start(proxy([fleet[0].url], retries={"attempts": 20, "backoff": {"base": "5s", "max": "5s"}}))
    fleet[0].answers(Reply(503))
    with gateway.connect() as wire:
        wire.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        fleet[0].wait_for(1)
    wait_until(lambda: gateway.metric("turnout_connections") == 0, what="the end of the client")
    assert gateway.metric("turnout_requests_total", code="canceled") == 1


def test_translated_calls_are_asked_again(start, configuration, client_of, pb, rest):
    setup = configuration()
    setup["upstreams"]["legacy"]["retries"] = QUICK
    gateway = start(setup)
    replies = [Reply(503), Reply(503), Reply.json(book("b7"))]
    rest.answers(lambda request: replies.pop(0))
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b7")).id == "b7"
    assert len(rest.requests) == 3


def test_a_route_has_its_own(start, configuration, rest):
    setup = configuration(service={"retries": {**QUICK, "attempts": 1}}, methods={"CountBooks": {
        "http": {"get": "/v1/count"}, "retries": {"attempts": 0}}})
    setup["upstreams"]["legacy"]["retries"] = {**QUICK, "attempts": 4}
    gateway = start(setup)
    rest.answers(Reply(503))
    assert gateway.fetch("GET", "/v1/books/1").status == 503
    assert len(rest.requests) == 2
    assert gateway.fetch("GET", "/v1/count").status == 503
    assert len(rest.requests) == 3


class Flaky:
    """A gRPC server whose Say fails a few times, before any message, and says nothing else."""

    def __init__(self, code, times):
        self.calls, self.left = 0, times

        def say(request, context):
            self.calls += 1
            if self.left > 0:
                self.left -= 1
                context.abort(code, "not now")
            return request

        self.server = grpc.server(futures.ThreadPoolExecutor(2))
        self.server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
            ECHO, {"Say": grpc.unary_unary_rpc_method_handler(say)})])
        self.url = "http://127.0.0.1:%d" % self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()


@pytest.mark.parametrize("code, fails, tries", [
    (grpc.StatusCode.UNAVAILABLE, 2, 3), (grpc.StatusCode.UNAVAILABLE, 3, 3), (grpc.StatusCode.NOT_FOUND, 1, 1)])
def test_grpc_errors_without_messages_are_asked_again(start, echo_gateways, code, fails, tries):
    """Passed through, and translated for a Connect caller."""
    def gateway_before(flaky):
        setup = echo_gateways.configuration("grpc")
        setup["upstreams"]["echo"] = {"protocol": "grpc", "endpoints": [flaky.url], "retries": QUICK}
        return start(setup)

    flaky = Flaky(code, fails)
    with grpc.insecure_channel("%s:%d" % gateway_before(flaky).address) as channel:
        if fails < tries:
            assert channel.unary_unary(f"/{ECHO}/Say")(b"\x0a\x02hi", timeout=20) == b"\x0a\x02hi"
        else:
            with pytest.raises(grpc.RpcError) as caught:
                channel.unary_unary(f"/{ECHO}/Say")(b"", timeout=20)
            assert (caught.value.code(), caught.value.details()) == (code, "not now")
    assert flaky.calls == tries
    flaky.server.stop(None)
    flaky = Flaky(code, fails)
    answer = gateway_before(flaky).fetch("POST", f"/{ECHO}/Say", [("Content-Type", "application/json")], b"{}")
    assert (answer.status == 200) == (fails < tries)
    assert flaky.calls == tries
    flaky.server.stop(None)


@pytest.mark.parametrize("pushback, tries", [(None, 3), ("5", 3), ("-1", 1), ("60000", 1)])
def test_a_grpc_error_behind_a_head_is_asked_again(start, echo_gateways, pushback, tries):
    """Many servers send the head before they know how the call ends; what counts is that there is no message."""
    replies = [14, 14, 0]

    def whole(exchange):
        status = replies.pop(0)
        trailers = [("grpc-status", str(status))] + ([("grpc-retry-pushback-ms", pushback)] if pushback else [])
        exchange.answer(
            200, [("content-type", "application/grpc")], b"" if status else b"\0\0\0\0\x02\x0a\0", trailers)

    upstream = HTTP2Upstream(whole)
    setup = echo_gateways.configuration("grpc")
    setup["upstreams"]["echo"] = {"protocol": "grpc", "endpoints": [upstream.url], "retries": QUICK}
    gateway = start(setup)
    with grpc.insecure_channel("%s:%d" % gateway.address) as channel:
        if tries == 3:
            assert channel.unary_unary(f"/{ECHO}/Say")(b"", timeout=20) == b"\x0a\0"
        else:
            with pytest.raises(grpc.RpcError) as caught:
                channel.unary_unary(f"/{ECHO}/Say")(b"", timeout=20)
            assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
    assert len(upstream.exchanges) == tries
    assert retries(gateway) == tries - 1
    upstream.close()


def test_instances_that_are_killed_and_restarted_under_load(start):
    """No idempotent request fails; who is away is left out and comes back."""
    fleet = Fleet(3)
    gateway = start(proxy(
        urls(fleet), workers=2, retries={"attempts": 4, "min_per_second": 1000},
        outlier_ejection={"consecutive_failures": 3, "base_ejection": "200ms"}))
    stop, failed, counts = threading.Event(), [], [0] * 8

    def client(number):
        try:
            with gateway.connect() as wire:
                while not stop.is_set():
                    answer = wire.request("GET", f"/{number}")
                    counts[number] += 1
                    if answer.status != 200:
                        failed.append(answer)
        except Exception as error:
            failed.append(f"client {number}, request {counts[number] + 1}: {error!r}")

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    try:
        for round in range(6):
            instance = fleet[round % 3]
            instance.stop()
            wait_until(lambda: gateway.metric("turnout_upstream_endpoints", state="healthy") == 2, what="one left out")
            instance.start()
            before = len(instance.requests)
            wait_until(lambda: len(instance.requests) > before + 5, what="its return")
            wait_until(lambda: gateway.metric("turnout_upstream_endpoints", state="healthy") == 3, what="three of them")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        fleet.stop()
    assert not failed, failed[:3]
    assert min(counts) > 20


def test_an_upload_goes_on_at_the_next_try(start, tmp_path):
    """Its caller was stopped by a connection that took nothing more, and that connection is gone."""
    path, full, body = str(tmp_path / "socket"), threading.Event(), b"x" * (400 << 10)

    def serve(connection, number):
        with connection:
            if number == 0:
                # Nobody reads: the socket's buffer fills up, then the process dies.
                full.wait(30)
                return
            _, received = read_head(connection)
            while len(received) < len(body):
                received += connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(8)

        def accept():
            for number in range(2):
                threading.Thread(target=serve, args=(listening.accept()[0], number), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        gateway = start(proxy([f"unix:{path}"], retries={**QUICK, "body": "1MiB"}))
        with gateway.connect() as wire:
            wire.send(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body))
            # Small pieces fill the buffer sooner than they do when they are sent again as one.
            for at in range(200):
                wire.send(body[at * 900:(at + 1) * 900])
                time.sleep(0.001)
            wait_until(lambda: gateway.metric("turnout_buffered_bytes") >= 64 << 10, what="the first part")
            full.set()
            wait_until(lambda: retries(gateway) == 1, what="the next try")
            wire.send(body[200 * 900:])
            assert wire.answer().body == b"ok"
