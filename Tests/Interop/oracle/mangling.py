"""Other wire bytes of the same message: what every parser must take for the same."""

from google.protobuf.descriptor import FieldDescriptor as Field

VARINT, FIXED64, DELIMITED, START, END, FIXED32 = range(6)
WIRE_TYPES = {
    Field.TYPE_DOUBLE: FIXED64, Field.TYPE_FIXED64: FIXED64, Field.TYPE_SFIXED64: FIXED64, Field.TYPE_FLOAT: FIXED32,
    Field.TYPE_FIXED32: FIXED32, Field.TYPE_SFIXED32: FIXED32, Field.TYPE_STRING: DELIMITED,
    Field.TYPE_BYTES: DELIMITED, Field.TYPE_MESSAGE: DELIMITED, Field.TYPE_GROUP: START,
}


def varint(value, padding=0):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    if padding and len(out) + padding <= 10:
        out[-1] |= 128
        out += bytes([128] * (padding - 1)) + b"\0"
    return bytes(out)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def records(data):
    """The fields as they stand: number, wire type and payload, which is the value of a varint."""
    at = 0
    found = []
    while at < len(data):
        tag, at = read_varint(data, at)
        payload, at = read_payload(data, at, tag)
        found.append((tag >> 3, tag & 7, payload))
    return found


def read_payload(data, at, tag):
    kind = tag & 7
    if kind == VARINT:
        return read_varint(data, at)
    if kind == DELIMITED:
        length, at = read_varint(data, at)
        return data[at:at + length], at + length
    if kind == START:
        start = at
        while True:
            before = at
            inner, at = read_varint(data, at)
            if inner & 7 == END:
                return data[start:before], at
            _, at = read_payload(data, at, inner)
    size = 8 if kind == FIXED64 else 4
    return data[at:at + size], at + size


class Mangler:
    def __init__(self, rng):
        self.rng = rng

    def chance(self, share):
        return self.rng.random() < share

    def write(self, number, kind, payload):
        head = varint(number << 3 | kind, self.rng.choice([0, 0, 0, 0, 1]) if number < 2**20 else 0)
        if kind == VARINT:
            return head + varint(payload, self.rng.choice([0, 0, 0, 1, 3]))
        if kind == DELIMITED:
            return head + varint(len(payload), self.rng.choice([0, 0, 0, 1])) + payload
        if kind == START:
            return head + payload + varint(number << 3 | END)
        return head + payload

    def mangle(self, data, descriptor):
        """The same message in other bytes."""
        fields = {field.number: field for field in descriptor.fields}
        fields.update({field.number: field for field in descriptor.file.pool.FindAllExtensions(descriptor)})
        # One list for each field: its records keep their order.
        queues = {}
        for number, kind, payload in records(data):
            field = fields.get(number)
            pieces = [(number, kind, payload)] if field is None else self.field(field, kind, payload)
            queues.setdefault(number, []).extend(pieces)
        for number, queue in queues.items():
            field = fields.get(number)
            if field and not field.is_repeated and self.chance(0.3):
                queue[0:0] = self.decoy(field, fields)
        if self.chance(0.3):
            queues[None] = [self.unknown(fields) for _ in range(self.rng.randint(1, 3))]
        out = b""
        lists = [queue for queue in queues.values() if queue]
        while lists:
            queue = self.rng.choice(lists) if self.chance(0.9) else lists[0]
            out += self.write(*queue.pop(0))
            lists = [queue for queue in lists if queue]
        return out

    def field(self, field, kind, payload):
        number = field.number
        if field.cpp_type == Field.CPPTYPE_MESSAGE:
            if field.message_type.GetOptions().map_entry:
                return [(number, kind, self.entry(payload, field.message_type))]
            inner = self.mangle(payload, field.message_type)
            if not field.is_repeated and self.chance(0.3):
                return [(number, kind, part) for part in self.split(inner)]
            return [(number, kind, inner)]
        if field.is_repeated and field.type not in (Field.TYPE_STRING, Field.TYPE_BYTES):
            return self.repack(field, kind, payload)
        return [(number, kind, payload)]

    def split(self, data):
        """Two halves that merge to the whole."""
        parts = records(data)
        at = self.rng.randint(0, len(parts))
        return [b"".join(self.write(*part) for part in half) for half in (parts[:at], parts[at:])]

    def repack(self, field, kind, payload):
        wire_type = WIRE_TYPES.get(field.type, VARINT)
        values = []
        if kind == DELIMITED:
            at = 0
            while at < len(payload):
                value, at = read_payload(payload, at, wire_type)
                values.append(value)
        else:
            values.append(payload)
        out = []
        while values:
            count = self.rng.randint(1, len(values))
            if self.chance(0.5):
                content = b"".join(varint(value) if wire_type == VARINT else value for value in values[:count])
                out.append((field.number, DELIMITED, content))
            else:
                out += [(field.number, wire_type, value) for value in values[:count]]
            values = values[count:]
        return out

    def entry(self, data, descriptor):
        """A map's entry: its fields in any order, defaults left out. Without unknown fields: Python drops the entry."""
        key, value = (descriptor.fields_by_name[name] for name in ("key", "value"))
        parts = []
        for number, kind, payload in records(data):
            field = key if number == 1 else value
            if number == 2 and field.cpp_type == Field.CPPTYPE_MESSAGE:
                payload = self.mangle(payload, field.message_type)
            if kind == VARINT and payload == 0 and self.chance(0.3):
                continue
            parts.append((number, kind, payload))
        if self.chance(0.5):
            parts.reverse()
        return b"".join(self.write(*part) for part in parts)

    def decoy(self, field, fields):
        """What a later value of the field, or of its oneof, replaces."""
        siblings = [field]
        if field.containing_oneof is not None:
            siblings = list(field.containing_oneof.fields)
        elif field.cpp_type == Field.CPPTYPE_MESSAGE:
            return []
        other = self.rng.choice(siblings)
        if other is field and field.cpp_type == Field.CPPTYPE_MESSAGE:
            return []
        if other.cpp_type == Field.CPPTYPE_MESSAGE:
            return [(other.number, WIRE_TYPES[other.type], b"")]
        wire_type = WIRE_TYPES.get(other.type, VARINT)
        if wire_type == VARINT:
            value = other.enum_type.values[-1].number % 2**64 if other.enum_type else self.rng.choice([0, 1, 77])
        else:
            value = {FIXED64: b"\x01" * 8, FIXED32: b"\x02" * 4, DELIMITED: b"decoy"}[wire_type]
        return [(other.number, wire_type, value)]

    def unknown(self, fields):
        number = self.rng.choice([n for n in (50, 51, 2046, 70000, 536870910) if n not in fields])
        kind = self.rng.choice([VARINT, FIXED64, DELIMITED, START, FIXED32])
        payload = {VARINT: 2**64 - 1, FIXED64: b"\x09" * 8, DELIMITED: b"\xff\x01", FIXED32: b"\x09" * 4,
                   START: b"\x08\x01\x13\x14"}[kind]
        return number, kind, payload
