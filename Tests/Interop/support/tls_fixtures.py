"""What tests of TLS have in common: an authority of their own, a server's certificate, gateways and peers that use them.

A plugin of `conftest.py`."""

import pytest

from .certificates import Authority
from .http2 import HTTP2Client, HTTP2Upstream


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "certificates")


@pytest.fixture
def server(authority):
    return authority.issue("server", "DNS:localhost", "IP:127.0.0.1")


@pytest.fixture
def secured(configuration, server):
    """A configuration whose one listener speaks TLS; `tls` are further keys of the listener's."""

    def make(tls=None, **top):
        setup = configuration(**top)
        setup["listeners"] = [{"address": "127.0.0.1:0", "tls": {**server, **(tls or {})}}]
        return setup

    return make


@pytest.fixture
def secured_http2(secured):
    """The same with one loop and a fallback."""
    return lambda tls=None, **top: secured(tls, **{"workers": 1, "fallback": "legacy", **top})


@pytest.fixture
def open_client(authority):
    """Makes clients that have agreed on HTTP/2."""
    made = []

    def make(gateway, identity=None, **more):
        made.append(HTTP2Client(gateway.address, tls=authority.client_context(identity, alpn=["h2"]), **more))
        assert made[-1].socket.selected_alpn_protocol() == "h2"
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def secure_upstream(authority, server):
    """Makes upstreams that speak HTTP/2 over TLS. Scripts answer on the connection's own thread only."""
    made = []

    def make(*arguments, alpn=("h2",), **more):
        made.append(HTTP2Upstream(*arguments, tls=authority.server_context(server, alpn=list(alpn) or None), **more))
        return made[-1]

    yield make
    for one in made:
        one.close()
