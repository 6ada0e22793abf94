"""Files of keys, certificates and tokens that change while the gateway runs: each comes in by itself, however it is put
there and whatever is wrong elsewhere."""

import hashlib
import json

import pytest

from support.certificates import Authority, openssl
from support.gateway import wait_until
from support.rest_service import Reply, RESTService, book
from support.tokens import ISSUER, Key, bearer, key_set
from support.wire import Wire

BOOK = "/v1/books/b1"


class InPlace:
    """Rewritten, as an editor or `cp` does it."""

    def __init__(self, folder):
        self.folder = folder
        self.folder.mkdir()

    def path(self, name):
        return self.folder / name

    def put(self, **files):
        for name, content in files.items():
            self.path(name).write_bytes(content)


class ByRename(InPlace):
    """Another file takes the name."""

    def put(self, **files):
        for name, content in files.items():
            new = self.folder / f".{name}.new"
            new.write_bytes(content)
            new.replace(self.path(name))


class ByLink(InPlace):
    """As a mounted secret of Kubernetes: all files change at once, by a link to their folder."""

    def __init__(self, folder):
        super().__init__(folder)
        self.round, self.held = 0, {}

    def put(self, **files):
        self.round += 1
        self.held |= files
        real = self.folder / f"..2026_{self.round}"
        real.mkdir()
        for name, content in self.held.items():
            (real / name).write_bytes(content)
            if not self.path(name).is_symlink():
                self.path(name).symlink_to(f"..data/{name}")
        (self.folder / "..data_tmp").symlink_to(real.name)
        (self.folder / "..data_tmp").replace(self.folder / "..data")


@pytest.fixture(params=[InPlace, ByRename, ByLink], ids=["in-place", "rename", "link"])
def mount(request, tmp_path):
    return request.param(tmp_path / "mounted")


def digest(key):
    return hashlib.sha256(key).hexdigest().encode() + b"\n"


def status(gateway, *fields):
    return gateway.fetch("GET", BOOK, fields).status


class Token:
    """`credentials: { file: … }` of an upstream."""

    def __init__(self, mount, tmp_path, rest):
        self.mount, self.rest = mount, rest
        self.use("first")

    def setup(self, configuration):
        setup = configuration()
        setup["upstreams"]["legacy"]["credentials"] = {"file": {"path": str(self.mount.path("token"))}}
        return setup

    def use(self, name):
        self.mount.put(token=name.encode())

    def in_use(self, gateway):
        gateway.fetch("GET", BOOK)
        return self.rest.requests[-1]["authorization"].removeprefix("Bearer ")

    def spoil(self):
        self.mount.put(token=b"\x01")


class APIKeys(Token):
    """`keys_file`: whose key is let in."""

    def setup(self, configuration):
        return configuration(interceptors=[{"api_key": {"keys_file": str(self.mount.path("keys"))}}])

    def use(self, name):
        self.mount.put(keys=digest(name.encode()))

    def in_use(self, gateway):
        return next((name for name in ("first", "second") if status(gateway, ("X-Api-Key", name)) == 200), None)

    def spoil(self):
        self.mount.put(keys=b"no digest\n")


class KeySet(Token):
    """`jwks: { file: … }`, with a shared secret: whose tokens are believed."""

    keys = {name: Key(name, "HS256", secret=name * 8) for name in ("first", "second")}

    def setup(self, configuration):
        return configuration(interceptors=[{"jwt": {
            "issuer": ISSUER, "algorithms": ["HS256"], "jwks": {"file": str(self.mount.path("jwks"))}}}])

    def use(self, name):
        self.mount.put(jwks=json.dumps(key_set(self.keys[name])).encode())

    def in_use(self, gateway):
        return next((name for name, key in self.keys.items() if status(gateway, bearer(key.token())) == 200), None)

    def spoil(self):
        # Good in itself, and of no use to this configuration.
        self.mount.put(jwks=json.dumps(key_set(Key("other"))).encode())


