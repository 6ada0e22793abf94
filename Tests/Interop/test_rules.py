"""HTTP rules: where they come from, what is wrong with them, and which of a method's rules asks a REST service."""

import json
import subprocess
import sys

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.gateway import run
from support.rest_service import Reply, book
from support.schema import SERVICE

JSON = [("Content-Type", "application/json")]
PROTO = [("Content-Type", "application/proto")]

RULES = f"""\
type: google.api.Service
config_version: 3
http:
  rules:
  - selector: {SERVICE}.GetBook
    get: "/v2/shelves/{{shelf}}/books/{{id=*}}"
    additional_bindings:
    - get: "/v2/shelves/{{shelf=old/*}}/books"
    - custom: {{ kind: FIND, path: "/v2/shelves/{{shelf}}/{{id}}" }}
  - selector: {SERVICE}.CountBooks
    get: /v2/count
"""


@pytest.fixture
def ruled(configuration, tmp_path):
    """A configuration with a service configuration file; the file."""
    file = tmp_path / "api.yaml"
    file.write_text(RULES)

    def make(**more):
        setup = configuration(**more)
        setup["schema"].append({"service_config": str(file)})
        return setup

    make.file = file
    return make


def test_a_service_configuration(start, ruled, rpc):
    gateway = start(ruled(stage="rpc"))
    assert gateway.fetch("GET", "/v2/shelves/s/books/b1").json() == {**book("b1"), "shelf": "s"}
    assert gateway.fetch("FIND", "/v2/shelves/s/b2").json()["id"] == "b2"
    # The annotation of that method is gone, those of others stay.
    assert gateway.fetch("GET", "/v1/books/b1").status in (404, 405)
    assert gateway.fetch("DELETE", "/v1/books/b1").status == 200
    # The gateway's own configuration has a rule for CountBooks, which goes first.
    assert gateway.fetch("GET", "/v1/count?author=ab").json() == {"count": 2}
    assert gateway.fetch("GET", "/v2/count").status == 404


def test_a_reload_reads_it_anew(start, ruled):
    gateway = start(ruled(stage="rpc"))
    ruled.file.write_text(RULES.replace("/v2/shelves/{shelf}/books/", "/v3/"))
    assert gateway.admin("POST", "/reload").status == 200
    assert gateway.fetch("GET", "/v3/b1").json()["id"] == "b1"
    ruled.file.write_text(RULES.replace("GetBook", "GetBok"))
    answer = gateway.admin("POST", "/reload")
    assert answer.status == 422
    (fault,) = answer.json()["errors"]
    assert (fault["file"], fault["line"], fault["column"]) == (str(ruled.file), 5, 15)
    assert gateway.fetch("GET", "/v3/b1").status == 200


@pytest.mark.parametrize(
    "was, now, place, says",
    [
        ("GetBook", "GetBok", "5:15",
         f"the selector `{SERVICE}.GetBok` names no method of the schema; did you mean `{SERVICE}.GetBook`?"),
        ("{id=*}", "{id=**}/x", "6:45", "is wrong at column 35: nothing but a verb may follow **"),
        ("{id=*}", "{idd}", "6:38", "has no field idd; did you mean id?"),
        ("FIND", "F IND", "9:23", "`F IND` is not an HTTP method"),
        ("get: /v2/count", "fetch: /v2/count", "11:5", "unknown key `fetch` in an HTTP rule"),
        ("rules:", "rulse:", "4:3", "did you mean `rules`?"),
    ],
)
def test_check_points_into_the_file(ruled, tmp_path, was, now, place, says):
    assert was in RULES
    ruled.file.write_text(RULES.replace(was, now))
    path = tmp_path / "turnout.yaml"
    path.write_text(json.dumps(ruled()))
    result = run("check", "--config", path)
    assert result.returncode == 1
    assert f"{ruled.file}:{place}: error: " in result.stderr
    assert says in result.stderr


def test_the_binding_that_fits_asks_the_rest_service(start, ruled, rest, pb):
    """The first one that can carry the message; a value of a path never moves to a query."""
    gateway = start(ruled())

    def ask(**fields):
        rest.reset()
        body = pb.GetBookRequest(**fields).SerializeToString()
        answer = gateway.fetch("POST", f"/{SERVICE}/GetBook", PROTO, body)
        return answer.status, [(request.method, request.target) for request in rest.requests]

    assert ask(shelf="s 1", id="b1") == (200, [("GET", "/v2/shelves/s%201/books/b1")])
    assert ask(shelf="s", id="b1", title_size=3) == (200, [("GET", "/v2/shelves/s/books/b1?titleSize=3")])
    assert ask(shelf="s") == (400, [])
    assert ask(id="b1") == (400, [])
    assert ask(shelf="s", id="..") == (400, [])


def test_a_binding_with_another_pattern(start, configuration, rest, pb):
    rule = {"get": "/v1/{path=new/*}", "additional_bindings": [{"get": "/v1/{path=old/**}"}, {"get": "/v1/all"}]}
    gateway = start(configuration(methods={"GetFile": {"http": rule}}))
    rest.answers(Reply.json({"path": "p"}))

    def ask(path):
        rest.reset()
        rest.answers(Reply.json({"path": "p"}))
        body = pb.GetFileRequest(path=path).SerializeToString()
        status = gateway.fetch("POST", f"/{SERVICE}/GetFile", PROTO, body).status
        return status, [request.target for request in rest.requests]

    assert ask("new/a") == (200, ["/v1/new/a"])
    assert ask("old/a/b c") == (200, ["/v1/old/a/b%20c"])
    assert ask("new/a/b") == (400, [])
    assert ask("") == (400, [])


