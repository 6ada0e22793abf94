"""Counts what a process allocates and copies: `counting.c` is compiled and loaded before the C library."""

import collections
import mmap
import os
import struct
import subprocess
from pathlib import Path

HEAD = struct.Struct("=5Q")
DEPTH, STACKS = 20, 16384


def library(folder):
    """The compiled library; None where there is no C compiler."""
    target = Path(folder) / "counting.so"
    if not target.exists():
        source = Path(__file__).with_suffix(".c")
        command = ["cc", "-O2", "-shared", "-fPIC", "-fno-builtin", "-o", target, source]
        try:
            subprocess.run(command, check=True)
        except FileNotFoundError:
            return None
    return target


class Counts:
    """The figures of one process, which is started with `environment`."""

    def __init__(self, folder):
        file = Path(folder) / "counts"
        size = HEAD.size + STACKS * DEPTH * 8
        with open(file, "wb") as made:
            made.truncate(size)
        with open(file, "r+b") as opened:
            self.memory = mmap.mmap(opened.fileno(), size)
        self.environment = {"LD_PRELOAD": str(library(folder)), "TURNOUT_COUNTS": str(file)}

    @property
    def allocations(self):
        return HEAD.unpack_from(self.memory)[0]

    @property
    def copied(self):
        """Bytes that were copied in user space."""
        return HEAD.unpack_from(self.memory)[2]

    def record(self, wanted):
        """Whether the stack of each allocation is kept from now on."""
        self.memory[24:32] = struct.pack("=Q", int(wanted))

    def forget(self):
        """Drops the stacks that were kept."""
        self.memory[32:40] = bytes(8)
        self.memory[HEAD.size:] = bytes(STACKS * DEPTH * 8)

    def stacks(self, pid, binary):
        """(times, names of functions from the allocator outwards), the most frequent first."""
        found = collections.Counter()
        for place in range(min(HEAD.unpack_from(self.memory)[4], STACKS)):
            frames = struct.unpack_from(f"={DEPTH}Q", self.memory, HEAD.size + place * DEPTH * 8)
            found[tuple(frame for frame in frames if frame)] += 1
        names = self._names({frame for stack in found for frame in stack}, pid, binary)
        named = collections.Counter()
        for stack, times in found.items():
            inner = [names.get(frame) for frame in stack]
            named[tuple(name for name in inner if name)] += times
        return [(times, stack) for stack, times in named.most_common()]

    @staticmethod
    def _names(frames, pid, binary):
        """Functions by address, with those that were put into them; of libraries their file."""
        names, own = {}, []
        mapped = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
        areas = [(*(int(end, 16) for end in line[0].split("-")), int(line[2], 16), line[5]) for line in mapped if len(line) > 5]
        start = min(area[0] for area in areas if area[3] == str(binary))
        for frame in frames:
            for low, high, _, file in areas:
                if low <= frame < high:
                    if file == str(binary):
                        own.append(frame)
                    elif "counting" not in file:
                        names[frame] = os.path.basename(file)
        lines = "\n".join(hex(frame - start - 1) for frame in own)
        symbolized = subprocess.run(
            ["addr2line", "-f", "-i", "-a", "-s", "-e", binary], input=lines, capture_output=True, text=True, check=True).stdout
        plain = subprocess.run(["swift-demangle", "--simplified"], input=symbolized, capture_output=True, text=True)
        current, at = None, iter(own)
        for line in (plain.stdout if plain.returncode == 0 else symbolized).splitlines():
            if line.startswith("0x"):
                current = next(at)
                names[current] = ""
            elif not line.rsplit(":", 1)[-1].split(" ")[0].replace("?", "0").isdigit() and current:
                names[current] += (" < " if names[current] else "") + line
            elif current:
                names[current] += f" ({line})"
        return names
