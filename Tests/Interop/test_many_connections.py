"""Idle connections with load beside them: nothing refused, nothing leaked."""

import json
import threading

from support.gateway import wait_until
from support.rest_service import book, hang
from support.schema import SERVICE
from support.wire import Wire

JSON = [("Content-Type", "application/json")]


def test_idle_connections_and_load(start, configuration, rest, rpc):
    gateway = start(configuration(methods={"GetBook": {"stage": "rpc"}}, fallback="legacy"))
    with gateway.connect() as wire:
        wire.request("GET", "/v1/books/b1")
        wire.request("GET", "/healthy")
    wait_until(lambda: gateway.metric("turnout_connections") == 0)
    before = gateway.descriptors()
    idle = [Wire(gateway.address) for _ in range(200)]
    for number, wire in enumerate(idle):
        if number % 2:
            assert wire.request("GET", "/healthy").status == 200
    faults = []

    def load(number):
        try:
            for round in range(5):
                with gateway.connect() as wire:
                    for step in range(20):
                        id = f"b{number}-{round}-{step}"
                        assert wire.request("GET", f"/v1/books/{id}").json() == book(id)
                        answer = wire.request("POST", f"/{SERVICE}/GetBook", JSON, json.dumps({"id": id}).encode())
                        assert answer.json()["id"] == id
                        assert wire.request("GET", "/healthy").body == b"legacy"
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=load, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not faults, faults[:3]
    wait_until(lambda: gateway.metric("turnout_connections") == 200, what="200 connections")
    for wire in idle:
        assert wire.request("GET", "/v1/books/late").status == 200
        wire.close()
    wait_until(lambda: gateway.metric("turnout_connections") == 0, what="closed connections")
    # What stays open are the pooled connections to the two services, at most 32 for each and worker.
    wait_until(lambda: gateway.descriptors() <= before + 2 * 2 * 32)
    assert gateway.metric("turnout_upstream_connections", state="active") == 0
    assert gateway.metric("turnout_buffered_bytes") == 0
    assert gateway.metric("turnout_accept_pauses_total") == 0
    assert gateway.metric("turnout_requests_total", code="ok") == gateway.metric("turnout_requests_total")


def test_clients_that_vanish_leave_nothing(start, configuration, rest):
    gateway = start(configuration(fallback="legacy"))
    gateway.fetch("GET", "/healthy")
    wait_until(lambda: gateway.metric("turnout_connections") == 0)
    before = gateway.descriptors()
    rest.answers(hang)
    for number in range(60):
        with gateway.connect() as wire:
            wire.send([b"", b"GET / HT", b"GET /hang HTTP/1.1\r\nHost: x\r\n\r\n",
                       b"POST /hang HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"][number % 4])
    wait_until(lambda: gateway.metric("turnout_connections") == 0, what="closed connections")
    wait_until(lambda: gateway.metric("turnout_upstream_connections", state="active") == 0, what="no active upstream")
    wait_until(lambda: gateway.descriptors() <= before + 2, what="closed descriptors")
