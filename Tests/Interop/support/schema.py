"""Compiles the tests' .proto at run time: Python modules for the peers, a descriptor set for the gateway."""

import importlib
import subprocess
import sys
from pathlib import Path

import google.api

SERVICE = "library.v1.Library"
PROTO = "library/v1/library.proto"
SOURCES = Path(__file__).resolve().parent.parent / "proto"


def compile_messages(folder: Path, proto):
    """Python's messages of another .proto of the tests, and its descriptor set."""
    annotations = Path(list(google.api.__path__)[0]).parent.parent
    descriptors = folder / (Path(proto).stem + ".binpb")
    subprocess.run(
        [
            sys.executable, "-m", "grpc_tools.protoc", f"-I{SOURCES}", f"-I{annotations}", f"--python_out={folder}",
            "--include_imports", f"--descriptor_set_out={descriptors}", proto,
        ],
        check=True,
    )
    sys.path.insert(0, str(folder))
    return importlib.import_module(proto.removesuffix(".proto").replace("/", ".") + "_pb2"), descriptors


class Schema:
    """`pb`: the messages; `connect`: client and server of the official runtime; `descriptors`: a FileDescriptorSet."""

    def __init__(self, folder: Path, name="library"):
        proto = f"{name}/v1/{name}.proto"
        annotations = Path(list(google.api.__path__)[0]).parent.parent
        plugin = Path(sys.executable).parent / "protoc-gen-connectrpc"
        self.descriptors = folder / f"{name}.binpb"
        subprocess.run(
            [
                sys.executable, "-m", "grpc_tools.protoc", f"-I{SOURCES}", f"-I{annotations}",
                f"--plugin={plugin}", f"--python_out={folder}", f"--connectrpc_out=protobuf=google:{folder}",
                "--include_imports", f"--descriptor_set_out={self.descriptors}", proto,
            ],
            check=True,
        )
        sys.path.insert(0, str(folder))
        self.pb = importlib.import_module(f"{name}.v1.{name}_pb2")
        self.connect = importlib.import_module(f"{name}.v1.{name}_connect")
