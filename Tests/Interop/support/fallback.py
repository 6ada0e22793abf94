"""Routes with `fallback: true`: their settings, what breaks a side, and what is counted."""

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.echo import SERVICE as ECHO
from support.gateway import wait_until
from support.rest_service import Reply
from support.sides import PROCEDURE, place, sign

# Ways to break the rpc side and those to break the rest side, as a route falls back from it.
QUICK = {"attempts": 0, "per_try_timeout": "300ms"}
NOWHERE = "http://127.0.0.1:1"


def canary(percent="100%", **more):
    return {"stage": "canary", "canary": {"percent": percent, "sticky_by": "header:x-user"}, "fallback": True, **more}


@pytest.fixture
def started(start, configuration, rest, rpc):
    """A gateway whose GetBook has these settings; `upstreams` lays keys over those of an upstream."""
    sign(rest, rpc)

    def started(settings, upstreams=None, methods=None, **top):
        setup = configuration(methods={"GetBook": settings, **(methods or {})}, **top)
        for name, keys in (upstreams or {}).items():
            setup["upstreams"][name] |= keys
        return start(setup)

    return started


def fails(rpc, code=Code.INTERNAL):
    def script(call, context):
        raise ConnectError(code, "broken")

    rpc.script = script


def fallbacks(gateway, **labels):
    return gateway.metric("turnout_fallbacks_total", **labels)


def counted(gateway, side, outcome, count=1, method="GetBook"):
    wait_until(lambda: fallbacks(gateway, method=method, **{"from": side}, outcome=outcome) == count,
               what=f"{count} {outcome} from {side}")


def nothing_is_held(gateway):
    wait_until(lambda: gateway.metric("turnout_buffered_bytes") == 0, what="the end of all buffers")


def route(gateway, procedure=PROCEDURE):
    return gateway.admin("GET", f"/routes/{procedure}").json()


def rest_user(percent=50):
    return [("X-User", next(f"user-{n}" for n in range(100) if place(f"user-{n}") >= percent * 100))]


def reply_of_line(request, **more):
    got = request.json()
    return Reply.json({"text": "rest:" + got.get("text", ""), "data": got.get("data", ""), **more})


@pytest.fixture
def echo_pair(start, echo_gateways, rest):
    """`echo_pair(dialect, backend)`: a client before a gateway whose Say may go to a REST service too."""
    made = []

    def pair(dialect, backend, settings=None, **more):
        rest.answers(reply_of_line)
        setup = echo_gateways.configuration(backend, **more)
        setup["upstreams"]["legacy"] = {"protocol": "rest", "endpoints": [rest.url]}
        setup["services"][ECHO] |= {"rest": "legacy", "methods": {"Say": {
            "http": {"post": "/v1/say", "body": "*"}, "fallback": True, **(settings or {})}}}
        gateway = start(setup)
        memory = echo_gateways.memory(backend)
        memory.reset()
        client = echo_gateways.client(dialect, gateway)
        made.append(client)
        client.memory, client.gateway = memory, gateway
        return client

    return pair
