"""Fixtures: the compiled schema, the two services, gateways. Run by ./Tests/run; TURNOUT_BIN names the binary."""

import copy

import pytest
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec

from support.connect_service import ConnectService
from support.curl import CurlClient, CurlTextClient
from support.echo import SERVICE as ECHO
from support.echo import EchoUnderGRPC, EchoUnderHypercorn, EchoUnderUvicorn
from support.echo_clients import CLIENTS
from support.gateway import BINARY, Gateway
from support.rest_service import RESTService
from support.schema import SERVICE, Schema

pytest_plugins = [
    "support.tls_fixtures", "support.page_fixtures", "support.fallback", "support.redis_server", "support.fleet"]


def pytest_sessionstart(session):
    if not BINARY.exists():
        pytest.exit(f"there is no {BINARY}: build it with `swift build`, or set TURNOUT_BIN", returncode=2)


@pytest.fixture(scope="session")
def schema(tmp_path_factory):
    return Schema(tmp_path_factory.mktemp("schema"))


@pytest.fixture(scope="session")
def pb(schema):
    return schema.pb


@pytest.fixture(scope="session")
def rest_service():
    return RESTService()


@pytest.fixture(scope="session")
def connect_service(schema):
    service = ConnectService(schema)
    yield service
    service.stop()


@pytest.fixture
def rest(rest_service):
    """The legacy service, without the past."""
    rest_service.reset()
    yield rest_service
    rest_service.reset()


@pytest.fixture
def rpc(connect_service):
    """The handlers of the Connect service, without the past."""
    connect_service.library.reset()
    yield connect_service.library
    connect_service.library.reset()


@pytest.fixture(scope="session")
def configuration(schema, rest_service, connect_service):
    """A configuration with both services, as a mapping to change: `configuration(stage="rpc", limits={…})`."""

    def make(stage="rest", codec="proto", service=None, methods=None, **top):
        legacy = {"protocol": "rest", "endpoints": [rest_service.url]}
        content = {"protocol": "connect", "codec": codec, "endpoints": [connect_service.url]}
        count = {"http": {"get": "/v1/count"}}
        return copy.deepcopy({
            "listeners": [{"address": "127.0.0.1:0"}],
            "admin": {"address": "127.0.0.1:0"},
            "workers": 2,
            "schema": [{"descriptor_set": str(schema.descriptors)}],
            "upstreams": {"legacy": legacy, "content": content},
            "services": {
                SERVICE: {
                    "rest": "legacy", "rpc": "content", "stage": stage, **(service or {}),
                    "methods": {"CountBooks": count, **(methods or {})},
                }
            },
            "interceptors": [{"access_log": {"format": "json"}}],
            **top,
        })

    return make


@pytest.fixture(scope="session")
def shared_gateways(configuration, tmp_path_factory):
    """Gateways that many tests use, by stage and codec; started when first asked for."""
    gateways = {}

    def get(stage, codec="proto"):
        if (stage, codec) not in gateways:
            folder = tmp_path_factory.mktemp(f"gateway-{stage}-{codec}")
            gateways[stage, codec] = Gateway(folder, configuration(stage, codec, fallback="legacy"))
        return gateways[stage, codec]

    yield get
    for gateway in gateways.values():
        gateway.discard()


@pytest.fixture
def used(request):
    """The gateways whose output is printed when the test fails."""
    gateways = request.node.gateways = []
    return gateways


@pytest.fixture
def gateway_on_rest(shared_gateways, used, rest, rpc):
    """A shared gateway: the legacy service answers. The same for what no route matches."""
    used.append(shared_gateways("rest"))
    yield used[-1]
    assert used[-1].process.poll() is None, "the gateway died"


@pytest.fixture
def gateway_on_rpc(shared_gateways, used, rest, rpc):
    """A shared gateway: the Connect service answers."""
    used.append(shared_gateways("rpc"))
    yield used[-1]
    assert used[-1].process.poll() is None, "the gateway died"


@pytest.fixture
def start(used, tmp_path, rest, rpc):
    """Starts a gateway for one test on a configuration."""

    def start(configuration, **more):
        gateway = Gateway(tmp_path / f"gateway{len(used)}", configuration, **more)
        used.append(gateway)
        return gateway

    yield start
    ended = [gateway.discard() for gateway in used]
    assert all(code in (0, -9) for code in ended), f"a gateway crashed: {ended}"


CODECS = {"proto": google_protobuf_binary_codec, "json": google_protobuf_json_codec}


@pytest.fixture
def client_of(schema):
    """A client of the official runtime for a gateway; uncompressed unless told otherwise."""
    clients = []

    def make(gateway, codec="proto", address=None, **more):
        more.setdefault("send_compression", None)
        client = schema.connect.LibraryClientSync(address or gateway.url, codec=CODECS[codec](), **more)
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


