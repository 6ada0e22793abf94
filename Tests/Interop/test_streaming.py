"""A server-streaming call of Connect passes through message by message."""

import threading

import pytest
from connectrpc.code import Code
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError

from support.gateway import wait_until
from support.schema import SERVICE


@pytest.mark.parametrize("codec", ["proto", "json"])
def test_each_message_arrives_before_the_next_is_sent(gateway_on_rpc, rpc, client_of, pb, codec):
    arrived = threading.Semaphore(0)

    async def script(call, context):
        import asyncio

        for number in range(5):
            yield rpc.book(f"b{number}")
            # The next one waits until the client has this one.
            await asyncio.to_thread(arrived.acquire, timeout=30)

    rpc.script = script
    got = []
    for message in client_of(gateway_on_rpc, codec).watch_books(pb.WatchBooksRequest(count=5)):
        got.append(message.id)
        arrived.release()
    assert got == ["b0", "b1", "b2", "b3", "b4"]


def test_compressed_messages(gateway_on_rpc, client_of, pb):
    client = client_of(
        gateway_on_rpc, send_compression=GzipCompression(), accept_compression=[GzipCompression()])
    assert len(list(client.watch_books(pb.WatchBooksRequest(count=100)))) == 100


def test_no_message_at_all(gateway_on_rpc, client_of, pb):
    assert list(client_of(gateway_on_rpc).watch_books(pb.WatchBooksRequest())) == []


def test_an_error_after_messages(start, configuration, rpc, client_of, pb):
    gateway = start(configuration(stage="rpc"))

    async def script(call, context):
        context.response_trailers.add("x-tail", "t")
        yield rpc.book("b0")
        raise ConnectError(Code.DATA_LOSS, "the shelf broke")

    rpc.script = script
    got = []
    with pytest.raises(ConnectError) as error:
        for message in client_of(gateway).watch_books(pb.WatchBooksRequest()):
            got.append(message.id)
    assert (got, error.value.code, error.value.message) == (["b0"], Code.DATA_LOSS, "the shelf broke")
    # Although it passed through with status 200, the gateway knows that it failed.
    wait_until(lambda: gateway.metric("turnout_requests_total", method="WatchBooks", code="data_loss") == 1)


def test_a_client_that_leaves_a_stream(gateway_on_rpc, rpc, client_of, pb):
    async def script(call, context):
        import asyncio

        yield rpc.book("b0")
        await asyncio.sleep(60)

    rpc.script = script
    stream = client_of(gateway_on_rpc).watch_books(pb.WatchBooksRequest())
    assert next(stream).id == "b0"
    stream.close()
    assert rpc.wait_for(1)[0].was_cancelled.wait(20)


def test_a_stream_has_no_route_timeout(start, configuration, rpc, client_of, pb):
    gateway = start(configuration(stage="rpc", service={"timeout": "500ms"}))

    async def script(call, context):
        import asyncio

        for number in range(4):
            yield rpc.book(f"b{number}")
            await asyncio.sleep(0.4)

    rpc.script = script
    assert len(list(client_of(gateway).watch_books(pb.WatchBooksRequest()))) == 4


def test_a_stream_ends_at_the_callers_deadline(gateway_on_rpc, rpc, client_of, pb):
    async def script(call, context):
        import asyncio

        yield rpc.book("b0")
        await asyncio.sleep(60)

    rpc.script = script
    with pytest.raises(ConnectError) as error:
        list(client_of(gateway_on_rpc).watch_books(pb.WatchBooksRequest(), timeout_ms=500))
    assert error.value.code == Code.DEADLINE_EXCEEDED
    assert rpc.wait_for(1)[0].was_cancelled.wait(20)


@pytest.mark.parametrize("stage", ["rest", "rpc"])
def test_a_stream_asked_for_as_unary_or_of_rest(shared_gateways, used, rest, rpc, client_of, pb, stage):
    gateway = shared_gateways(stage)
    used.append(gateway)
    answer = gateway.fetch("POST", f"/{SERVICE}/WatchBooks", [("Content-Type", "application/json")], b"{}")
    assert answer.status == 415
    if stage == "rest":
        with pytest.raises(ConnectError) as error:
            list(client_of(gateway).watch_books(pb.WatchBooksRequest()))
        assert error.value.code == Code.UNIMPLEMENTED
    assert not rest.requests and not rpc.calls
