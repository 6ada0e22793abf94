"""HTTP/2 upstreams before which a test puts a gateway."""

import pytest

from support.http2 import HTTP2Upstream


@pytest.fixture
def upstream():
    made = []

    def make(*arguments, **more):
        made.append(HTTP2Upstream(*arguments, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


def before(configuration, upstream, stage="rest", keys=None, **more):
    """A configuration in which all upstreams, the fallback's too, are this one."""
    setup = configuration(stage, codec="json", workers=1, fallback="legacy", **more)
    for one in setup["upstreams"].values():
        one.update({"endpoints": [upstream.url], "http": "2", **(keys or {})})
    return setup


def echo(exchange):
    exchange.answer(200, [("x-path", exchange[":path"])], bytes(exchange.body) or b"none")
