"""check, routes, explain, help: what they print and with which code they exit."""

import json
import re
import socket

import pytest

from support.gateway import run
from support.schema import PROTO, SERVICE, SOURCES


@pytest.fixture
def file(configuration, tmp_path):
    path = tmp_path / "turnout.yaml"
    path.write_text(json.dumps(configuration(methods={"GetFile": {"stage": "rpc"}}), indent=2))
    return path


def test_check_is_content(file):
    result = run("check", "--config", file)
    assert (result.returncode, result.stderr) == (0, "")


FAULTY = """\
listeners:
  - adress: 127.0.0.1:8080
upstreams:
  legacy: { protocol: rset, endpoints: ["http://127.0.0.1:8081"] }
  content: { protocol: connect, endpoints: ["ftp://127.0.0.1"] }
services:
  library.v1.Library:
    rest: legacy
    rpc: contnt
    stage: rest
    timeout: 15
    methods:
      GetBook: { stage: canari }
limits: { message: 4MB }
fallback: nobody
"""


def test_check_names_all_faults_at_once(tmp_path):
    path = tmp_path / "faulty.yaml"
    path.write_text(FAULTY)
    result = run("check", "--config", path)
    assert result.returncode == 1
    lines = result.stderr.strip().splitlines()
    assert all(re.match(r".*faulty\.yaml:\d+:\d+: (error|warning): .+", line) for line in lines), result.stderr
    found = {int(re.search(r"faulty\.yaml:(\d+):", line)[1]): line for line in lines}
    for line, words in {2: "address", 4: "rest", 5: "http", 13: "canary", 14: "MiB", 15: "nobody"}.items():
        assert line in found, f"line {line}: {FAULTY.splitlines()[line - 1]}\n{result.stderr}"
        assert words in found[line]


def test_check_names_faults_of_routes(configuration, tmp_path):
    setup = configuration(methods={
        "CountBooks": {"http": {"get": "/v1/count/{nothing}"}}, "GetBok": {"stage": "rpc"},
        "GetFile": {"http": {"get": "/v1/books/{path}"}}})
    path = tmp_path / "turnout.yaml"
    path.write_text(json.dumps(setup, indent=2))
    result = run("check", "--config", path)
    assert result.returncode == 1
    assert "nothing" in result.stderr and "GetBook" in result.stderr and "/v1/books/" in result.stderr
    assert len(result.stderr.strip().splitlines()) >= 3


def test_check_names_the_place_in_a_proto(configuration, tmp_path):
    source = (SOURCES / PROTO).read_text().replace("string title = 2;", "strin title = 2;", 1)
    (tmp_path / "library.proto").write_text(source)
    line = source.splitlines().index(next(line for line in source.splitlines() if "strin title" in line)) + 1
    setup = configuration()
    setup["schema"] = [{"protos": ["library.proto"], "import_paths": ["."]}]
    (tmp_path / "turnout.yaml").write_text(json.dumps(setup, indent=2))
    result = run("check", "--config", tmp_path / "turnout.yaml")
    assert result.returncode == 1
    assert re.search(rf"library\.proto:{line}:\d+: error: ", result.stderr), result.stderr


def test_no_file(tmp_path):
    for command in ("check", "serve", "routes"):
        result = run(command, "--config", tmp_path / "none.yaml")
        assert result.returncode == 1
        assert len(result.stderr.strip().splitlines()) == 1 and "none.yaml" in result.stderr


