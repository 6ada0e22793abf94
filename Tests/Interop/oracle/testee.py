"""The gateway's codecs behind a pipe: Tests/Support/TranslationTestee, beside the gateway's binary."""

import os
import struct
import subprocess
import threading
from pathlib import Path

from support.gateway import BINARY

TESTEE = Path(os.environ.get("TRANSLATION_TESTEE", BINARY.parent / "TranslationTestee"))
DONE, REFUSED, FAULT = range(3)


class Testee:
    __test__ = False

    def __init__(self):
        assert TESTEE.exists(), f"there is no {TESTEE}: build it with `swift build`, or set TRANSLATION_TESTEE"
        self.process = subprocess.Popen([TESTEE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(10) == 0, "the testee crashed"

    def ask(self, requests):
        """Answers of many requests, each a letter and bytes: pairs of status and content."""
        frames = b"".join(kind.encode() + struct.pack("<I", len(content)) + content for kind, content in requests)

        def write():
            self.process.stdin.write(frames)
            self.process.stdin.flush()

        writer = threading.Thread(target=write)
        writer.start()
        answers = [self._answer() for _ in requests]
        writer.join()
        return answers

    def _answer(self):
        head = self.process.stdout.read(5)
        assert len(head) == 5, f"the testee ended with {self.process.wait(10)}"
        return head[0], self.process.stdout.read(struct.unpack("<I", head[1:])[0])

    def prepare(self, *requests):
        """Requests that must succeed."""
        for (kind, content), (status, answer) in zip(requests, self.ask(requests)):
            assert status == DONE, f"{kind} {content[:200]!r}: {answer.decode()}"
