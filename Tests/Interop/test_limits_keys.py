"""Limits of rates with several keys and windows, costs, trials; of calls at the same time; of bodies of one route."""

import json
import threading

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.gateway import run, wait_until
from support.rest_service import Reply
from support.schema import SERVICE
from support.wire import chunked


def limited(configuration, *limits, **more):
    return configuration(interceptors=[{"access_log": {"format": "json"}}, *limits], **more)


def statuses(gateway, *requests):
    return [gateway.fetch("GET", target, fields).status for target, fields in requests]


BOOK, BOOKS = "/v1/books/b1", "/v1/books"


def user(name):
    return [("X-User", name)]


def test_a_key_of_several_parts(start, configuration):
    limit = {"rate_limit": {"requests": 1, "per": "1h", "key": ["header:x-user", "route"]}}
    gateway = start(limited(configuration, limit))
    assert statuses(gateway, (BOOK, user("a")), (BOOKS, user("a")), (BOOK, user("b")), (BOOK, ())) == [200] * 4
    assert statuses(gateway, (BOOK, user("a")), (BOOKS, user("a")), (BOOK, user("b")), (BOOK, ())) == [429] * 4


def test_the_parts_of_a_key_do_not_run_together(start, configuration):
    limit = {"rate_limit": {"requests": 1, "per": "1h", "key": ["header:x-a", "header:x-b"]}}
    gateway = start(limited(configuration, limit))
    pairs = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc")]
    assert statuses(gateway, *((BOOK, [("X-A", a), ("X-B", b)]) for a, b in pairs)) == [200] * 4


def test_several_windows_of_which_one_refuses(start, configuration):
    limit = {"rate_limit": {"limits": [
        {"requests": 3, "per": "1h", "key": "none"}, {"requests": 1, "per": "2h", "key": "header:x-user"}]}}
    gateway = start(limited(configuration, limit))
    assert statuses(gateway, *[(BOOK, user("a"))] * 10) == [200] + [429] * 9
    # What was refused to a took nothing from the others.
    assert statuses(gateway, (BOOK, user("b")), (BOOK, user("c")), (BOOK, user("d"))) == [200, 200, 429]
    answer = gateway.fetch("GET", BOOK, user("a"))
    assert answer["ratelimit-limit"] == "1" and int(answer["retry-after"]) > 3600


def test_a_key_for_each_api_key(start, configuration):
    limits = [{"api_key": {"keys": ["k1", "k2"]}}, {"rate_limit": {"requests": 2, "per": "1h", "key": "api_key"}}]
    gateway = start(limited(configuration, *limits))
    key = [[("X-Api-Key", name)] for name in ("k1", "k2")]
    assert statuses(gateway, *((BOOK, key[0]),) * 3, (BOOK, key[1])) == [200, 200, 429, 200]


def test_dear_methods_cost_more(start, configuration, client_of, pb):
    limit = {"rate_limit": {"requests": 10, "per": "1h", "fields": "always"}}
    methods = {"GetBook": {"rate_limit_cost": 6}, "CountBooks": {"http": {"get": "/v1/count"}, "rate_limit_cost": 0}}
    gateway = start(limited(configuration, limit, methods=methods))
    answer = gateway.fetch("GET", BOOK)
    assert (answer["ratelimit-limit"], answer["ratelimit-remaining"]) == ("10", "4")
    assert int(answer["ratelimit-reset"]) in range(2100, 2161)
    assert statuses(gateway, (BOOK, ()), (BOOKS, ()), ("/v1/count", ())) == [429, 200, 200]
    assert gateway.fetch("GET", BOOKS)["ratelimit-remaining"] == "2"
    # The same bucket, whatever is spoken.
    with pytest.raises(ConnectError) as fault:
        client_of(gateway).get_book(pb.GetBookRequest(id="b1"))
    assert fault.value.code == Code.RESOURCE_EXHAUSTED
    refused = gateway.fetch("GET", BOOK)
    assert (refused.status, refused.all("ratelimit-remaining")) == (429, ["2"])


def test_the_tightest_of_several_limits_is_told_once(start, configuration):
    limits = [
        {"rate_limit": {"requests": 50, "per": "1h", "fields": "always"}},
        {"rate_limit": {"requests": 5, "per": "1h", "fields": "always", "key": "route"}},
    ]
    gateway = start(limited(configuration, *limits))
    answer = gateway.fetch("GET", BOOK)
    assert (answer.all("ratelimit-limit"), answer.all("ratelimit-remaining")) == (["5"], ["4"])
    quiet = start(limited(configuration, {"rate_limit": {"requests": 1, "per": "1h", "fields": "never"}}))
    assert statuses(quiet, (BOOK, ())) == [200]
    refused = quiet.fetch("GET", BOOK)
    assert refused.status == 429 and refused["retry-after"] and refused["ratelimit-limit"] is None


def test_a_trial_refuses_nobody(start, configuration):
    limit = {"rate_limit": {"requests": 1, "per": "1h", "dry_run": True}}
    gateway = start(limited(configuration, limit))
    assert statuses(gateway, *[(BOOK, ())] * 3) == [200] * 3
    # Each loop writes its own lines.
    marks = [json.loads(line).get("rate_limit") for line in gateway.access_log(3)]
    assert (marks.count(None), marks.count("dry_run")) == (1, 2)
    assert gateway.metric("turnout_rate_limit_dry_run_total", service=SERVICE, method="GetBook") == 2
    assert gateway.metric("turnout_rate_limited_total") == 0


# At the same time.