def test_a_rule_without_a_reverse_is_told_at_load_and_at_call(start, configuration, client_of, pb, rest):
    gateway = start(configuration(methods={"CountBooks": {"http": {"custom": {"kind": "*", "path": "/v1/count"}}}}))
    assert "CountBooks cannot be asked by RPC while its stage is rest" in gateway.log()
    with pytest.raises(ConnectError) as error:
        client_of(gateway).count_books(pb.CountBooksRequest())
    assert error.value.code == Code.UNIMPLEMENTED
    assert not rest.requests
    # Any method will do for REST callers.
    rest.answers(Reply.json({"count": 2}))
    assert gateway.fetch("LINK", "/v1/count?author=ab").json() == {"count": 2}
    assert rest.only().method == "LINK"


FAULTY = """
syntax = "proto3";
package faulty.v1;
import "google/api/annotations.proto";
service Shop {
  rpc One(Ask) returns (Ask) { option (google.api.http) = {get: "/v1/{id}"}; }
  rpc Two(Ask) returns (Ask) { option (google.api.http) = {get: "/v1/{name}"}; }
  rpc Three(Ask) returns (Ask) {
    option (google.api.http) = {get: "/v2/{idd}" additional_bindings {post: "/v2/x" body: "nothing"}};
  }
}
message Ask { string id = 1; string name = 2; }
"""


def test_faults_of_annotations_in_a_descriptor_set(configuration, tmp_path):
    """There is no line of the `.proto` file to point to: file, symbol and the place in the template say where."""
    import google.api

    annotations = list(google.api.__path__)[0].removesuffix("google/api")
    (tmp_path / "faulty.proto").write_text(FAULTY)
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", f"-I{tmp_path}", f"-I{annotations}", "--include_imports",
         f"--descriptor_set_out={tmp_path / 'faulty.binpb'}", "faulty.proto"],
        check=True)
    setup = configuration()
    setup["schema"] = [{"descriptor_set": str(tmp_path / "faulty.binpb")}]
    setup["services"] = {"faulty.v1.Shop": {"rest": "legacy"}}
    path = tmp_path / "turnout.yaml"
    path.write_text(json.dumps(setup))
    result = run("check", "--config", path)
    assert result.returncode == 1
    said = [line.split(": ", 1)[1] for line in result.stderr.splitlines()]
    assert said == [
        "error: faulty.v1.Shop/Two and faulty.v1.Shop/One (GET /v1/{id} in faulty.proto) have the same rule "
        "GET /v1/{name}; give one of them another path",
        "error: faulty.v1.Shop/Three: the rule GET /v2/{idd} (google.api.http in faulty.proto) is wrong at column 6: "
        "faulty.v1.Ask has no field idd; did you mean id?",
        "error: faulty.v1.Shop/Three: the rule POST /v2/x (google.api.http in faulty.proto) is wrong: "
        "body: faulty.v1.Ask has no field nothing; it has id, name",
    ]


@pytest.fixture
def queried(configuration):
    """A method whose message has to go into the query, although its book has a map."""
    return lambda stage: configuration(stage=stage, methods={"CreateBook": {"http": {"get": "/v1/new/{shelf}"}}})


def test_a_message_in_a_query_to_a_rest_service(start, queried, rest, client_of, pb):
    gateway = start(queried("rest"))
    assert "RPC calls that set `book.labels` are refused while its stage is rest" in gateway.log()
    rest.answers(Reply.json({"id": "new"}))
    made = pb.Book(title="a&b=ü", authors=["x", "y,z"], pages=2**60, kind=pb.KIND_ATLAS, digest=b"\xff\xff")
    made.published.FromJsonString("2026-01-02T03:04:05.500Z")
    client = client_of(gateway)
    assert client.create_book(pb.CreateBookRequest(shelf="s/1", book=made)).id == "new"
    assert rest.only().target == (
        "/v1/new/s%2F1?book.title=a%26b%3D%C3%BC&book.authors=x&book.authors=y%2Cz&book.pages=1152921504606846976"
        "&book.kind=KIND_ATLAS&book.published=2026-01-02T03%3A04%3A05.500Z&book.digest=__8")
    made.labels["a"] = "b"
    with pytest.raises(ConnectError) as error:
        client.create_book(pb.CreateBookRequest(shelf="s", book=made))
    assert error.value.code == Code.INVALID_ARGUMENT
    assert "book.labels" in error.value.message
    assert len(rest.requests) == 1


def test_a_message_in_a_query_of_a_rest_client(start, queried, rpc, pb):
    gateway = start(queried("rpc"))
    query = (
        "book.title=a%26b%3D%C3%BC&book.authors=x&book.pages=0&book.authors=y%2Cz&book.kind=2"
        "&book.published=2026-01-02T04:04:05.5%2B01:00&book.digest=%2F%2F8=")
    assert gateway.fetch("GET", f"/v1/new/s%2F1?{query}").status == 200
    made = pb.Book(title="a&b=ü", authors=["x", "y,z"], kind=pb.KIND_ATLAS, digest=b"\xff\xff")
    made.published.FromJsonString("2026-01-02T03:04:05.500Z")
    assert rpc.only().message == pb.CreateBookRequest(shelf="s/1", book=made)
    for name in ("book.labels", "book.labels.a", "book", "book.published.seconds", "book.title.x", "boook.title"):
        answer = gateway.fetch("GET", f"/v1/new/s?{name}=1")
        assert answer.status == 400, name
        assert answer.json()["details"][0]["fieldViolations"][0]["field"] == name
    assert len(rpc.calls) == 1
