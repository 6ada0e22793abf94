"""What `turnout check` says of mistakes that are made on the first day, each in the demo's configuration."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("TURNOUT_BIN") or ROOT / ".build/debug/turnout").resolve()
DEMO = ROOT / "config/demo"
PATIENCE = 60

RANKING = "GetRanking: { stage: rpc }"
SERVICE = "pivot.content.v1"

# What stands in the file, what is written instead, and all that is said of it.
MISTAKES = {
    "a misspelt key": (
        "listeners:", "listner:", "2:1: error: unknown key `listner` in the configuration; did you mean `listeners`?"),
    "a mapping for a list": (
        "  - address: 127.0.0.1:8080", "  address: 127.0.0.1:8080",
        "3:3: error: a list of listeners belongs here, not a mapping; begin each of its elements with `- `"),
    "a tab": (
        "    rpc: content", "\trpc: content",
        "17:1: error: not valid YAML: found a tab character that violates indentation while scanning a plain scalar "
        "that begins in line 16; indent with spaces"),
    "a port alone": (
        "address: 127.0.0.1:8080", "address: 8080",
        "3:14: error: the address `8080` has no port; write it as `127.0.0.1:8080`; 0 is any port"),
    "a name for an address": (
        "address: 127.0.0.1:8080", "address: localhost:8080",
        "3:14: error: the address `localhost:8080` is not an IP address; write `127.0.0.1:8080`"),
    "an endpoint without scheme": (
        "http://127.0.0.1:8081", "127.0.0.1:8081",
        "11:41: error: the endpoint `127.0.0.1:8081` has no scheme; write `http://127.0.0.1:8081`"),
    "an upstream that is not there": (
        "rpc: content", "rpc: contents",
        "17:10: error: `rpc` names an upstream `contents`, which is not given; did you mean `content`?"),
    "the sides swapped": (
        "    rest: legacy\n    rpc: content\n    stage: rest", "    rest: content\n    rpc: legacy\n    stage: rest",
        "16:11: error: `rest` needs an upstream with `protocol: rest`, and `content` has `protocol: connect`; "
        "name `legacy`",
        "17:10: error: `rpc` needs an upstream with `protocol: connect`, `grpc` or `grpc-web`, and `legacy` has "
        "`protocol: rest`; name `content`"),
    "a side left out": (
        "    rest: legacy\n    rpc: content\n    stage: rest", "    rpc: content\n    stage: rest",
        f"17:12: error: {SERVICE}.ContentService: stage `rest` of `SearchEpisodes` and `GetEpisode` needs `rest`, which "
        "is not given; name an upstream with `protocol: rest` as `rest:`, or set another `stage:`"),
    "a canary without a share": (
        "ListFeaturedTags: { stage: rpc }", "ListFeaturedTags: { stage: canary }",
        f"23:34: error: stage `canary` of `{SERVICE}.ContentService/ListFeaturedTags` has no share of the callers; write "
        "`canary: { percent: 1% }`, or `ramp:`"),
    "a service without its package": (
        f"{SERVICE}.CommentService", "CommentService",
        f"26:3: error: the schema has no service CommentService; did you mean {SERVICE}.CommentService?"),
    "a misspelt method": (
        "GetRanking:", "GetRankings:",
        f"24:7: error: {SERVICE}.ContentService has no method GetRankings; did you mean GetRanking?"),
    "a duration without unit": (
        "    stage: rpc\n", "    stage: rpc\n    timeout: 15\n",
        "30:14: error: `15` is not a duration; write `15s`"),
    "a proto file that is not there": (
        "comment.proto", "comments.proto",
        "7:14: error: comments.proto: File not found; name it relative to one of import_paths"),
    "an import path that is not there": (
        "import_paths: [.]", "import_paths: [proto]",
        "7:14: error: the import path FOLDER/proto is not a folder; name the folder that holds the .proto files, "
        "relative to this file"),
    "a verb in capitals": (
        RANKING, "GetRanking: { stage: rpc, http: { GET: '/v1/ranking/{type}' } }",
        "24:41: error: unknown key `GET` in an HTTP rule; did you mean `get`?"),
    "a variable with a colon": (
        RANKING, "GetRanking: { stage: rpc, http: { get: '/v1/ranking/:type' } }",
        f"24:59: error: {SERVICE}.ContentService/GetRanking: the rule GET /v1/ranking/:type is wrong at column 13: "
        "a segment is empty before the colon; a variable is written {name}"),
    "a variable that is no field": (
        RANKING, "GetRanking: { stage: rpc, http: { get: '/v1/ranking/{kind}' } }",
        f"24:60: error: {SERVICE}.ContentService/GetRanking: the rule GET /v1/ranking/{{kind}} is wrong at column 14: "
        f"{SERVICE}.GetRankingRequest has no field kind; it has type, limit"),
    "two methods on one path": (
        RANKING, "GetRanking: { stage: rpc, http: { get: '/v1/episodes/{type}' } }",
        f"24:46: error: {SERVICE}.ContentService/GetRanking and {SERVICE}.ContentService/GetEpisode (GET /v1/episodes/{{id}} "
        "at FOLDER/content.proto:26:5) have the same rule GET /v1/episodes/{type}; give one of them another path"),
    "an admin endpoint for everybody": (
        "admin: { address: 127.0.0.1:9901 }", "admin: { address: 0.0.0.0:9901 }",
        "4:19: error: the admin endpoint would be open to the network without a token; "
        'set `token: "${env:TURNOUT_ADMIN_TOKEN}"`, or listen on `127.0.0.1`'),
    "a misspelt side": (
        "    rpc: content\n    stage: rest", "    rcp: content\n    stage: rest",
        "17:5: error: unknown key `rcp` in a service; did you mean `rpc`?"),
    "a share beyond the whole": (
        "ListFeaturedTags: { stage: rpc }", "ListFeaturedTags: { stage: canary, canary: { percent: 150% } }",
        "23:61: error: `150%` is more than the whole; write a share from `0%` to `100%`"),
    "a share as a fraction": (
        "max_error_rate: 5%", "max_error_rate: 0.05",
        "21:48: error: `0.05` is not a share; write `5%` or `0.05%`"),
    "a share alone": (
        "ListFeaturedTags: { stage: rpc }", "ListFeaturedTags: { stage: canary, canary: 10% }",
        "23:50: error: a mapping, the canary settings, belongs here, not text; write `{ percent: 10% }`"),
    "a number of retries": (
        "    stage: rpc\n", "    stage: rpc\n    retries: 3\n",
        "30:14: error: a mapping, the retries, belongs here, not text; write `{ attempts: 3 }`"),
    "a status beyond those of a success": (
        "success_status: 201", "success_status: 404",
        "31:40: error: `404` is out of bounds; write a whole number from 200 to 204"),
    "an interceptor as a key": (
        "    stage: rpc\n", "    stage: rpc\n    cors: { origins: ['*'] }\n",
        "30:5: error: `cors` is not a key of a service; it is an interceptor; write it as `interceptors: [ { cors: … } ]`"),
    "an interceptor without a colon": (
        "- access_log: { format: text }", "- access_log",
        "35:5: error: the interceptor `access_log` has no settings; write `access_log: {}`"),
    "another product's word for endpoints": (
        'endpoints: ["http://127.0.0.1:8081"]', 'url: "http://127.0.0.1:8081"',
        "11:29: error: unknown key `url` in an upstream; it is called `endpoints` here"),
    "certificates that are not to be verified": (
        'endpoints: ["http://127.0.0.1:8082"] }',
        'endpoints: ["https://127.0.0.1:8082"], tls: { insecure_skip_verify: true } }',
        "12:93: error: `insecure_skip_verify` is not a key of the TLS of an upstream; certificates are always verified; "
        "name the authority that issues them with `ca:`"),
    "blanks of a web page": (
        "    rpc: content\n", "\u00a0\u00a0\u00a0\u00a0rpc: content\n",
        "18:10: error: not valid YAML: mapping values are not allowed in this context; line 17 is indented with "
        "no-break spaces; write ordinary ones"),
    "a brace that is not closed": (
        'endpoints: ["http://127.0.0.1:8081"] }', 'endpoints: ["http://127.0.0.1:8081"]',
        "12:3: error: not valid YAML: did not find expected ',' or '}' while parsing a flow mapping that begins in "
        "line 11; check the indentation, brackets and quotes before this place"),
    "a variable that is not set": (
        "address: 127.0.0.1:8080", "address: ${env:NO_SUCH_ADDRESS}",
        "3:14: error: the environment variable `NO_SUCH_ADDRESS` is not set; set it before the start"),
    "a copy of what has side effects": (
        "CreateComment: { success_status: 201 }", "CreateComment: { success_status: 201, stage: shadow }",
        f"31:52: error: {SERVICE}.CommentService/CreateComment may have side effects, so it cannot be shadowed; declare "
        "idempotency_level = NO_SIDE_EFFECTS if it has none, or write `shadow: { unsafe: true }`"),
    "the same address twice": (
        "admin: { address: 127.0.0.1:9901 }", "admin: { address: 127.0.0.1:8080 }",
        "4:19: error: the address `127.0.0.1:8080` is given twice, first at FOLDER/turnout.yaml:3:14; use another port"),
    "a certificate without its key": (
        "address: 127.0.0.1:8080", "address: 127.0.0.1:8080\n    tls: { certificate: server.pem }",
        "4:10: error: the TLS of a listener needs `key`; write `certificate: FILE` and `key: FILE`"),
    "a certificate that is not there": (
        "address: 127.0.0.1:8080", "address: 127.0.0.1:8080\n    tls: { certificate: server.pem, key: server.key }",
        "4:25: error: the certificate FOLDER/server.pem cannot be used: it cannot be read: no such file or directory"),
    "an endpoint with TLS settings and without TLS": (
        'endpoints: ["http://127.0.0.1:8081"] }', 'endpoints: ["http://127.0.0.1:8081"], tls: { ca: ca.pem } }',
        "11:67: error: `tls` is for endpoints with `https://`, and there is none; write `https://` before the endpoints "
        "that speak TLS, or leave `tls` out"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_check_says_what_and_how(name, tmp_path):
    before, after, *said = MISTAKES[name]
    for proto in DEMO.glob("*.proto"):
        shutil.copy(proto, tmp_path)
    right = (DEMO / "turnout.yaml").read_text()
    assert before in right
    file = tmp_path / "turnout.yaml"
    file.write_text(right.replace(before, after, 1))
    result = subprocess.run(
        [BINARY, "check", "--config", file], capture_output=True, text=True, timeout=PATIENCE)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [f"{file}:{line.replace('FOLDER', str(tmp_path))}" for line in said]


def test_check_warns_of_what_is_probably_not_meant(tmp_path):
    """A variable in the shell's spelling, a secret that everybody can read, and a GET with a body."""
    for proto in DEMO.glob("*.proto"):
        shutil.copy(proto, tmp_path)
    file = tmp_path / "turnout.yaml"
    text = (DEMO / "turnout.yaml").read_text()
    text = text.replace("127.0.0.1:9901 }", "127.0.0.1:9901, token: $TOKEN }")
    text = text.replace(RANKING, "GetRanking: { stage: rpc, http: { get: '/v1/ranking/{type}', body: '*' } }")
    file.write_text(text)
    file.chmod(0o644)
    result = subprocess.run([BINARY, "check", "--config", file], capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr
    assert [line.removeprefix(f"{file}:") for line in result.stderr.splitlines()] == [
        "4:42: warning: `$TOKEN` stands for itself; write `${env:TOKEN}` for the variable's value",
        "4:42: warning: a secret stands here in clear text, and everybody on this machine can read the file; write "
        f"`${{env:NAME}}` or `${{file:PATH}}` in its place, or take the right away: `chmod o-r {file}`",
        "24:74: warning: a GET with a body: browsers, caches and most clients know none; leave `body` out, the fields "
        "come from the query; or write `post:`"]
