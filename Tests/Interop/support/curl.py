"""curl as a client of the echo service: what a script on a command line can send, and what it gets."""

import base64
import json
import struct
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from google.protobuf import json_format

from .echo import SERVICE, decoded
from .echo_clients import Outcome, TextClient, metadata


class CurlAnswer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def __getitem__(self, name):
        return next((value for key, value in self.fields if key == name), None)


def curl(address, target, *options, body=None, headers=()):
    """One run of curl; the body comes from a file, so that it may be of any size."""
    with tempfile.TemporaryDirectory() as folder:
        head, sent = Path(folder) / "head", Path(folder) / "sent"
        arguments = ["curl", "-sS", "--max-time", "60", "-D", head, *options]
        for name, value in headers:
            arguments += ["-H", f"{name}: {value}"]
        if body is not None:
            sent.write_bytes(body)
            arguments += ["--data-binary", f"@{sent}"]
        run = subprocess.run(
            [*map(str, arguments), "http://%s:%d%s" % (*address, target)], capture_output=True, timeout=90)
        assert run.returncode == 0, run.stderr
        # The last head is that of the answer; a `100 Continue` may stand before it.
        lines = head.read_text(encoding="latin-1").strip().split("\n\n" if "\r" not in head.read_text() else "\r\n\r\n")
    first, *rest = lines[-1].splitlines()
    fields = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in rest)]
    return CurlAnswer(int(first.split()[1]), fields, run.stdout)


class CurlClient:
    """Connect in JSON, by POST or by GET."""

    def __init__(self, schema, address, gets=False, options=()):
        self.pb, self.address, self.gets, self.options = schema.pb, address, gets, options

    def call(self, method, request, headers=None, timeout=None):
        fields = list((headers or {}).items())
        if timeout:
            fields.append(("Connect-Timeout-Ms", str(int(timeout * 1000))))
        text = json_format.MessageToJson(request, indent=None)
        target = f"/{SERVICE}/{method}"
        if self.gets:
            answer = curl(
                self.address, f"{target}?connect=v1&encoding=json&message={quote(text, safe='')}", *self.options,
                headers=fields)
        else:
            answer = curl(
                self.address, target, *self.options, body=text.encode(),
                headers=[("Content-Type", "application/json"), *fields])
        return self.outcome(answer)

    def outcome(self, answer):
        own = [field for field in answer.fields if not field[0].startswith("trailer-")]
        trailers = [(name.removeprefix("trailer-"), value) for name, value in answer.fields if name not in dict(own)]
        outcome = Outcome(headers=metadata(own), trailers=metadata(trailers))
        assert answer["content-type"] == "application/json", answer.fields
        if answer.status == 200:
            outcome.lines.append(json_format.Parse(answer.body, self.pb.Line()))
        else:
            error = json.loads(answer.body)
            outcome.code, outcome.message = error["code"], error.get("message", "")
            outcome.details = [(one["type"], decoded(one["value"])) for one in error.get("details", ())]
        return outcome

    def close(self):
        pass


class CurlTextClient(TextClient):
    """gRPC-Web as text."""

    def call(self, method, request, headers=None, timeout=None):
        requests = list(request) if method in ("Tell", "Talk") else [request]
        data = b"".join(
            struct.pack(">BI", 0, len(message)) + message
            for message in (line.SerializeToString() for line in requests))
        fields = [("Content-Type", "application/grpc-web-text"), *(headers or {}).items()]
        if timeout:
            fields.append(("Grpc-Timeout", f"{int(timeout * 1000)}m"))
        answer = curl(self.address, f"/{SERVICE}/{method}", body=base64.b64encode(data), headers=fields)
        assert (answer.status, answer["content-type"]) == (200, "application/grpc-web-text"), answer.fields
        outcome = Outcome(headers=metadata(answer.fields))
        self.read(outcome, self.bytes_of(answer.body))
        return outcome