@pytest.fixture(scope="session")
def echo_schema(tmp_path_factory):
    return Schema(tmp_path_factory.mktemp("echo"), "echo")


@pytest.fixture
def line(echo_schema):
    """Makes a request of the echo service; the fields of its wish are given by name."""
    pb = echo_schema.pb
    names = {field.name for field in pb.Wish.DESCRIPTOR.fields}

    def make(text="hello", **more):
        wish = {name: more.pop(name) for name in list(more) if name in names}
        return pb.Line(text=text, wish=pb.Wish(**wish), **more)

    return make


ECHO_CLIENTS = CLIENTS | {
    "curl": CurlClient,
    "curl-h2": lambda schema, address: CurlClient(schema, address, options=["--http2-prior-knowledge"]),
    "curl-get": lambda schema, address: CurlClient(schema, address, gets=True),
    "curl-text": CurlTextClient,
}
ECHO_BACKENDS = {
    "connect": (EchoUnderUvicorn, {"protocol": "connect"}),
    "connect-json": (EchoUnderUvicorn, {"protocol": "connect", "codec": "json"}),
    "connect-h2": (EchoUnderHypercorn, {"protocol": "connect", "http": "2"}),
    "grpc": (EchoUnderGRPC, {"protocol": "grpc"}),
    "grpc-runtime": (EchoUnderHypercorn, {"protocol": "grpc"}),
    "grpc-json": (EchoUnderHypercorn, {"protocol": "grpc", "codec": "json"}),
    "grpc-web": (EchoUnderUvicorn, {"protocol": "grpc-web"}),
    "grpc-web-h2": (EchoUnderHypercorn, {"protocol": "grpc-web", "http": "2"}),
}


class EchoGateways:
    """A gateway for each kind of backend, a client for each dialect; made when first asked for."""

    def __init__(self, schema, folders):
        self.schema, self.folders = schema, folders
        self.services, self.gateways, self.clients = {}, {}, {}

    def configuration(self, backend, **top):
        kind, settings = ECHO_BACKENDS[backend]
        if kind not in self.services:
            self.services[kind] = kind(self.schema)
        return {
            "listeners": [{"address": "127.0.0.1:0"}],
            "admin": {"address": "127.0.0.1:0"},
            "workers": 1,
            "schema": [{"descriptor_set": str(self.schema.descriptors)}],
            "upstreams": {"echo": {**settings, "endpoints": [self.services[kind].url]}},
            "services": {ECHO: {"rpc": "echo", "stage": "rpc"}},
            "interceptors": [{"access_log": {"format": "json"}}],
            **top,
        }

    def memory(self, backend):
        return self.services[ECHO_BACKENDS[backend][0]].memory

    def gateway(self, backend):
        if backend not in self.gateways:
            folder = self.folders.mktemp(f"echo-{backend}")
            self.gateways[backend] = Gateway(folder, self.configuration(backend))
        self.memory(backend).reset()
        return self.gateways[backend]

    def client(self, dialect, gateway):
        key = dialect, gateway.address
        if key not in self.clients:
            self.clients[key] = ECHO_CLIENTS[dialect](self.schema, gateway.address)
        return self.clients[key]

    def stop(self):
        for client in self.clients.values():
            client.close()
        for gateway in self.gateways.values():
            gateway.discard()
        for service in self.services.values():
            service.stop()


@pytest.fixture(scope="session")
def echo_gateways(echo_schema, tmp_path_factory):
    gateways = EchoGateways(echo_schema, tmp_path_factory)
    yield gateways
    gateways.stop()


@pytest.fixture
def echo(echo_gateways, used):
    """`echo(dialect, backend)`: a client before a gateway before a service, and what the service remembers."""

    def pair(dialect, backend):
        gateway = echo_gateways.gateway(backend)
        if gateway not in used:
            used.append(gateway)
        client = echo_gateways.client(dialect, gateway)
        client.memory, client.gateway = echo_gateways.memory(backend), gateway
        return client

    yield pair
    assert all(gateway.process.poll() is None for gateway in used), "a gateway died"


@pytest.fixture
def call(echo_schema):
    """`call(dialect, gateway, method)`: what one line of a client of its own gets."""
    clients = []

    def make(dialect, gateway, method="Say"):
        clients.append(CLIENTS[dialect](echo_schema, gateway.address))
        line = echo_schema.pb.Line(text="hi")
        return clients[-1].call(method, iter([line]) if method == "Tell" else line, timeout=20)

    yield make
    for client in clients:
        client.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        for gateway in getattr(item, "gateways", []):
            report.sections.append((f"gateway {gateway.folder.name}: stderr", gateway.log()[-8000:]))
            report.sections.append((f"gateway {gateway.folder.name}: access log", gateway.stdout.read_text()[-4000:]))
    return report
