"""Fallback, path variants, hosts, prefix, envelope, `.proto` sources."""

import pytest

from support.rest_service import Reply, book
from support.schema import PROTO, SERVICE, SOURCES

JSON = [("Content-Type", "application/json")]


def test_the_fallback_takes_what_no_route_matches(gateway_on_rpc, rest, rpc):
    answer = gateway_on_rpc.fetch("GET", "/healthy?a=1#".rstrip("#"))
    assert answer.body == b"legacy"
    assert rest.only().target == "/healthy?a=1"
    # A method that the schema does not know may be one that the legacy service has.
    gateway_on_rpc.fetch("PUT", "/v1/books/b1")
    assert rest.requests[-1].method == "PUT"
    assert not rpc.calls


@pytest.mark.parametrize(
    "target",
    [
        "//v1/books/b1", "/v1//books/b1", "/v1/./books/b1", "/v1/x/../books/b1", "/./v1/books/b1", "/v1%2Fbooks/b1",
        "/v1/books/b1/", "/v1/books/", "/%76%31/books/b1/", "/v1/%2e%2e/v1/books/b1", "/v1/books/b1//",
        "/v1\\books/b1".replace("\\", "%5C"),
    ],
)
def test_a_variant_of_a_described_path_never_reaches_the_fallback(gateway_on_rpc, rest, rpc, target):
    answer = gateway_on_rpc.fetch("GET", target)
    assert answer.status == 404, answer
    assert not rest.requests and not rpc.calls


@pytest.mark.parametrize("target", [f"//{SERVICE}/GetBook", f"/{SERVICE}//GetBook", f"/{SERVICE}/GetBook/", f"/x/../{SERVICE}/GetBook"])
def test_nor_does_a_variant_of_a_procedure(gateway_on_rpc, rest, rpc, target):
    answer = gateway_on_rpc.fetch("POST", target, JSON, b"{}")
    assert answer.status == 404, answer
    assert not rest.requests and not rpc.calls


def test_other_odd_paths_pass_as_they_are(gateway_on_rest, rest):
    for target in ("/other//path", "/other/./x", "/a%2Fb", "/other/", "/%zz"):
        gateway_on_rest.fetch("GET", target)
    seen = [request.target for request in rest.requests]
    assert seen[:4] == ["/other//path", "/other/./x", "/a%2Fb", "/other/"]


def test_an_authority_decides(start, configuration, rest, rpc):
    gateway = start(configuration(stage="rpc", service={"hosts": ["api.example.com", "*.example.net"]}))
    for host in ("api.example.com", "API.example.com:8080", "a.example.net", "a.b.example.net"):
        assert gateway.fetch("GET", "/v1/books/b1", host=host).status == 200, host
        assert gateway.fetch("POST", f"/{SERVICE}/GetBook", JSON, b'{"id":"a"}', host=host).status == 200, host
    for host in ("example.com", "example.net", "api.example.com.evil.test", "evilexample.net"):
        assert gateway.fetch("GET", "/v1/books/b1", host=host).status == 404, host
    assert gateway.fetch("GET", "http://api.example.com/v1/books/b1", host="api.example.com").status == 200


def test_a_prefix(start, configuration, rest, rpc):
    gateway = start(configuration(stage="rpc", service={"prefix": "/api"}))
    assert gateway.fetch("GET", "/api/v1/books/b1").json() == book("b1")
    assert gateway.fetch("POST", f"/api/{SERVICE}/GetBook", JSON, b'{"id": "b2"}').json() == book("b2")
    assert {call.scope["path"] for call in rpc.calls} == {f"/{SERVICE}/GetBook"}
    assert gateway.fetch("GET", "/v1/books/b1").status == 404
    gateway.set_stage(f"{SERVICE}/GetBook", "rest")
    rest.answers(Reply.json(book("b1")))
    gateway.fetch("GET", "/api/v1/books/b1")
    gateway.fetch("POST", f"/api/{SERVICE}/GetBook", JSON, b'{"id": "b2"}')
    assert [request.target for request in rest.requests] == ["/api/v1/books/b1", "/api/v1/books/b2"]


def test_a_prefix_that_is_stripped(start, configuration, rest):
    gateway = start(configuration(service={"prefix": "/api", "strip_prefix": True}))
    gateway.fetch("GET", "/api/v1/books/b1")
    gateway.fetch("POST", f"/api/{SERVICE}/GetBook", JSON, b'{"id": "b2"}')
    assert [request.target for request in rest.requests] == ["/v1/books/b1", "/v1/books/b2"]


def test_an_envelope(start, configuration, rest, rpc, client_of, pb):
    gateway = start(configuration(service={"envelope": "data"}))
    rest.answers(Reply.json({"data": book("b1"), "took": 3}))
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b1")) == rpc.book("b1")
    gateway.set_stage(f"{SERVICE}/GetBook", "rpc")
    assert gateway.fetch("GET", "/v1/books/b1").json() == {"data": book("b1")}


def test_success_status_and_profile(start, configuration, rpc):
    profile = {"int64": "number", "enum_prefix": "strip", "field_names": "proto", "timestamps": "unix_ms"}
    gateway = start(configuration(
        stage="rpc", service={"json": profile},
        methods={"CreateBook": {"success_status": 201}, "DeleteBook": {"success_status": 204}}))
    got = gateway.fetch("GET", "/v1/books/b1").json()
    assert (got["pages"], got["kind"], got["published"]) == (9007199254740993, "ATLAS", 1709209845120)
    answer = gateway.fetch("POST", "/v1/shelves/s1/books", JSON, b'{"kind": "NOVEL", "pages": 5}')
    assert (answer.status, answer.json()["kind"], answer.json()["pages"]) == (201, "NOVEL", 5)
    answer = gateway.fetch("DELETE", "/v1/books/b1")
    assert (answer.status, answer.body) == (204, b"")


def test_unknown_parameters_can_be_ignored(start, configuration, rpc):
    gateway = start(configuration(stage="rpc", service={"query": {"ignore": ["utm_*", "$alt"]}}))
    assert gateway.fetch("GET", "/v1/books/b1?utm_source=x&%24alt=json").status == 200
    assert gateway.fetch("GET", "/v1/books/b1?other=x").status == 400
    gateway = start(configuration(stage="rpc", service={"query": {"unknown": "ignore"}}))
    assert gateway.fetch("GET", "/v1/books/b1?other=x").status == 200


def test_proto_sources_in_place_of_a_descriptor_set(start, configuration, rest, rpc, client_of, pb):
    setup = configuration(stage="rpc")
    setup["schema"] = [{"protos": [PROTO], "import_paths": [str(SOURCES)]}]
    gateway = start(setup)
    assert gateway.fetch("GET", "/v1/books/b1").json() == book("b1")
    assert client_of(gateway, "json").get_book(pb.GetBookRequest(id="b2"), use_get=True) == rpc.book("b2")
    gateway.set_stage(f"{SERVICE}/GetBook", "rest")
    assert client_of(gateway).get_book(pb.GetBookRequest(id="b3")) == rpc.book("b3")
    assert rest.only().target == "/v1/books/b3"