def test_a_taken_port_is_one_line(configuration, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        path = tmp_path / "turnout.yaml"
        path.write_text(json.dumps(configuration(listeners=[{"address": f"127.0.0.1:{port}"}])))
        result = run("serve", "--config", path)
    assert result.returncode == 1
    assert len(result.stderr.strip().splitlines()) == 1 and str(port) in result.stderr


def test_routes(file):
    result = run("routes", "--config", file)
    assert result.returncode == 0
    line = next(line for line in result.stdout.splitlines() if f"{SERVICE}/GetFile" in line)
    assert "rpc" in line and "GET /v1/files/{path=**}" in line
    result = run("routes", "--config", file, "--json")
    routes = {route["procedure"]: route for route in json.loads(result.stdout)["routes"]}
    assert len(routes) == 11
    assert routes[f"{SERVICE}/GetFile"]["stage"] == "rpc"
    assert routes[f"{SERVICE}/CountBooks"]["bindings"] == [{"method": "GET", "path": "/v1/count"}]
    assert len(routes[f"{SERVICE}/GetBook"]["bindings"]) == 2


def test_routes_and_explain_with_the_stages_of_a_running_gateway(start, configuration, rest, rpc):
    settings = {"canary": {"percent": "20%", "sticky_by": "header:x-user", "rules": [
        {"when": {"header": "x-beta", "present": True}, "use": "rpc"}]}}
    gateway = start(configuration(methods={"GetBook": settings}))
    admin = ["--admin", gateway.admin_url]
    get = f"{SERVICE}/GetBook"
    file = gateway.file

    def stage_of(*more, fields=()):
        return next(line.split(None, 1)[1] for line in explain(file, "GET", "/v1/books/b1", *fields, *more).splitlines() if line.startswith("stage "))

    assert stage_of() == stage_of(*admin) == "rest: the rest side answers"
    gateway.set_stage(get, "rpc")
    assert stage_of() == "rest: the rest side answers"
    assert stage_of(*admin) == "rpc: the rpc side answers (rpc at run time; the file says rest)"
    assert run("stage", get, "canary", "--percent", "100", *admin).returncode == 0
    assert stage_of(*admin) == "canary: the rpc side answers (canary at 100% at run time; the file says rest)"
    assert run("stage", get, "canary", "--percent", "0", *admin).returncode == 0
    beta = {"fields": ["-H", "x-beta: 1"]}
    assert (stage_of(*admin).split(" (")[0], stage_of(*admin, **beta).split(" (")[0]) == (
        "canary: the rest side answers", "canary: the rpc side answers")
    table = run("routes", *admin).stdout.splitlines()
    # The file's stages are told as such, and only they.
    assert table[0].split() == ["PROCEDURE", "STAGE", "REST", "RPC", "BINDING", "HOSTS"]
    assert "STAGE (FILE)" in run("routes", "--config", file).stdout.splitlines()[0]
    line = next(line for line in table if get in line)
    assert "canary 0 %" in line and "GET /v1/books/{id}" in line
    routes = {route["procedure"]: route for route in json.loads(run("routes", "--json", *admin).stdout)["routes"]}
    listed = {route["procedure"]: route for route in json.loads(run("routes", "--json", "--config", file).stdout)["routes"]}
    assert (routes[get]["stage"], routes[get]["percent"], listed[get]["stage"]) == ("canary", 0, "rest")
    # But for that, both say the same.
    assert routes == {**listed, get: {**listed[get], "stage": "canary", "percent": 0}}
    for arguments in (["routes"], ["explain", "--config", file, "GET", "/v1/books/b1"]):
        result = run(*arguments, "--admin", "http://127.0.0.1:1")
        assert (result.returncode, result.stdout) == (1, "") and "no answer from the admin endpoint" in result.stderr


def explain(file, *arguments):
    result = run("explain", "--config", file, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_explain_calls_nobody(file, rest, rpc):
    text = explain(file, "GET", "/v1/files/a%20b/c?")
    assert f"{SERVICE}/GetFile" in text and "/v1/files/{path=**}" in text
    assert "a b/c" in text and "content" in text and f"POST /{SERVICE}/GetFile" in text
    text = explain(file, "GET", f"/{SERVICE}/GetBook?connect=v1&encoding=json&message=%7B%22id%22%3A%22b1%22%7D")
    assert "legacy" in text and "GET /v1/books/b1" in text
    text = explain(
        file, "POST", f"/{SERVICE}/CreateBook", "-H", "content-type: application/json", "--data",
        '{"shelf": "s1", "book": {"title": "Neu"}}')
    assert "POST /v1/shelves/s1/books" in text and '"title"' in text and "Neu" in text
    assert not rest.requests and not rpc.calls


def test_explain_says_what_is_refused(file):
    text = explain(file, "GET", "/v1/files/a?colour=red")
    assert "400" in text and "colour" in text
    text = explain(file, "GET", "/nothing")
    assert "404" in text


def test_explain_shows_what_upstreams_are_told_of_the_caller(configuration, tmp_path):
    """The forwarded fields, the name of the request and its trace, as a client on this machine would have them."""
    path = tmp_path / "turnout.yaml"

    def fields(listener, *arguments, stage="rest"):
        setup = configuration(stage, interceptors=[{"tracing": {}}, {"request_id": {}}])
        setup["listeners"] = [{"address": "127.0.0.1:8080", **listener}]
        path.write_text(json.dumps(setup))
        text = explain(path, "GET", "/v1/books/b1", *arguments)
        assert "client    127.0.0.1, at the listener 127.0.0.1:8080" in text
        sent = text[text.index("\nsent "):]
        return dict(re.findall(r"^ {10}([a-z-]+): (.*)$", sent, re.M))

    for stage in ("rest", "rpc"):
        told = fields({}, stage=stage)
        assert (told["x-forwarded-for"], told["x-forwarded-proto"], told["x-forwarded-host"], told["x-forwarded-port"]) == (
            "127.0.0.1", "http", "localhost", "8080")
        assert re.fullmatch(r"[A-Za-z0-9._-]{1,128}", told["x-request-id"])
        assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]", told["traceparent"])
    told = fields({"forwarded": "standard"}, "-H", "host: api.test")
    assert told["forwarded"] == "for=127.0.0.1;host=api.test;proto=http" and "x-forwarded-for" not in told
    assert not {"forwarded", "x-forwarded-for"} & fields({"forwarded": "off"}).keys()
    # Whose word counts is seen too.
    claim = ["-H", "x-forwarded-for: 192.0.2.9", "-H", "x-request-id: mine"]
    told = fields({}, *claim)
    assert (told["x-forwarded-for"], told["x-request-id"]) == ("127.0.0.1", "mine")
    assert fields({"trusted": ["127.0.0.0/8"]}, *claim)["x-forwarded-for"] == "192.0.2.9, 127.0.0.1"


def test_explain_keeps_secrets(configuration, tmp_path):
    path = tmp_path / "turnout.yaml"
    path.write_text(json.dumps(configuration()))
    text = explain(path, "GET", "/v1/books/b1", "-H", "authorization: Bearer s3cret")
    assert "s3cret" not in text


@pytest.mark.parametrize("arguments", [
    [], ["serv"], ["serve"], ["check"], ["check", "--confg", "x"], ["stage", "a.B/C"], ["stage", "a.B/C", "sideways"],
    ["stage", "nonsense", "rpc"], ["explain", "--config", "x", "GET"], ["routes", "--config"], ["--nope"],
])
def test_wrong_usage_is_2(arguments):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == "" and result.stderr.startswith("turnout: ")


def test_help_and_version():
    assert re.fullmatch(r"turnout \d+\.\d+\.\d+\S*\n", run("--version").stdout)
    overview = run("help").stdout
    for command in ("serve", "check", "routes", "explain", "stage", "demo", "help"):
        assert command in overview
        assert run("help", command).returncode == 0


def test_no_admin_endpoint_to_talk_to():
    result = run("stage", "a.B/C", "rpc", "--admin", "http://127.0.0.1:1")
    assert result.returncode == 1
    assert len(result.stderr.strip().splitlines()) == 1


def test_explain_as_if_the_stage_were_another(file):
    result = run("explain", "--config", file, "GET", "/v1/books/b1", "--stage", "rpc")
    assert (result.returncode, result.stderr) == (0, "")
    assert "the rpc side answers (as if that were its stage; the file says rest)" in result.stdout
    assert f"/{SERVICE}/GetBook" in result.stdout
    result = run("explain", "--config", file, "GET", "/v1/books/b1", "--stage", "rcp")
    assert result.returncode == 2 and 'unknown stage "rcp"; did you mean rpc?' in result.stderr
