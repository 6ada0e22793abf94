"""The gateway's translation of random messages of random schemas, against Python's protobuf.

ORACLE_SEED chooses other schemas and messages than those of every day, ORACLE_SCHEMAS how many (60).
"""

import json
import os
import random
import re

import pytest
from google.protobuf import json_format

from oracle.canonical import canonical
from oracle.mangling import Mangler
from oracle.messages import Filler
from oracle.schemas import Schema
from oracle.testee import DONE, REFUSED, Testee
from oracle.variants import Variants, broken

SEED = int(os.environ.get("ORACLE_SEED", "1"))
SCHEMAS = int(os.environ.get("ORACLE_SCHEMAS", "60"))
MESSAGES = 12
# Where the gateway refuses what Python takes, on purpose: ProtoJSON and RFC 8259 have no such values. There is no
# exception the other way round.
STRICTER = [
    r"a number expected \(",  # "inf", "nan", "1 " and "1_000" as floats
    r"a number expected, not a boolean", r"a number in the range of a (float|double) expected",
    r"an integer expected", r"a whole number expected",  # "1 " and "1_000"; 0.5 for an enum
    r"an integer from .* expected",  # an enum's number beyond 32 bits
    r"the name of an enum value expected",  # "1"
    r"the name or number of an enum value expected, not a boolean",
    r"a JSON value expected",  # NaN and Infinity without quotes
    r"an object expected, not (an array|a string)",  # [] and "" for a message
    r"a duration such as",  # more than nine digits of a second
    r"a timestamp such as", r"paths separated by single commas expected",  # "a,,b"
    r"base64 expected",  # letters of no alphabet, which Python skips
    r"a value expected: the field is required",  # proto2: Python's parser leaves that to its caller
    r"each field once", r"each key of a map once", r"each member once", r"@type once", r"value once",
]


@pytest.fixture(scope="module")
def testee():
    testee = Testee()
    yield testee
    testee.close()


@pytest.fixture(scope="module")
def schemas():
    return [Schema(random.Random(f"{SEED} {index}"), f"oracle{SEED}x{index}") for index in range(SCHEMAS)]


class Case:
    """One message, and how to say which one it is."""

    def __init__(self, schema, message):
        self.schema = schema
        self.message = message
        self.expected = canonical(message)

    def explain(self, why, *more):
        parts = [why, f"ORACLE_SEED={SEED}, {self.schema.package}, {self.message.DESCRIPTOR.full_name}",
                 *(part if isinstance(part, str) else repr(part) for part in more), str(self.message)[:3000],
                 str(self.schema.file)[:20_000]]
        return "\n\n".join(parts)


@pytest.fixture(scope="module", params=range(4), ids=lambda part: f"part{part}")
def cases(request, schemas, testee):
    """Cases by message type, each type loaded into the testee when its turn comes."""
    return schemas[request.param::4]


def every_type(testee, schemas, name, profile=""):
    """For each message type: its class, a generator of random numbers, random messages; the testee knows the type."""
    for schema in schemas:
        testee.prepare(("S", schema.set.SerializeToString()), ("P", profile.encode()))
        for full_name, cls in schema.messages.items():
            rng = random.Random(f"{SEED} {name} {full_name}")
            filler = Filler(rng, schema.messages.values())
            testee.prepare(("M", full_name.encode()))
            yield rng, cls, [Case(schema, filler.message(cls)) for _ in range(MESSAGES)]


def same(case, cls, wire):
    try:
        return canonical(cls.FromString(wire)) == case.expected
    except Exception as error:
        pytest.fail(case.explain(f"the wire bytes are refused: {error}", wire))