class UpstreamIdentity(Token):
    """The certificate that the gateway shows an upstream, and its authority for that of the upstream."""

    def __init__(self, mount, tmp_path, rest):
        self.authority = Authority(tmp_path / "authority")
        self.issued = {name: self.authority.issue(name, f"DNS:{name}") for name in ("first", "second")}
        server = self.authority.issue("server", "DNS:localhost", "IP:127.0.0.1")
        self.service = RESTService(self.authority.server_context(server, requires_client=True))
        self.seen = []

        def script(request):
            shown = request.connection.getpeercert()["subjectAltName"]
            self.seen.append(shown[0][1])
            return Reply.json(book("b1"))

        self.service.answers(script)
        super().__init__(mount, tmp_path, rest)

    def setup(self, configuration):
        setup = configuration()
        setup["upstreams"]["legacy"] = {
            "protocol": "rest", "endpoints": [self.service.url], "tls": {
                name: str(self.mount.path(name)) for name in ("ca", "certificate", "key")}}
        return setup

    def use(self, name):
        files = {part: open(self.issued[name][part], "rb").read() for part in ("certificate", "key")}
        self.mount.put(ca=self.authority.file.read_bytes(), **files)

    def in_use(self, gateway):
        assert gateway.fetch("GET", BOOK).status == 200
        return self.seen[-1]

    def spoil(self):
        self.mount.put(key=b"no key")


class ListenerIdentity(Token):
    """What a listener shows its clients."""

    def __init__(self, mount, tmp_path, rest):
        self.authority = Authority(tmp_path / "authority")
        self.issued = {
            name: self.authority.issue(name, f"DNS:{name}", "DNS:localhost") for name in ("first", "second")}
        super().__init__(mount, tmp_path, rest)

    def setup(self, configuration):
        return configuration(listeners=[{"address": "127.0.0.1:0", "tls": {
            name: str(self.mount.path(name)) for name in ("certificate", "key")}}])

    def use(self, name):
        self.mount.put(**{part: open(self.issued[name][part], "rb").read() for part in ("certificate", "key")})

    def in_use(self, gateway):
        with Wire(gateway.address, tls=self.authority.client_context()) as wire:
            return wire.socket.getpeercert()["subjectAltName"][0][1]

    def spoil(self):
        self.mount.put(certificate=b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")


KINDS = [Token, APIKeys, KeySet, UpstreamIdentity, ListenerIdentity]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request, mount, tmp_path, rest):
    return request.param(mount, tmp_path, rest)


def reloads(gateway, outcome):
    return gateway.metric("turnout_config_reloads_total", outcome=outcome)


def test_a_new_one_is_used_and_a_bad_one_is_not(start, configuration, kind):
    gateway = start(kind.setup(configuration))
    assert kind.in_use(gateway) == "first"
    kind.use("second")
    wait_until(lambda: kind.in_use(gateway) == "second", what="the second")
    # In place, the parts may be seen one by one: until they are whole the old ones go on.
    wait_until(lambda: gateway.metric("turnout_stale_files") == 0, what="the end of the change")
    failed = reloads(gateway, "failed")
    kind.spoil()
    wait_until(lambda: reloads(gateway, "failed") > failed, what="a fault")
    assert gateway.metric("turnout_stale_files") >= 1
    assert kind.in_use(gateway) == "second"
    wait_until(lambda: "turnout.yaml:" in gateway.log() and "error: " in gateway.log(), what="the fault in the log")
    kind.use("first")
    wait_until(lambda: kind.in_use(gateway) == "first", what="the first again")
    wait_until(lambda: gateway.metric("turnout_stale_files") == 0, what="the end of the fault")


def test_a_configuration_that_is_being_written_holds_nothing_up(start, configuration, mount, tmp_path, rest):
    """Nor do its new parts come in by the way, before it is whole."""
    token = Token(mount, tmp_path, rest)
    gateway = start(token.setup(configuration))
    gateway.write("listeners: [\nvia: true")
    wait_until(lambda: reloads(gateway, "failed") >= 1, what="a failed reload")
    token.use("second")
    wait_until(lambda: token.in_use(gateway) == "second", what="the second")
    gateway.write(token.setup(lambda: configuration(stage="rpc")))
    wait_until(lambda: reloads(gateway, "ok") >= 2, what="a good reload")


