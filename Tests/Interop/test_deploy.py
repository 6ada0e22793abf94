"""What `deploy/` holds: Kubernetes and Compose files against their schemas, and against the gateway itself."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from compose_spec import PyCompose

from support.gateway import BINARY, ROOT, run, wait_until

DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
DEMO = ROOT / "config" / "demo"


def kustomization():
    return yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())


def resources():
    """Everything that the kustomization names, by kind and name."""
    found = {}
    for file in kustomization()["resources"]:
        for resource in yaml.safe_load_all((KUBERNETES / file).read_text()):
            found[resource["kind"], resource["metadata"]["name"]] = resource
    return found


@pytest.fixture(scope="module")
def cluster():
    return resources()


def configuration_folder(tmp_path, named):
    """The files of a ConfigMap or of mounted folders, side by side."""
    folder = tmp_path / "etc"
    folder.mkdir()
    for name, source in named.items():
        shutil.copy(source, folder / name)
    return folder


def cluster_files():
    generator, = kustomization()["configMapGenerator"]
    pairs = (entry.partition("=") for entry in generator["files"])
    return {name: (KUBERNETES / (path or name)).resolve() for name, _, path in pairs}


@pytest.mark.parametrize("version", ["1.31", "1.37"])
def test_every_resource_fits_the_schema(cluster, version):
    assert len(cluster) >= 9
    for resource in cluster.values():
        kubernetes_validate.validate(resource, version, strict=True)


def test_a_fault_would_be_found(cluster):
    broken = dict(cluster["HorizontalPodAutoscaler", "turnout"], spec={"maxReplica": 3})
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, "1.31", strict=True)


def test_no_file_is_left_out():
    """And none is outside of the folder, which `kubectl apply -k` refuses."""
    named = set(kustomization()["resources"]) | set(cluster_files()) | {"kustomization.yaml"}
    assert {path.name for path in KUBERNETES.iterdir()} == named
    assert all(path.exists() and path.parent == KUBERNETES for path in cluster_files().values())


def test_the_schema_is_that_of_the_demo():
    protos = [path for path in cluster_files().values() if path.suffix == ".proto"]
    assert len(protos) == 2
    for path in protos:
        assert path.read_text() == (DEMO / path.name).read_text()


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not installed")
def test_kustomize_builds_it(cluster):
    built = subprocess.run(["kubectl", "kustomize", KUBERNETES], capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr
    found = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(built.stdout)}
    assert set(found) == set(cluster) | {("ConfigMap", "turnout")}
    assert set(found["ConfigMap", "turnout"]["data"]) == set(cluster_files())


def test_parts_fit_each_other(cluster):
    pods = {}
    for (kind, name), resource in cluster.items():
        if kind == "Deployment":
            labels = resource["spec"]["template"]["metadata"]["labels"]
            assert resource["spec"]["selector"]["matchLabels"].items() <= labels.items()
            ports = {port["name"]: port["containerPort"]
                     for container in resource["spec"]["template"]["spec"]["containers"]
                     for port in container["ports"]}
            pods[name] = labels, ports
    for (kind, name), resource in cluster.items():
        if kind == "Service":
            labels, ports = pods[name]
            assert resource["spec"]["selector"].items() <= labels.items()
            assert {port["targetPort"] for port in resource["spec"]["ports"]} <= set(ports)
        if kind == "PodDisruptionBudget":
            assert resource["spec"]["selector"]["matchLabels"].items() <= pods[name][0].items()
        if kind == "HorizontalPodAutoscaler":
            assert resource["spec"]["scaleTargetRef"]["name"] in pods
        if kind == "NetworkPolicy":
            assert resource["spec"]["podSelector"]["matchLabels"].items() <= pods[name][0].items()


def test_the_pod_fits_the_configuration(cluster):
    configuration = yaml.safe_load((KUBERNETES / "turnout.yaml").read_text())
    pod = cluster["Deployment", "turnout"]["spec"]["template"]["spec"]
    container, = pod["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert [listener["address"] for listener in configuration["listeners"]] == [f"0.0.0.0:{ports['http']}"]
    assert configuration["probes"]["address"] == f"0.0.0.0:{ports['probes']}"
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] == "probes"
    # The pause before SIGTERM and the drain end before the kubelet kills.
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][-1])
    drain = int(configuration["drain"].removesuffix("s"))
    assert pause + drain < pod["terminationGracePeriodSeconds"]
    mount, = container["volumeMounts"]
    assert "subPath" not in mount and container["args"][-1] == mount["mountPath"] + "/turnout.yaml"
    named = {entry["valueFrom"]["secretKeyRef"]["name"] for entry in container["env"]}
    redis = cluster["Deployment", "turnout-redis"]["spec"]["template"]["spec"]["containers"][0]
    assert named == {entry["valueFrom"]["secretKeyRef"]["name"] for entry in redis["env"]}


def test_the_configuration_of_the_cluster_is_good(tmp_path):
    folder = configuration_folder(tmp_path, cluster_files())
    checked = run("check", "--config", folder / "turnout.yaml", environment={"REDIS_PASSWORD": "secret"})
    assert checked.returncode == 0, checked.stderr


def test_a_config_map_that_changes_is_taken_over(tmp_path, configuration):
    """As the kubelet does it: a new folder, then the link of the folder is swapped."""
    mounted, log = tmp_path / "mount", tmp_path / "log"

    def mount(number, text):
        folder = mounted / f"..{number}"
        folder.mkdir(parents=True)
        (folder / "turnout.yaml").write_text(text)
        link = mounted / "..data_tmp"
        link.symlink_to(folder.name)
        link.replace(mounted / "..data")

    first = configuration(fallback="legacy")
    mount(1, json.dumps(first))
    (mounted / "turnout.yaml").symlink_to("..data/turnout.yaml")
    with open(log, "wb") as output:
        process = subprocess.Popen([BINARY, "serve", "--config", mounted / "turnout.yaml"], stdout=output, stderr=output)
    try:
        wait_until(lambda: "listening on" in log.read_text(), what="the start")
        for number in (2, 3):
            mount(number, json.dumps({**first, "via": number == 2}))
            wait_until(lambda: log.read_text().count("reloaded (a file changed)") == number - 1, what="the reload")
        mount(4, "listeners: []")
        wait_until(lambda: "no listener is given" in log.read_text(), what="the refusal")
        assert process.poll() is None
    finally:
        process.terminate()
        assert process.wait(30) == 0


# Compose.

@pytest.fixture(scope="module")
def compose():
    text = (DEPLOY / "compose.yaml").read_text()
    PyCompose.from_yaml(text)
    return yaml.safe_load(text)


def test_the_compose_file_fits_the_specification(compose):
    assert set(compose["services"]) == {"gateway", "demo", "redis", "prometheus"}
    with pytest.raises(Exception, match="unknown|ports|invalid"):
        PyCompose.from_yaml("services:\n  a:\n    image: b\n    ports: 8080\n    imagee: c\n")


def test_what_compose_mounts_and_names_is_there(compose):
    for service in compose["services"].values():
        for volume in service.get("volumes", []):
            assert (DEPLOY / volume.split(":")[0]).exists(), volume
        for other in service.get("depends_on", {}):
            assert other in compose["services"]
        build = service.get("build")
        if build:
            assert (DEPLOY / build["context"] / build["dockerfile"]).exists()
    seconds = int(compose["services"]["gateway"]["stop_grace_period"].removesuffix("s"))
    configuration = yaml.safe_load((DEPLOY / "compose" / "turnout.yaml").read_text())
    assert int(configuration["drain"].removesuffix("s")) < seconds
    assert configuration["listeners"] == [{"address": "0.0.0.0:8080"}]
    assert compose["services"]["gateway"]["ports"] == ["127.0.0.1:8080:8080"]


def test_the_configuration_of_compose_is_good(tmp_path):
    text = (DEPLOY / "compose" / "turnout.yaml").read_text()
    file = tmp_path / "turnout.yaml"
    file.write_text(text.replace("/etc/turnout-schema", str(DEMO)))
    checked = run("check", "--config", file)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_the_configuration_of_prometheus_is_good():
    file = DEPLOY / "compose" / "prometheus.yaml"
    checked = subprocess.run(
        ["promtool", "check", "config", "--syntax-only", file], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stderr


# The image, and systemd.

def test_the_image_has_the_libraries():
    """Each library that the program loads is of a package that the Dockerfile installs, or of the base image's own."""
    if not shutil.which("dpkg-query"):
        pytest.skip("this is no Debian")
    loaded = re.findall(r"=> (/\S+)", subprocess.run(["ldd", BINARY], capture_output=True, text=True).stdout)
    files = [str(Path(file).resolve()) for file in loaded if "/swift/" not in file]
    owners = subprocess.run(["dpkg-query", "--search", *files], capture_output=True, text=True)
    # Those of Swift are linked into the image's program, see --static-swift-stdlib.
    packages = {line.split(":")[0] for line in owners.stdout.splitlines()} - {"libc6", "libgcc-s1"}
    image = (DEPLOY / "Dockerfile").read_text()
    assert "--static-swift-stdlib" in image
    runtime = set(image[image.index("FROM debian:12-slim"):].split())
    assert len(packages) >= 8 and packages <= runtime, packages - runtime


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_the_unit(tmp_path):
    unit = tmp_path / "turnout.service"
    unit.write_text((DEPLOY / "turnout.service").read_text().replace("/usr/local/bin/turnout", str(BINARY)))
    checked = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0 and unit.name not in checked.stderr, checked.stderr
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit], capture_output=True, text=True,
        timeout=60)
    assert rated.returncode == 0, rated.stdout
    # systemd waits for the drain, and kills after it.
    stop = int(re.search(r"TimeoutStopSec=(\d+)", unit.read_text())[1])
    assert stop > 30, "the default of `drain`"


