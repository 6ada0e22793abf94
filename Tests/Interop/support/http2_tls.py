"""What the tests of HTTP/2 over TLS have in common."""

import json

from support.rest_service import Reply


def with_interceptors(*more):
    return [{"access_log": {"format": "json"}}, *more]


def lines(gateway, count):
    return [json.loads(line) for line in gateway.access_log(count)]


def echo(request):
    return Reply(200, [("Content-Type", "application/octet-stream")], request.body)


def pattern(size):
    return (bytes(range(251)) * (size // 251 + 1))[:size]
