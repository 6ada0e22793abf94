"""Other JSON of the same message, and JSON that is broken."""

import base64
import json
import re

from google.protobuf import descriptor_pool, json_format
from google.protobuf.descriptor import FieldDescriptor as Field

INTEGERS = (Field.CPPTYPE_INT32, Field.CPPTYPE_INT64, Field.CPPTYPE_UINT32, Field.CPPTYPE_UINT64)
SPECIAL = {"Any", "Timestamp", "Duration", "FieldMask", "Struct", "Value", "ListValue"}


class Number(str):
    """A number in a spelling of its own."""


class Variants:
    """Writes the JSON of messages in every spelling that a reader must take for the same."""

    def __init__(self, rng):
        self.rng = rng

    def chance(self, share):
        return self.rng.random() < share

    def text(self, message):
        return self.write(self.message(message.DESCRIPTOR, json_format.MessageToDict(message)))

    # Values

    def message(self, descriptor, value):
        if descriptor.file.package == "google.protobuf":
            return self.well_known(descriptor, value)
        fields = {}
        for field in list(descriptor.fields) + list(descriptor.file.pool.FindAllExtensions(descriptor)):
            fields[f"[{field.full_name}]" if field.is_extension else field.json_name] = field
        out = []
        for name, inner in value.items():
            field = fields[name]
            spelling = field.name if not field.is_extension and self.chance(0.4) else name
            out.append((spelling, self.field(field, inner)))
        for name, field in fields.items():
            if name not in value and self.chance(0.1) and field.containing_oneof is None and not self.takes_null(field):
                out.append((name, None))
        self.rng.shuffle(out)
        return dict(out)

    def takes_null(self, field):
        return field.message_type is not None and field.message_type.full_name == "google.protobuf.Value"

    def field(self, field, value):
        if not field.is_repeated:
            return self.single(field, value)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            inner = field.message_type.fields_by_name["value"]
            return {key: self.single(inner, element) for key, element in value.items()}
        return [self.single(field, element) for element in value]

    def single(self, field, value):
        if field.cpp_type == Field.CPPTYPE_MESSAGE:
            return self.message(field.message_type, value)
        if field.cpp_type in INTEGERS:
            return self.integer(int(value))
        if field.cpp_type == Field.CPPTYPE_ENUM:
            number = value if isinstance(value, int) else field.enum_type.values_by_name[value].number
            names = [entry.name for entry in field.enum_type.values if entry.number == number]
            return self.rng.choice(names) if names and self.chance(0.6) else number
        if field.cpp_type in (Field.CPPTYPE_FLOAT, Field.CPPTYPE_DOUBLE):
            return self.float(value)
        if field.type == Field.TYPE_BYTES:
            return self.bytes(value)
        return value

    def integer(self, value):
        choice = self.rng.random()
        if choice < 0.4:
            return Number(value)
        if choice < 0.8:
            return str(value)
        zeros = len(str(value)) - len(str(value).rstrip("0"))
        # As a number with an exponent or a fraction only where a double holds it: Python reads it as one.
        if value and zeros and abs(value) < 2**53:
            return Number(f"{str(value)[:-zeros]}{self.rng.choice(['e', 'E', 'e+', 'E+0'])}{zeros}")
        return Number(f"{value}.0" if abs(value) < 2**53 else value)

    def float(self, value):
        if isinstance(value, str):
            return value
        text = repr(value)
        choice = self.rng.random()
        if choice < 0.3:
            return text
        if choice < 0.5 and "e" not in text and "." in text:
            return Number(text + "000")
        return Number(text)

    def bytes(self, value):
        data = base64.b64decode(value)
        text = self.rng.choice([base64.b64encode, base64.urlsafe_b64encode])(data).decode()
        return text.rstrip("=") if self.chance(0.5) else text

    def well_known(self, descriptor, value):
        name = descriptor.name
        if name == "Any":
            return self.any(value)
        if name == "Timestamp":
            return self.timestamp(value)
        if name.endswith("Value") and name not in SPECIAL:
            return self.single(descriptor.fields_by_name["value"], value)
        return value

    def any(self, value):
        if "@type" not in value:
            return value
        descriptor = descriptor_pool.Default().FindMessageTypeByName(value["@type"].split("/")[-1])
        if descriptor.file.package == "google.protobuf" and descriptor.name != "Empty":
            out = [("@type", value["@type"]), ("value", self.well_known(descriptor, value["value"]))]
        else:
            rest = {name: inner for name, inner in value.items() if name != "@type"}
            out = [("@type", value["@type"])] + list(self.message(descriptor, rest).items())
        if self.chance(0.5):
            self.rng.shuffle(out)
        return dict(out)

    def timestamp(self, value):
        if self.chance(0.6) or value < "0001-01-03" or value > "9999-12-29":
            return value
        # The same moment in UTC by another name.
        if "." not in value and self.chance(0.5):
            return value[:-1] + ".000Z"
        return value[:-1] + self.rng.choice(["+00:00", "-00:00"])

    # Text

    def write(self, value):
        return self.blank() + self.render(value) + self.blank()

    def render(self, value):
        if isinstance(value, dict):
            inside = [f"{self.blank()}{self.string(name)}{self.blank()}:{self.blank()}{self.render(inner)}{self.blank()}"
                      for name, inner in value.items()]
            return "{" + (",".join(inside) or self.blank()) + "}"
        if isinstance(value, list):
            return "[" + (",".join(self.blank() + self.render(inner) + self.blank() for inner in value)
                          or self.blank()) + "]"
        if isinstance(value, Number):
            return str(value)
        if isinstance(value, str):
            return self.string(value)
        return json.dumps(value)

    def blank(self):
        return self.rng.choice(["", "", "", "", " ", "\n", "\r\n\t "])

    def string(self, text):
        if self.chance(0.7):
            return json.dumps(text, ensure_ascii=self.chance(0.5))
        out = []
        for character in text:
            if self.chance(0.3):
                units = character.encode("utf-16-be", "surrogatepass").hex()
                out += [f"\\u{self.case(units[at:at + 4])}" for at in range(0, len(units), 4)]
            elif character == "/" and self.chance(0.5):
                out.append("\\/")
            else:
                out.append(json.dumps(character, ensure_ascii=False)[1:-1])
        return '"' + "".join(out) + '"'

    def case(self, digits):
        return digits.upper() if self.chance(0.5) else digits


