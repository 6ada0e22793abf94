"""What the README shows is what happens: its walk-through is run against a demo, its configuration is checked."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from support.demo import start_demo

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("TURNOUT_BIN") or ROOT / ".build/debug/turnout").resolve()
README = (ROOT / "README.md").read_text()
PATIENCE = 60

# In an output of the README this stands for anything within a line: times, ports.
WILDCARD = "…"


def section(title):
    """The text below a heading, up to the next."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    assert found, f"the README has no section {title}"
    return found[1]


def blocks(text):
    """The fenced blocks as pairs of language and content."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def steps():
    """The commands of the walk-through with the outputs that follow them."""
    # The first block is what sets the path; here the test does it.
    (first, path), *rest = blocks(section("Move one route"))
    assert first == "sh" and path == 'export PATH="$PWD/.build/release:$PATH"\n'
    assert [language for language, _ in rest] == ["sh", "text"] * (len(rest) // 2)
    return [(rest[index][1], rest[index + 1][1]) for index in range(0, len(rest), 2)]


def matches(shown, printed):
    parts = [re.escape(part) for part in shown.strip().split(WILDCARD)]
    return re.fullmatch("[^\n]*".join(parts), printed.strip()) is not None


class Demo:
    """`turnout demo --bug`, on the ports that the README names or, where they are taken, on others."""

    NAMES = {"gateway": 8080, "admin": 9901, "legacy service": 8081, "new service": 8082}

    def __init__(self, folder):
        # Whatever the binary's file is called, the README calls it `turnout`.
        self.bin = folder / "bin"
        self.bin.mkdir()
        (self.bin / "turnout").symlink_to(BINARY)
        self.process, self.output = start_demo(folder, "--bug")
        self.ports = {
            port: int(re.search(rf"^{name} +http://127\.0\.0\.1:(\d+)", self.text(), re.MULTILINE)[1])
            for name, port in self.NAMES.items()
        }

    def text(self):
        return self.output.read_text(errors="replace")

    def run(self, command):
        """A block of the README in a shell."""
        for shown in (8080, 9901, 8082):
            command = command.replace(f"http://127.0.0.1:{shown}", f"http://127.0.0.1:{self.ports[shown]}")
        admin = f"--admin http://127.0.0.1:{self.ports[9901]}"
        command = re.sub(r"\bturnout (stage|status|report)\b", rf"turnout \1 {admin}", command)
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command], capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE,
            env={**os.environ, "PATH": path})

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@pytest.fixture
def demo(tmp_path):
    demo = Demo(tmp_path)
    yield demo
    assert demo.stop() == 0, demo.text()


def test_the_walk_through(demo):
    walk = steps()
    assert len(walk) >= 6
    for command, shown in walk:
        result = demo.run(command)
        printed = result.stdout.replace("\r\n", "\n")
        assert result.returncode == 0 and result.stderr == "", (command, result.stderr, demo.text())
        assert matches(shown, printed), f"{command}\nThe README shows:\n{shown}\nIt printed:\n{printed}"


def test_the_walk_through_moves_a_route():
    commands = "".join(command for command, _ in steps())
    assert "turnout stage" in commands and "turnout explain" in commands and "/samples" in commands
    outputs = "".join(shown for _, shown in steps())
    assert "x-demo-backend: rest" in outputs and "x-demo-backend: connect" in outputs
    # What the shadow finds, and what the guard does.
    assert '"path":"views","kind":"changed","rest":120551,"rpc":55015' in outputs and "guard took it back" in outputs


def test_wildcards_hold_within_a_line():
    assert matches(f"a {WILDCARD} c\n", "a b c") and matches("a.c", "a.c\n")
    assert not matches(f"a {WILDCARD} c", "a b\nx c") and not matches("a.c", "abc")


def test_the_install_commands_are_those_of_the_scripts():
    """They install packages and build for minutes, so they are not run again here: CI has run them."""
    commands = [content.strip() for language, content in blocks(section("Try it")) if language == "sh"]
    assert commands == [
        "./deploy/setup.sh && swift run -c release turnout demo",
        "./deploy/setup.sh --tests && ./Tests/run",
    ]
    lines = (ROOT / ".ci/run").read_text().splitlines()
    assert lines.index("./deploy/setup.sh --tests") < lines.index("./Tests/run")
    for script in ("deploy/setup.sh", "Tests/run"):
        assert os.access(ROOT / script, os.X_OK)
    help = subprocess.run([ROOT / "deploy/setup.sh", "--help"], capture_output=True, text=True, timeout=PATIENCE)
    assert help.returncode == 0 and "./deploy/setup.sh --tests" in help.stdout
    assert '.executable(name: "turnout", targets: ["turnout"])' in (ROOT / "Package.swift").read_text()


@pytest.fixture
def example(tmp_path):
    """The README's configuration beside the schema of the demo."""
    [content] = [content for language, content in blocks(section("A configuration")) if language == "yaml"]
    for proto in (ROOT / "config/demo").glob("*.proto"):
        shutil.copy(proto, tmp_path)
    file = tmp_path / "turnout.yaml"
    file.write_text(content)
    return file


def test_the_configuration_and_its_commands(example):
    [commands] = [content for language, content in blocks(section("A configuration")) if language == "sh"]
    lines = [line.split("#")[0].split() for line in commands.splitlines()]
    assert [line[:4] for line in lines] == [
        ["turnout", command, "--config", "FILE"] for command in ("check", "routes", "serve")]
    for command, said in (("check", "ok"), ("routes", "GET /v1/ranking/{type}")):
        result = subprocess.run(
            [BINARY, command, "--config", example], capture_output=True, text=True, timeout=PATIENCE)
        assert (result.returncode, result.stderr) == (0, "") and said in result.stdout


def test_what_is_linked_is_there():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    files = [link for link in links if "://" not in link]
    assert len(files) >= 6
    missing = [link for link in files if not (ROOT / link).exists()]
    assert not missing