def test_a_bad_file_does_not_hold_another_up(start, configuration, mount, tmp_path, rest):
    token, keys = Token(mount, tmp_path, rest), APIKeys(mount, tmp_path, rest)
    setup = token.setup(configuration)
    setup["interceptors"] = keys.setup(configuration)["interceptors"]
    gateway = start(setup)
    assert gateway.fetch("GET", BOOK, [("X-Api-Key", "first")]).status == 200
    keys.spoil()
    wait_until(lambda: gateway.metric("turnout_stale_files") == 1, what="a fault")
    token.use("second")
    wait_until(
        lambda: gateway.fetch("GET", BOOK, [("X-Api-Key", "first")]).status == 200
        and rest.requests[-1]["authorization"] == "Bearer second", what="the second token")
    assert gateway.metric("turnout_stale_files") == 1
    # Who asks for a whole reload is told.
    assert gateway.admin("POST", "/reload").status == 422
    keys.use("second")
    wait_until(lambda: keys.in_use(gateway) == "second", what="the second key")
    assert gateway.metric("turnout_stale_files") == 0


def test_a_file_may_be_the_cure_of_a_configuration_that_was_refused(start, configuration, mount, tmp_path, rest):
    token = Token(mount, tmp_path, rest)
    gateway = start(configuration())
    mount.put(token=b"")
    gateway.write(token.setup(configuration))
    wait_until(lambda: reloads(gateway, "failed") >= 1, what="a failed reload")
    token.use("second")
    wait_until(lambda: reloads(gateway, "ok") >= 1, what="a good reload")
    assert token.in_use(gateway) == "second"


def test_a_refused_configuration_leaves_the_files_that_serve_watched(start, configuration, mount, tmp_path, rest):
    """One that can be read, and names a key file that is not there."""
    token = Token(mount, tmp_path, rest)
    gateway = start(token.setup(configuration))
    refused = token.setup(configuration)
    refused["upstreams"]["legacy"]["credentials"] = {"file": {"path": str(tmp_path / "not" / "there")}}
    gateway.write(refused)
    wait_until(lambda: reloads(gateway, "failed") >= 1, what="a failed reload")
    token.use("second")
    wait_until(lambda: token.in_use(gateway) == "second", what="the second")


def test_a_certificate_that_is_too_weak_does_not_hold_another_file_up(start, configuration, mount, tmp_path, rest):
    """It can be read, and OpenSSL refuses it."""
    identity, token = ListenerIdentity(mount, tmp_path, rest), APIKeys(mount, tmp_path, rest)
    setup = identity.setup(configuration)
    setup["interceptors"] = token.setup(configuration)["interceptors"]
    gateway = start(setup)

    def let_in(key):
        with Wire(gateway.address, tls=identity.authority.client_context()) as wire:
            return wire.request("GET", BOOK, [("X-Api-Key", key)], host="localhost").status == 200

    assert let_in("first")
    weak = {part: tmp_path / f"weak.{part}" for part in ("key", "certificate")}
    openssl("req", "-x509", "-newkey", "rsa:1024", "-nodes", "-days", 2, "-subj", "/CN=localhost",
            "-keyout", weak["key"], "-out", weak["certificate"])
    mount.put(**{part: path.read_bytes() for part, path in weak.items()})
    wait_until(lambda: "OpenSSL refuses it" in gateway.log(), what="the fault in the log")
    token.use("second")
    wait_until(lambda: let_in("second"), what="the second key")
    assert gateway.metric("turnout_stale_files") == 1


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_said_of_a_bad_file_keeps_secrets(start, configuration, kind, tmp_path, rest):
    """Where it lies came from outside, so neither the start of its path nor its name is told by who reads it anew."""
    place = "/place-that-nobody-knows"
    kind = kind(InPlace(tmp_path / place[1:]), tmp_path, rest)
    setup = json.loads(json.dumps(kind.setup(configuration)).replace(str(tmp_path) + place, "${env:PLACE}"))
    gateway = start(setup, environment={"PLACE": str(tmp_path) + place})
    assert kind.in_use(gateway) == "first"
    kind.spoil()
    wait_until(lambda: "what these files held before stays in use" in gateway.log()
               or "no file was read anew" in gateway.log(), what="the fault in the log")
    assert "turnout.yaml:" in gateway.log()
    # Without the rest of the log: the path of the configuration itself is no secret.
    assert place not in gateway.log()
    assert gateway.admin("POST", "/reload").status == 422
    assert place not in gateway.admin("POST", "/reload").body.decode() + gateway.admin("GET", "/audit").body.decode()
    assert place not in gateway.log()