BREAKERS = [
    "null", "true", "1", "-1", "0.5", "1e400", "1e3", "01", "+1", ".5", "1.", "-", "--1", "0x10", "1_000", "NaN",
    "Infinity", "nan", "99999999999999999999", "4294967296", "-2147483649", "3.5e38", '""', '"x"', '" 1"', '"1 "',
    '"0x1"', '"1.5"', '"true"', '"NaN"', '"Infinity"', '"-Infinity"', '"nan"', '"inf"', '"1e3"', '"\\ud800"',
    '"\\udc00\\ud800"', '"\\x41"', '"\\u12"', "'x'", '"\t"', "[]", "[null]", "[1,]", "[,1]", "[[]]", "{}", '{"":1}',
    '{"a":1}', '{"a":1,}', '{"@type":"x/none.Such"}', '{"@type":1}', '{"value":1}', '"SIZE"', '"2020-13-01T00:00:00Z"',
    '"2020-01-01"', '"2020-01-01T00:00:00"', '"2020-01-01t00:00:00z"', '"10000-01-01T00:00:00Z"', '"1s"', '"1"',
    '"315576000001s"', '"1.0000000001s"', '"a_b"', '"a,,b"', '"A B"', '"****"', '"AAA"', '"AA=A"', "tru", "nul", "",
    "/* x */ 1", "1 1", '"a" "b"',
]
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}\[\]:,]')
VALUE = re.compile(r'("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null)\s*(?=[,}\]])')


def broken(rng, text):
    """A text in which a value is another one, or one or two tokens are other ones, gone, or twice."""
    values = list(VALUE.finditer(text))
    if values and rng.random() < 0.7:
        value = rng.choice(values)
        return text[:value.start()] + rng.choice(BREAKERS) + text[value.end():]
    for _ in range(rng.choice([1, 1, 2])):
        tokens = list(TOKEN.finditer(text))
        token = rng.choice(tokens)
        choice = rng.random()
        if choice < 0.5:
            new = rng.choice(BREAKERS)
        elif choice < 0.6:
            new = ""
        elif choice < 0.7:
            new = token.group() * 2
        elif choice < 0.85:
            new = rng.choice(tokens).group()
        else:
            new = token.group()[:-1] + rng.choice("x \\\"}],0\0\x7f")
        text = text[:token.start()] + new + text[token.end():]
    return text
