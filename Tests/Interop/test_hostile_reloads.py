"""A reload that is reported as done is done, on every loop."""

from support.rest_service import Reply, RESTService


def test_the_next_request_follows_the_reload(start, configuration, rest):
    """On open connections of all loops, at once, again and again."""
    other = RESTService()
    rest.answers(Reply(200, body=b"old"))
    other.answers(Reply(200, body=b"new"))
    setups = []
    for service in (rest, other):
        setup = configuration(fallback="legacy")
        setup["upstreams"]["legacy"]["endpoints"] = [service.url]
        setups.append(setup)
    gateway = start(setups[0])
    wires = [gateway.connect() for _ in range(12)]
    for turn in range(1, 40):
        gateway.write(setups[turn % 2])
        assert gateway.admin("POST", "/reload").status == 200
        answers = [wire.request("GET", "/anything").body for wire in wires]
        assert answers == [b"new" if turn % 2 else b"old"] * 12