def test_so_many_calls_at_the_same_time(start, configuration, rest):
    limit = {"concurrency": {"requests": 2, "key": "header:x-user"}}
    gateway = start(limited(configuration, limit))
    go = threading.Event()

    def answer(request):
        go.wait(30)
        return Reply.json({"id": "b1"})

    rest.answers(answer)
    wires = [gateway.connect() for _ in range(2)]
    for wire in wires:
        wire.send(b"GET /v1/books/b1 HTTP/1.1\r\nHost: a\r\nX-User: a\r\n\r\n")
    rest.wait_for(2)
    refused = gateway.fetch("GET", BOOK, user("a"))
    assert (refused.status, refused["retry-after"]) == (429, "1")
    go.set()
    assert statuses(gateway, (BOOK, user("b"))) == [200]
    assert [wire.answer().status for wire in wires] == [200, 200]
    # Who was answered, refused or has left makes room.
    assert statuses(gateway, *[(BOOK, user("a"))] * 3) == [200] * 3
    go.clear()
    for wire in wires:
        wire.send(b"GET /v1/books/b1 HTTP/1.1\r\nHost: a\r\nX-User: a\r\n\r\n")
    rest.wait_for(8)
    for wire in wires:
        wire.close()
    go.set()
    wait_until(lambda: statuses(gateway, (BOOK, user("a"))) == [200], what="room")


def test_calls_of_both_kinds_share_the_room(start, configuration, rpc, client_of, pb):
    gateway = start(limited(configuration, {"concurrency": {"requests": 1}}, stage="rpc"))
    client = client_of(gateway)
    stream = client.watch_books(pb.WatchBooksRequest(count=2))
    next(iter(stream))
    assert gateway.fetch("GET", BOOK).status in (200, 429)
    for _ in stream:
        pass
    assert wait_until(lambda: gateway.fetch("GET", BOOK).status == 200, what="room")


# Sizes.

@pytest.fixture
def sized(start, configuration):
    return start(configuration(service={"limits": {"request": "100B", "response": "2KiB"}}, fallback="legacy"))


def book(size):
    return json.dumps({"title": "t" * (size - 12)}, separators=(",", ":")).encode()


TYPE = [("Content-Type", "application/json")]


def test_a_passing_request_has_a_limit(sized, rest):
    rest.answers(Reply.json({}))
    assert len(book(100)) == 100
    assert sized.fetch("POST", "/v1/shelves/s/books", TYPE, book(100)).status == 200
    refused = sized.fetch("POST", "/v1/shelves/s/books", TYPE, book(101))
    assert refused.status == 413 and "100 bytes" in refused.json()["message"]
    assert len(rest.requests) == 1
    # In pieces, as they come.
    chunks = [("Transfer-Encoding", "chunked"), *TYPE]
    assert sized.fetch("POST", "/v1/shelves/s/books", chunks, chunked([book(100)])).status == 200
    assert sized.fetch("POST", "/v1/shelves/s/books", chunks, chunked([book(101)[:60], book(101)[60:]])).status == 413
    # What is not the service's has no bound.
    assert sized.fetch("POST", "/other", TYPE, book(1000)).status == 200


def test_a_passing_answer_has_a_limit(sized, rest):
    rest.answers(Reply.json("x" * 2046))
    assert sized.fetch("GET", BOOK).status == 200
    rest.answers(Reply.json("x" * 2047))
    assert sized.fetch("GET", BOOK).status == 502
    # An answer that has begun can only be cut.
    rest.answers(Reply(200, TYPE, chunks=[b"x" * 1500, b"x" * 1500]))
    with sized.connect() as wire:
        wire.send(b"GET /v1/books/b1 HTTP/1.1\r\nHost: a\r\n\r\n")
        with pytest.raises(Exception):
            wire.answer()


def test_a_translated_call_has_the_same_limits(start, configuration, rest, client_of, pb):
    methods = {"CreateBook": {"limits": {"request": "50B"}}, "GetBook": {"limits": {"response": "1KiB"}}}
    gateway = start(configuration(methods=methods, limits={"message": "64KiB"}))
    client = client_of(gateway)
    with pytest.raises(ConnectError) as fault:
        client.create_book(pb.CreateBookRequest(book=pb.Book(title="t" * 60)))
    assert fault.value.code == Code.RESOURCE_EXHAUSTED and "50 bytes" in fault.value.message
    rest.answers(Reply.json({"title": "t" * 2000}))
    with pytest.raises(ConnectError) as fault:
        client.get_book(pb.GetBookRequest(id="b1"))
    assert fault.value.code == Code.RESOURCE_EXHAUSTED
    rest.answers(Reply.json({"title": "t" * 900}))
    assert len(client.get_book(pb.GetBookRequest(id="b1")).title) == 900


@pytest.mark.parametrize("limit,says", [
    ({"requests": 1, "per": "1s", "key": ["client", "none"]}, "`none` is no part of a key"),
    ({"requests": 1, "per": "1s", "key": ["client", "client"]}, "`client` stands in the key twice"),
    ({"requests": 1, "per": "1s", "key": []}, "no part of a key is given"),
    ({"requests": 1, "per": "1s", "key": "clients"}, "did you mean `client`?"),
    ({"requests": 1, "limits": [{"requests": 1, "per": "1s"}]}, "`requests` stands beside `limits`"),
    ({"limits": []}, "no limit is given"),
    ({"limits": [{"requests": 1, "per": "1s", "dry_run": True}]}, "unknown key `dry_run` in one of several limits"),
    ({"requests": 1, "per": "1s", "cost": 2}, "write `rate_limit_cost` of a service or a method"),
])
def test_what_is_wrong_in_a_file(configuration, tmp_path, limit, says):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(interceptors=[{"rate_limit": limit}]), indent=1))
    checked = run("check", "--config", file)
    assert checked.returncode == 1 and says in checked.stderr, checked.stderr
