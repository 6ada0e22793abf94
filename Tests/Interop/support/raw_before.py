"""Raw upstreams before which a test puts a gateway."""

import pytest

from support.raw_upstream import RawUpstream


@pytest.fixture
def upstream():
    """Makes raw upstreams and closes them."""
    made = []

    def make(handle, **more):
        made.append(RawUpstream(handle, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


def before(configuration, url, stage="rest", **more):
    """A configuration in which all upstreams, the fallback's too, are this one."""
    setup = configuration(stage, fallback="legacy", **more)
    for one in setup["upstreams"].values():
        one["endpoints"] = [url]
    return setup


def answering(*answers):
    """A handler that sends these one after the other, the last one again and again."""
    def handle(connection):
        turn = 0
        while connection.head() is not None:
            connection.send(answers[min(turn, len(answers) - 1)])
            turn += 1
    return handle