def test_json_of_python_is_read(cases, testee):
    count = 0
    for rng, cls, found in every_type(testee, cases, "json"):
        texts = [json_format.MessageToJson(
            case.message, preserving_proto_field_name=rng.random() < 0.3,
            use_integers_for_enums=rng.random() < 0.3, ensure_ascii=rng.random() < 0.5,
            indent=rng.choice([None, 2]), always_print_fields_with_no_presence=rng.random() < 0.3) for case in found]
        for case, text, (status, wire) in zip(found, texts, testee.ask([("J", text.encode()) for text in texts])):
            assert status == DONE, case.explain(f"refused: {wire.decode()}", text)
            assert same(case, cls, wire), case.explain("another message", text, wire)
            count += 1
    assert count >= 100


@pytest.mark.parametrize("profile", ["", "emit_defaults", "proto_names int64_number enum_number", "unset_null"])
def test_wire_becomes_the_json_of_python(cases, testee, profile):
    for _, cls, found in every_type(testee, cases, "wire", profile):
        wires = [case.message.SerializePartialToString() for case in found]
        for case, wire, (status, text) in zip(found, wires, testee.ask([("W", wire) for wire in wires])):
            assert status == DONE, case.explain(f"refused: {text.decode()}", wire)
            parsed = parse(cls, text.decode())
            assert parsed is not None, case.explain("Python refuses the JSON", text.decode())
            assert canonical(parsed) == case.expected, case.explain("another message", text.decode(), wire)
            if profile in ("", "emit_defaults"):
                python = json_format.MessageToDict(
                    case.message, always_print_fields_with_no_presence=profile == "emit_defaults")
                assert plain(json.loads(text)) == plain(python), case.explain("another JSON", text.decode(), python)


def parse(cls, text):
    try:
        return json_format.Parse(text, cls(), max_recursion_depth=200)
    except json_format.ParseError:
        return None


def plain(value):
    """JSON values in which 1.0 and 1 are one number."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer() and str(value) != "-0.0":
        return int(value)
    return value


def test_mangled_wire_is_the_same_message(cases, testee):
    for rng, cls, found in every_type(testee, cases, "mangled"):
        mangler = Mangler(rng)
        wires = [mangler.mangle(case.message.SerializePartialToString(), cls.DESCRIPTOR) for case in found]
        for case, wire, (status, text) in zip(found, wires, testee.ask([("W", wire) for wire in wires])):
            assert same(case, cls, wire), case.explain("the mangler changed the message", wire)
            assert status == DONE, case.explain(f"refused: {text.decode()}", wire)
            parsed = parse(cls, text.decode())
            assert parsed is not None, case.explain("Python refuses the JSON", text.decode())
            assert canonical(parsed) == case.expected, case.explain("another message", text.decode(), wire)


def test_variants_of_json_are_the_same_message(cases, testee):
    for rng, cls, found in every_type(testee, cases, "variants"):
        variants = Variants(rng)
        texts = [variants.text(case.message) for case in found]
        for case, text, (status, wire) in zip(found, texts, testee.ask([("J", text.encode()) for text in texts])):
            assert status == DONE, case.explain(f"refused: {wire.decode()}", text)
            assert same(case, cls, wire), case.explain("another message", text, wire)


def test_broken_json_is_refused_where_python_refuses(cases, testee):
    accepted = refused = 0
    for rng, cls, found in every_type(testee, cases, "broken"):
        variants = Variants(rng)
        pairs = [(case, broken(rng, variants.text(case.message))) for case in found for _ in range(3)]
        for (case, text), (status, answer) in zip(pairs, testee.ask([("J", text.encode()) for _, text in pairs])):
            parsed = parse(cls, text)
            if status == REFUSED:
                refused += 1
                stricter = any(re.search(reason, answer.decode()) for reason in STRICTER)
                assert parsed is None or stricter, case.explain(f"refused: {answer.decode()}", text)
            elif parsed is None:
                assert status == DONE, case.explain("a crash", text)
                pytest.fail(case.explain("accepted, but Python refuses it", text, answer))
            else:
                accepted += 1
                assert canonical(cls.FromString(answer)) == canonical(parsed), case.explain("another message", text)
    assert refused > accepted > 0