# With all that it has started, whatever becomes of it.
NAMESPACES = ["unshare", "--map-root-user", "--mount", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]


def can_have_namespaces():
    tools = ("unshare", "ip", "redis-server", "redis-cli", "prometheus")
    return all(shutil.which(tool) for tool in tools) and subprocess.run(
        [*NAMESPACES, "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0


@pytest.mark.skipif(not can_have_namespaces(), reason="no namespaces, or Redis or Prometheus is not installed")
def test_the_services_of_compose_find_each_other(tmp_path):
    """The files, names, ports, health checks and commands of compose.yaml, without containers."""
    program = ROOT / "Tests/Interop/support/composed.py"
    done = subprocess.run(
        [*NAMESPACES, sys.executable, program, BINARY, tmp_path], capture_output=True, text=True, timeout=300)
    logs = "".join(f"== {log.name}\n{log.read_text()[-2000:]}" for log in tmp_path.glob("*.log"))
    assert done.returncode == 0, done.stderr + logs
    found = json.loads(done.stdout)
    assert (found["before"], found["after"]) == ("rest", "connect"), found["moved"]
    assert any(key.startswith("turnout:stages") for key in found["redis"]), found["redis"]
    assert found["targets"] == ["up"]
    assert "TurnoutGuardTripped" in found["rules"] and "turnout:error_ratio:rate5m" in found["rules"]
    assert {one["metric"]["instance"] for one in found["requests"]} == {"gateway:9902"}
    assert found["gateway"] == 0
