"""Random messages through random HTTP rules: to a REST backend's request and back by the same rule, unchanged.

What a rule cannot carry is refused, with a reason that the rules know. ORACLE_SEED and ORACLE_SCHEMAS as in test_oracle.
"""

import random
import re
import struct
from collections import Counter

import pytest

from oracle.canonical import canonical
from oracle.messages import Filler
from oracle.rules import random_rule, without_what_a_query_loses
from oracle.schemas import Schema
from oracle.testee import DONE, REFUSED, Testee
from test_oracle import SCHEMAS, SEED, Case

# Why a message may be refused, or a rule: nothing else is an excuse.
REASONS = [
    r"cannot be sent to the REST backend: no query can hold it", r"must not be empty: it is a part of the",
    r"must be set: it is a part of the REST", r"a dot segment cannot be a part of a path", r"does not fit \{",
    r"more than \d+ bytes", r"more values than the query", r"a path in lower_snake_case expected",
    r"a value expected: the field is required",
]
RULE_REASONS = [
    r"cannot be part of a path", r"is no singular message with fields", r"are members of one oneof",
    r"is bound in the path already",
]


@pytest.fixture(scope="module")
def testee():
    testee = Testee()
    yield testee
    testee.close()


@pytest.mark.parametrize("part", range(4))
def test_messages_come_back_through_random_rules(testee, part):
    outcomes = Counter()
    for index in range(part, SCHEMAS, 4):
        schema = Schema(random.Random(f"{SEED} rest {index}"), f"rest{SEED}x{index}")
        testee.prepare(("S", schema.set.SerializeToString()))
        for full_name, cls in schema.messages.items():
            rng = random.Random(f"{SEED} rest {full_name}")
            testee.prepare(("M", full_name.encode()))
            for _ in range(3):
                outcomes += round_trips(testee, schema, cls, rng)
    assert outcomes["done"] >= 40 and outcomes["refused"] >= 10, outcomes


def round_trips(testee, schema, cls, rng):
    rule = random_rule(rng, cls.DESCRIPTOR)
    outcomes = Counter()
    [(status, reason)] = testee.ask([("H", "\n".join(rule).encode())])
    if status != DONE:
        assert status == REFUSED and known(reason.decode(), RULE_REASONS), f"{rule}: {reason.decode()}\n{schema.file}"
        return Counter(rules=1)
    filler = Filler(rng, schema.messages.values())
    found = []
    for _ in range(6):
        message = filler.message(cls, depth=2)
        without_what_a_query_loses(rng, message, rule)
        found.append(Case(schema, message))
    wires = [case.message.SerializePartialToString() for case in found]
    for case, wire, (status, answer) in zip(found, wires, testee.ask([("R", wire) for wire in wires])):
        if status == REFUSED:
            assert known(answer.decode(), REASONS), case.explain(f"{rule}: {answer.decode()}")
            outcomes["refused"] += 1
            continue
        assert status == DONE, case.explain(f"{rule}: {answer.decode()}")
        length = struct.unpack("<I", answer[:4])[0]
        request, again = answer[4:4 + length].decode(), answer[4 + length:]
        # One value, and one only, of everything: as any parser takes the bytes.
        assert canonical(cls.FromString(again)) == case.expected, case.explain(f"{rule}: another message", request)
        outcomes["done"] += 1
    return outcomes


def known(reason, patterns):
    return any(re.search(pattern, reason) for pattern in patterns)
