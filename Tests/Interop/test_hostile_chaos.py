"""Everything at once: random clients before random upstreams, while routes flip, upstreams move and listeners come and go."""

import random
import socket
import threading
import time

from support.gateway import wait_until
from support.raw_upstream import RawUpstream
from support.schema import SERVICE
from support.wire import NotWhole, Wire, chunked, request_bytes

SECONDS = 12
JSON = [("Content-Type", "application/json")]


def upstream_that_does_anything(seed):
    chance = random.Random(seed)

    def handle(connection):
        while (head := connection.head()) is not None:
            key = next((line for line in head.split(b"\r\n") if line.lower().startswith(b"x-key:")), b"x-key: none")
            what = chance.random()
            body = b"{\"id\":\"" + key[7:].strip() + b"\"}"
            whole = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Echo: %s\r\nContent-Length: %d\r\n\r\n%s" % (
                key[7:].strip(), len(body), body)
            if what < 0.5:
                if b"chunked" in head.lower():
                    while b"0\r\n\r\n" not in connection.unread and connection.more():
                        pass
                    connection.unread = connection.unread.partition(b"0\r\n\r\n")[2]
                elif b"ontent-length: " in head:
                    connection.take(int(head.split(b"ontent-length: ")[1].split(b"\r\n")[0]))
                connection.send(whole)
            elif what < 0.6:
                connection.send(whole[:chance.randrange(len(whole))])
                if chance.random() < 0.5:
                    connection.reset()
                return
            elif what < 0.65:
                connection.send(b"HTTP/1.1 200 OK\r\nX-Echo: %s\r\nTransfer-Encoding: chunked\r\n\r\n" % key[7:].strip())
                for _ in range(chance.randrange(40)):
                    connection.send(b"8000\r\n" + b"c" * 0x8000 + b"\r\n")
                connection.send(b"0\r\n\r\n" if chance.random() < 0.7 else b"zz")
                return
            elif what < 0.7:
                connection.send(b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" * chance.randrange(40) + whole)
                return
            elif what < 0.75:
                connection.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nhi")
                connection.more()
                return
            elif what < 0.8:
                time.sleep(chance.random() / 2)
                return
            elif what < 0.85:
                connection.send(whole + whole[:chance.randrange(len(whole))])
            elif what < 0.9:
                connection.send(bytes(chance.randrange(256) for _ in range(200)))
                return
            else:
                connection.send(b"HTTP/1.1 503 Busy\r\nConnection: close\r\nX-Echo: %s\r\n\r\nplain" % key[7:].strip())
                return

    return RawUpstream(handle)


def client_that_does_anything(address, seed, until, faults):
    chance = random.Random(seed)
    number = 0
    while time.monotonic() < until:
        try:
            with Wire(address, timeout=5, receive_buffer=chance.choice([None, 4096])) as wire:
                for _ in range(chance.randrange(1, 6)):
                    number += 1
                    key = f"k{seed}-{number}"
                    fields = [("X-Key", key)]
                    what = chance.randrange(9)
                    if what == 0:
                        data = request_bytes("GET", f"/v1/books/{key}", fields)
                    elif what == 1:
                        data = request_bytes("POST", f"/{SERVICE}/GetBook", [*JSON, *fields], b"{\"id\": \"%s\"}" % key.encode())
                    elif what == 2:
                        data = request_bytes("POST", "/any", fields, b"b" * chance.choice([0, 10, 100_000, 1_000_000]))
                    elif what == 3:
                        data = request_bytes("POST", "/any", [("Transfer-Encoding", "chunked"), *fields],
                                             chunked([b"x" * 1000] * chance.randrange(100)))
                    elif what == 4:
                        data = request_bytes("GET", "/ws", [("Connection", "upgrade"), ("Upgrade", "websocket"), *fields])
                    elif what == 5:
                        data = request_bytes("GET", "/any", fields) * chance.randrange(1, 30)
                    elif what == 6:
                        data = request_bytes("POST", f"/{SERVICE}/GetBook", [*JSON, ("Connect-Timeout-Ms", "30"), *fields], b"{}")
                    elif what == 7:
                        data = request_bytes("POST", "/any", [("Expect", "100-continue"), *fields], b"e" * 5000)
                    else:
                        data = bytes(chance.randrange(256) for _ in range(300))
                    if chance.random() < 0.2:
                        data = data[:chance.randrange(len(data) + 1)]
                    wire.send(data)
                    leaves = chance.random()
                    if leaves < 0.1:
                        return_early(wire, chance)
                        break
                    if chance.random() < 0.1:
                        time.sleep(chance.random() / 5)
                    answer = wire.answer()
                    echo = answer["x-echo"]
                    if what != 8 and echo and echo not in (key, "none"):
                        faults.append((key, answer))
                    if answer.status == 101 or what in (5, 8):
                        break
        except (NotWhole, OSError, ValueError):
            pass


def return_early(wire, chance):
    how = chance.randrange(3)
    if how == 0:
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    elif how == 1:
        wire.socket.shutdown(socket.SHUT_WR)
        time.sleep(0.01)
    wire.close()


def test_chaos(start, configuration):
    """Nobody gets another's answer, nothing is left behind, and the process ends in order."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    upstreams = [upstream_that_does_anything(seed + number) for number in range(3)]

    def setup(turn):
        made = configuration(chance.choice(["rest", "rpc", "shadow"]), chance.choice(["json", "proto"]), fallback="legacy",
                             timeouts={"connect": "1s", "stream_idle": "3s"}, drain="2s", service={"timeout": "1s"})
        for upstream in made["upstreams"].values():
            upstream["endpoints"] = [one.url for one in chance.sample(upstreams, chance.randrange(1, 4))]
            upstream["max_connections"] = chance.choice([1, 4, 100])
        if turn % 3 == 0:
            made["listeners"].append({"address": "127.0.0.2:0"})
        return made

    gateway = start(setup(1))
    before = gateway.descriptors()
    until = time.monotonic() + SECONDS
    faults = []
    threads = [
        threading.Thread(target=client_that_does_anything, args=(gateway.address, seed + 100 + number, until, faults))
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    turn = 1
    while time.monotonic() < until:
        turn += 1
        gateway.write(setup(turn))
        gateway.admin("POST", "/reload")
        time.sleep(0.2)
        for stage in ("rest", "rpc"):
            gateway.set_stage(f"{SERVICE}/GetBook", stage)
            time.sleep(0.1)
        assert gateway.process.poll() is None, "the gateway died"
    for thread in threads:
        thread.join(30)
    assert faults == []
    gateway.write(setup(1))
    gateway.admin("POST", "/reload")
    wait_until(lambda: gateway.metric("turnout_connections") == 0, what="no client connection left")
    wait_until(lambda: gateway.metric("turnout_upstream_connections", state="active") == 0, what="no busy upstream connection left")
    assert gateway.metric("turnout_buffered_bytes") == 0
    wait_until(lambda: gateway.descriptors() <= before + 40, what="descriptors closed")
    assert gateway.stop() == 0
    for upstream in upstreams:
        upstream.close()
