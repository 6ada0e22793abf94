"""Who called, as upstreams are told: `X-Forwarded-*` and `Forwarded`, from clients and from proxies that are trusted."""

import hashlib
import itertools
import json

import pytest

from support.certificates import Authority
from support.gateway import run
from support.proxies import Nginx
from support.rest_service import Reply, RESTService
from support.wire import Wire, fetch

NAMES = ("x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port", "forwarded")
CLAIMS = [
    ("X-Forwarded-For", "198.51.100.7"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example"),
    ("X-Forwarded-Port", "1"), ("Forwarded", "for=198.51.100.7;proto=https"),
]


def listening(**more):
    return [{"address": "127.0.0.1:0", **more}]


def told(request):
    return {name: request.all(name) for name in NAMES if request.all(name)}


@pytest.fixture
def asks(start, configuration, rest):
    """Starts a gateway on a listener with these keys; asks it, and gives what the backend was told."""

    def begin(**listener):
        gateway = start(configuration(listeners=listening(**listener)))

        def ask(*fields, host="api.example:81"):
            rest.requests.clear()
            assert gateway.fetch("GET", "/v1/books/b1", [("Host", host), *fields]).status == 200
            return told(rest.only())

        ask.gateway = gateway
        return ask

    return begin


def test_a_client_is_told_of_and_cannot_tell_of_others(asks):
    ask = asks()
    expected = {
        "x-forwarded-for": ["127.0.0.1"], "x-forwarded-proto": ["http"], "x-forwarded-host": ["api.example:81"],
        "x-forwarded-port": [str(ask.gateway.address[1])],
    }
    assert ask() == expected
    assert ask(*CLAIMS) == expected
    assert ask(*CLAIMS, *CLAIMS) == expected
    line = json.loads(ask.gateway.access_log(3)[1])
    assert line["client"] == "127.0.0.1"
    assert ask.gateway.log().count("in no `trusted` range") == 1


def spellings(name):
    """All that a server which makes variables of names reads as this one, but for its own spelling."""
    parts = name.split("-")
    for joints in itertools.product("-_", repeat=len(parts) - 1):
        if "_" in joints:
            spelt = "".join(itertools.chain(*zip(parts, [*joints, ""])))
            yield from {spelt.lower(), spelt.upper(), spelt.title()}


def variables(fields):
    """What such a server makes of them."""
    made = {}
    for name, value in fields:
        made.setdefault(name.upper().replace("-", "_"), []).append(value)
    return made


def is_forged(fields):
    return {name: values for name, values in variables(fields).items() if any("forged" in value for value in values)}


@pytest.mark.parametrize("trusted", [{}, {"trusted": ["127.0.0.0/8"]}], ids=["client", "proxy"])
@pytest.mark.parametrize("where", ["rest", "rpc", "shadow", "fallback", "trailers"])
def test_no_spelling_of_a_name_that_the_gateway_vouches_for_passes(
    start, configuration, rest, rpc, tmp_path, where, trusted
):
    """Not to a route, a copy or the fallback, and not from a proxy that is trusted: none spells them so."""
    names = [name for name in NAMES if "-" in name] + [
        "x-real-ip", "x-forwarded-prefix", "x-forwarded-client-cert", "x-user-name", "x-client-subject", "x-request-id",
        "x-from-check", "x-set-here", "x-add-here", "x-removed-here", "x-upstream-sets", "x-backend-key", "x-choose-side"]
    stage = where if where in ("rpc", "shadow") else "rest"
    check = RESTService()
    check.answers(lambda request: Reply(200))
    authority = Authority(tmp_path / "authority")
    server = authority.issue("server", "DNS:localhost")
    secured = listening(tls={**server, "client_ca": str(authority.file), "client_auth": "optional"})
    keys = tmp_path / "keys"
    keys.write_text(hashlib.sha256(b"k").hexdigest() + " anna\n")
    setup = configuration(
        stage, listeners=listening(**trusted) + secured, fallback="legacy", service={
            "override": {"header": "x-choose-side", "addresses": ["10.9.9.9"]}},
        interceptors=[
            {"request_id": {}},
            {"api_key": {"keys_file": str(keys), "forward": "x-user-name"}},
            {"client_certificate": {"required": False, "forward": {"subject": "x-client-subject"}}},
            {"headers": {"request": {
                "set": {"x-set-here": "own"}, "add": {"x-add-here": "own"}, "remove": ["x-removed-here"]}}},
            {"external_auth": {"url": f"{check.url}/check", "upstream_headers": ["x-from-check"]}},
        ])
    for upstream in setup["upstreams"].values():
        upstream["headers"] = {"set": {"x-upstream-sets": "own"}}
        upstream["credentials"] = {"static": {"header": "x-backend-key", "value": "own"}}
    gateway = start(setup)
    if stage == "rest":
        rest.answers(lambda request: Reply(200))
    target = "/elsewhere" if where == "fallback" else "/v1/books/b1"
    for name in names:
        forged = [(spelt, "forged") for spelt in sorted(spellings(name))]
        assert forged, name
        rest.requests.clear()
        rpc.calls.clear()
        if where == "trailers":
            with gateway.connect() as wire:
                wire.send(
                    b"PUT /elsewhere HTTP/1.1\r\nHost: x\r\nX-Api-Key: k\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                    + b"".join(b"%s: forged\r\n" % spelt.encode() for spelt, _ in forged) + b"\r\n")
                assert wire.answer().status == 200
        else:
            answer = gateway.fetch("GET", target, [("X-Api-Key", "k"), *forged])
            assert answer.status == 200, answer
        seen = [request.fields + request.trailers for request in rest.requests]
        if stage != "rest":
            rpc.wait_for(1)
            seen += [[(key, value) for key, value in call.headers.allitems()] for call in rpc.calls]
        assert len(seen) == (2 if where == "shadow" else 1)
        for fields in seen:
            assert not is_forged(fields), (name, is_forged(fields))
            if where != "trailers":
                assert variables(fields)["X_SET_HERE"] == ["own"] and variables(fields)["X_BACKEND_KEY"] == ["own"]
                assert variables(fields)["X_USER_NAME"] == ["anna"]


def test_what_else_a_client_says_of_proxies_passes_from_a_proxy_only(asks, rest):
    fields = [("X-Real-IP", "198.51.100.7"), ("X-Forwarded-Prefix", "/api"), ("X-Forwarder", "mine"), ("X_Own", "mine")]
    asks()(*fields)
    request = rest.only()
    assert (request["x-real-ip"], request["x-forwarded-prefix"]) == (None, None)
    assert (request["x-forwarder"], request["x_own"]) == ("mine", "mine")
    for listener in ({"trusted": ["127.0.0.0/8"]}, {"forwarded": "off"}):
        asks(**listener)(*fields)
        request = rest.only()
        assert (request["x-real-ip"], request["x-forwarded-prefix"]) == ("198.51.100.7", "/api")


def test_the_standard_field_and_both(asks):
    element = 'for=127.0.0.1;host="api.example:81";proto=http'
    assert asks(forwarded="standard")(*CLAIMS) == {"forwarded": [element]}
    both = asks(forwarded="both")(*CLAIMS)
    assert both["forwarded"] == [element] and both["x-forwarded-for"] == ["127.0.0.1"] and len(both) == 5
    assert asks(forwarded="standard")(host="plain") == {"forwarded": ["for=127.0.0.1;host=plain;proto=http"]}


def test_off_is_as_it_was(asks):
    ask = asks(forwarded="off", trusted=["127.0.0.0/8"])
    assert ask() == {}
    assert ask(*CLAIMS) == {name.lower(): [value] for name, value in CLAIMS}
    assert json.loads(ask.gateway.access_log(2)[1])["client"] == "127.0.0.1"


@pytest.mark.parametrize("fields,client,chain", [
    (["198.51.100.7"], "198.51.100.7", "198.51.100.7, 127.0.0.1"),
    # What stands left of the client it could have written itself.
    (["203.0.113.9, 198.51.100.7"], "198.51.100.7", "198.51.100.7, 127.0.0.1"),
    (["203.0.113.9, 198.51.100.7, 10.1.2.3"], "198.51.100.7", "198.51.100.7, 10.1.2.3, 127.0.0.1"),
    (["203.0.113.9", "198.51.100.7", "10.1.2.3 ,\t10.9.9.9"], "198.51.100.7",
     "198.51.100.7, 10.1.2.3 ,\t10.9.9.9, 127.0.0.1"),
    (["198.51.100.7:4711"], "198.51.100.7", "198.51.100.7:4711, 127.0.0.1"),
    (["2001:db8::7"], "2001:db8::7", "2001:db8::7, 127.0.0.1"),
    (["[2001:db8::7]:4711"], "2001:db8::7", "[2001:db8::7]:4711, 127.0.0.1"),
    (["::ffff:198.51.100.7"], "198.51.100.7", "::ffff:198.51.100.7, 127.0.0.1"),
    # All are trusted: the leftmost is as far as anybody knows.
    (["10.1.1.1, 10.1.2.3"], "10.1.1.1", "10.1.1.1, 10.1.2.3, 127.0.0.1"),
    # What is no address ends the way.
    (["198.51.100.7, unknown, 10.1.2.3"], "10.1.2.3", "10.1.2.3, 127.0.0.1"),
    (["198.51.100.7, 10.1.2.3.4"], "127.0.0.1", "127.0.0.1"),
    (["fe80::1%eth0"], "127.0.0.1", "127.0.0.1"),
    ([" , ,"], "127.0.0.1", "127.0.0.1"),
    (["198.51.100.7" + ", 10.0.0.1" * 63], "198.51.100.7", "198.51.100.7" + ", 10.0.0.1" * 63 + ", 127.0.0.1"),
    (["198.51.100.7" + ", 10.0.0.1" * 64], "10.0.0.1", "10.0.0.1, " * 64 + "127.0.0.1"),
])
def test_a_trusted_proxy_is_believed_from_the_right(shared_trusting, rest, fields, client, chain):
    seen = len(shared_trusting.stdout.read_text().splitlines())
    got = shared_trusting.fetch("GET", "/v1/books/b1", [("X-Forwarded-For", value) for value in fields])
    assert got.status == 200
    assert told(rest.only())["x-forwarded-for"] == [chain]
    assert json.loads(shared_trusting.access_log(seen + 1)[-1])["client"] == client


@pytest.fixture(scope="module")
def trusting(configuration, tmp_path_factory):
    from support.gateway import Gateway
    trusted = ["127.0.0.0/8", "10.0.0.0/8", "2001:db8:1::/48"]
    gateway = Gateway(
        tmp_path_factory.mktemp("trusting"), configuration(listeners=listening(trusted=trusted, forwarded="both")))
    yield gateway
    gateway.discard()


@pytest.fixture
def shared_trusting(trusting, used, rest):
    used.append(trusting)
    return trusting


@pytest.mark.parametrize("fields,client,chain", [
    (["for=198.51.100.7"], "198.51.100.7", "for=198.51.100.7, "),
    (['For="[2001:db8::7]:4711";proto=https', "for=10.1.1.1"], "2001:db8::7",
     'For="[2001:db8::7]:4711";proto=https, for=10.1.1.1, '),
    (["for=203.0.113.9, proto=https; for=198.51.100.7 , for=10.1.1.1;by=_x"], "198.51.100.7",
     "proto=https; for=198.51.100.7 , for=10.1.1.1;by=_x, "),
    (["for=198.51.100.7, for=_hidden, for=10.1.1.1"], "10.1.1.1", "for=10.1.1.1, "),
    (['for=198.51.100.7;host="a,b"'], "198.51.100.7", 'for=198.51.100.7;host="a,b", '),
    (["proto=https"], "127.0.0.1", ""),
    (['for="198.51.100.7'], "127.0.0.1", ""),
    (['for="198.51.100.\\7"'], "127.0.0.1", ""),
    (["for=198.51.100.7;for=198.51.100.8"], "127.0.0.1", ""),
])
def test_the_standard_field_from_a_trusted_proxy(shared_trusting, rest, fields, client, chain):
    seen = len(shared_trusting.stdout.read_text().splitlines())
    shared_trusting.fetch("GET", "/v1/books/b1", [("Forwarded", value) for value in fields])
    own = "for=127.0.0.1;host=gateway.test;proto=http"
    assert told(rest.only())["forwarded"] == [chain + own]
    assert json.loads(shared_trusting.access_log(seen + 1)[-1])["client"] == client


def test_scheme_host_and_port_of_a_trusted_proxy(asks):
    ask = asks(trusted=["127.0.0.1"])
    port = str(ask.gateway.address[1])
    got = ask(("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "www.example"))
    # Our port would not go with its scheme.
    assert (got["x-forwarded-proto"], got["x-forwarded-host"]) == (["https"], ["www.example"])
    assert "x-forwarded-port" not in got
    got = ask(("X-Forwarded-Proto", "https"), ("X-Forwarded-Port", "443"))
    assert got["x-forwarded-port"] == ["443"] and got["x-forwarded-host"] == ["api.example:81"]
    # Two of them, or one that is none, say nothing.
    got = ask(("X-Forwarded-Proto", "https"), ("X-Forwarded-Proto", "http"), ("X-Forwarded-Host", 'a"b'))
    assert got["x-forwarded-proto"] == ["http"] and got["x-forwarded-host"] == ["api.example:81"]
    assert got["x-forwarded-port"] == [port]


def test_every_kind_of_upstream_is_told(start, configuration, rest, rpc, client_of, pb):
    gateway = start(configuration(listeners=listening(trusted=["127.0.0.1"]), methods={"GetBook": {"stage": "rpc"}}))
    claim = [("X-Forwarded-For", "198.51.100.7")]
    assert gateway.fetch("GET", "/v1/books/b1", claim).status == 200
    headers = dict(rpc.only().scope["headers"])
    assert headers[b"x-forwarded-for"] == b"198.51.100.7, 127.0.0.1"
    assert headers[b"x-forwarded-host"] == b"gateway.test"
    client = client_of(gateway)
    client.list_books(pb.ListBooksRequest(), headers=dict(claim))
    assert rest.only()["x-forwarded-for"] == "198.51.100.7, 127.0.0.1"


def test_limits_see_the_client_behind_the_proxy(start, configuration):
    limit = {"rate_limit": {"requests": 1, "per": "1h"}}
    gateway = start(configuration(listeners=listening(trusted=["127.0.0.1"]), interceptors=[limit]))

    def ask(address):
        return gateway.fetch("GET", "/v1/books/b1", [("X-Forwarded-For", address)]).status

    assert [ask(address) for address in ("198.51.100.7", "198.51.100.7", "198.51.100.8")] == [200, 429, 200]
    # Made up addresses in front of its own do not help.
    assert ask("1.2.3.4, 198.51.100.7") == 429


def test_tls_is_told(start, configuration, rest, tmp_path):
    authority = Authority(tmp_path / "authority")
    server = authority.issue("localhost", "DNS:localhost")
    gateway = start(configuration(listeners=listening(tls=server, forwarded="both")))
    wire = Wire(gateway.address, tls=authority.client_context())
    assert wire.request("GET", "/v1/books/b1", [("Host", "localhost")]).status == 200
    got = told(rest.only())
    assert got["x-forwarded-proto"] == ["https"] and got["forwarded"] == ["for=127.0.0.1;host=localhost;proto=https"]
    wire.close()


def test_nginx_in_front_and_behind(start, configuration, rest, tmp_path):
    behind = Nginx(tmp_path / "behind", f"""
    set_real_ip_from 127.0.0.0/8; real_ip_header X-Forwarded-For; real_ip_recursive on;
    location / {{
      proxy_pass {rest.url}; proxy_set_header X-Seen $remote_addr; proxy_set_header X-Scheme $http_x_forwarded_proto;
    }}""")
    setup = configuration(listeners=listening(trusted=["127.0.0.0/8"]))
    setup["upstreams"]["legacy"]["endpoints"] = [f"http://127.0.0.1:{behind.port}"]
    gateway = start(setup)
    front = Nginx(tmp_path / "front", f"""
    location / {{
      proxy_pass {gateway.url}; proxy_http_version 1.1; proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto https;
    }}""")
    try:
        # To nginx the client comes from 127.0.0.1, and so from nobody that nginx asks who came before.
        answer = fetch(front.address, "GET", "/v1/books/b1", [("X-Forwarded-For", "198.51.100.7")])
        assert answer.status == 200
        request = rest.only()
        assert request["x-seen"] == "198.51.100.7" and request["x-scheme"] == "https"
        assert json.loads(gateway.access_log()[0])["client"] == "198.51.100.7"
    finally:
        front.stop()
        behind.stop()


@pytest.mark.parametrize("listener,says", [
    ({"trusted": ["10.1.2.3/8"]}, "has bits behind those that count"),
    ({"trusted": ["10.0.0.0/33"]}, "is no range of addresses"),
    ({"trusted": ["localhost"]}, "is no range of addresses"),
    ({"forwarded": "xff"}, "is not a form of forwarded fields"),
    ({"proxy_protocol": "required"}, "whoever connects could claim any address"),
    ({"proxy_protocol": "v2", "trusted": ["::1"]}, "is not a use of the PROXY protocol"),
])
def test_what_is_wrong_in_a_file(configuration, tmp_path, listener, says):
    file = tmp_path / "turnout.yaml"
    file.write_text(json.dumps(configuration(listeners=listening(**listener)), indent=1))
    checked = run("check", "--config", file)
    assert checked.returncode == 1 and says in checked.stderr, checked.stderr
