"""Random messages of any descriptor, with the values at which translations break."""

import math
import struct

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor as Field

TEXTS = ["", "a", "plain text", "quote\" back\\slash /", "\0\x01\x1f\x7f", "tab\tline\n\r", "é ü ñ", "\u2028\u2029",
         "\U0001F600 \U0010FFFF", "%2F+&=?#", "../..", "null", "NaN", "1e5", "ﬀ", "\ufeffbom", "x" * 70]
BOUNDS = {
    Field.CPPTYPE_INT32: (-2**31, 2**31 - 1), Field.CPPTYPE_INT64: (-2**63, 2**63 - 1),
    Field.CPPTYPE_UINT32: (0, 2**32 - 1), Field.CPPTYPE_UINT64: (0, 2**64 - 1),
}
PATHS = ["a", "foo_bar", "x.y_z.w", "abc1", "_lead", "a1_b2.c"]


class Filler:
    def __init__(self, rng, classes):
        self.rng = rng
        self.classes = list(classes)

    def message(self, cls, depth=3):
        message = cls()
        self.fill(message, depth)
        return message

    def fill(self, message, depth):
        descriptor = message.DESCRIPTOR
        if descriptor.full_name.startswith("google.protobuf."):
            return getattr(self, "fill_" + descriptor.name, self.fill_wrapper)(message, depth)
        for oneof in descriptor.oneofs:
            if self.rng.random() < 0.7:
                self.set(message, self.rng.choice(oneof.fields), depth)
        for field in descriptor.fields:
            if field.containing_oneof is None and (field.is_required or self.rng.random() < 0.6):
                self.set(message, field, depth)
        for extension in descriptor.file.pool.FindAllExtensions(descriptor):
            if self.rng.random() < 0.5:
                self.set(message, extension, depth)

    # Fields

    def set(self, message, field, depth):
        is_message = field.cpp_type == Field.CPPTYPE_MESSAGE
        if is_message and depth <= 0 and not field.message_type.full_name.startswith("google.protobuf."):
            return
        if field.is_repeated and is_message and field.message_type.GetOptions().map_entry:
            return self.set_map(getattr(message, field.name), field.message_type, depth)
        if field.is_extension:
            if field.is_repeated:
                target = message.Extensions[field]
            elif is_message:
                message.Extensions[field].SetInParent()
                return self.fill(message.Extensions[field], depth - 1)
            else:
                message.Extensions[field] = self.scalar(field)
                return None
        elif field.is_repeated:
            target = getattr(message, field.name)
        elif is_message:
            getattr(message, field.name).SetInParent()
            return self.fill(getattr(message, field.name), depth - 1)
        else:
            setattr(message, field.name, self.scalar(field))
            return None
        for _ in range(self.rng.randint(0, 4)):
            if is_message:
                self.fill(target.add(), depth - 1)
            else:
                target.append(self.scalar(field))
        return None

    def set_map(self, target, entry, depth):
        key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
        for _ in range(self.rng.choice([0, 1, 2, 3, 20])):
            chosen = self.scalar(key)
            if value.cpp_type == Field.CPPTYPE_MESSAGE:
                if depth > 0 or value.message_type.full_name.startswith("google.protobuf."):
                    target[chosen].Clear()
                    self.fill(target[chosen], depth - 1)
            else:
                target[chosen] = self.scalar(value)

    def scalar(self, field):
        kind = field.cpp_type
        if kind in BOUNDS:
            return self.integer(*BOUNDS[kind])
        if kind == Field.CPPTYPE_BOOL:
            return self.rng.random() < 0.5
        if kind == Field.CPPTYPE_DOUBLE:
            return self.double()
        if kind == Field.CPPTYPE_FLOAT:
            return self.floating("<f", 4, [0.0, -0.0, 1.5, 0.1, 3.4e38, 1.1754944e-38])
        if kind == Field.CPPTYPE_ENUM:
            enum = field.enum_type
            if not enum.is_closed and self.rng.random() < 0.2:
                return self.integer(-2**31, 2**31 - 1)
            return self.rng.choice(enum.values).number
        if field.type == Field.TYPE_BYTES:
            return self.rng.randbytes(self.rng.choice([0, 1, 2, 3, 4, 40]))
        return self.text()

    def integer(self, low, high):
        edges = [low, low + 1, -1, 0, 1, 127, 128, 2**31 - 1, 2**31, 2**53 - 1, 2**53 + 1, high - 1, high, 1000000]
        value = self.rng.choice(edges) if self.rng.random() < 0.7 else self.rng.randint(low, high)
        return min(max(value, low), high)

    def double(self):
        return self.floating("<d", 8, [
            0.0, -0.0, 1.0, 0.1, -1.5, 1e21, 1e-7, 123456789.125, 5e-324, 1.7976931348623157e308, 2.0**53, 1 / 3,
        ])

    def floating(self, form, size, edges):
        if self.rng.random() < 0.6:
            return self.rng.choice(edges + [math.inf, -math.inf, math.nan])
        value = struct.unpack(form, self.rng.randbytes(size))[0]
        # Python writes floats below the smallest normal one with more digits than they need.
        if form == "<f" and abs(value) < 1.1754944e-38:
            return 0.0
        # Of all the NaNs JSON knows one.
        return math.nan if math.isnan(value) else value

    def text(self):
        return self.rng.choice(TEXTS) if self.rng.random() < 0.7 else \
            "".join(self.rng.choice("abz09 -_.~é\u4e2d\U0001F680\"\\\n/") for _ in range(self.rng.randint(1, 12)))

    # Well-known types

    def fill_Timestamp(self, message, depth):
        message.seconds = self.rng.choice([0, -1, 1, 951782400, 4102444800, -62135596800, 253402300799,
                                           self.rng.randint(-62135596800, 253402300799)])
        message.nanos = self.nanos()

    def fill_Duration(self, message, depth):
        sign = self.rng.choice([1, -1])
        message.seconds = sign * self.rng.choice([0, 1, 59, 315576000000 - 1, self.rng.randint(0, 315575999999)])
        message.nanos = sign * self.nanos()

    def nanos(self):
        return self.rng.choice([0, 1, 1000, 1000000, 500000000, 999999999, self.rng.randint(0, 999999999)])

    def fill_FieldMask(self, message, depth):
        message.paths.extend(self.rng.sample(PATHS, self.rng.randint(0, 3)))

    def fill_Empty(self, message, depth):
        pass

    def fill_wrapper(self, message, depth):
        if self.rng.random() < 0.8:
            message.value = self.scalar(message.DESCRIPTOR.fields_by_name["value"])

    def fill_Any(self, message, depth):
        cls = self.rng.choice(self.classes)
        if self.rng.random() < 0.5:
            known = [field.message_type for other in self.classes for field in other.DESCRIPTOR.fields
                     if field.message_type and field.message_type.full_name.startswith("google.protobuf.")]
            if known:
                cls = message_factory.GetMessageClass(self.rng.choice(known))
        if depth > 0 and self.rng.random() < 0.9:
            prefix = self.rng.choice(["type.googleapis.com/", "x/", "a/b/"])
            message.Pack(self.message(cls, depth - 2), type_url_prefix=prefix, deterministic=True) \
                if not self.lacks_required(cls) else None

    def lacks_required(self, cls):
        return any(field.is_required for field in cls.DESCRIPTOR.fields)

    def fill_Value(self, message, depth):
        kind = self.rng.choice(["null", "number", "string", "bool"] + ["struct", "list"] * (depth > 0))
        if kind == "null":
            message.null_value = 0
        elif kind == "number":
            value = self.double()
            message.number_value = value if math.isfinite(value) else 0.5
        elif kind == "string":
            message.string_value = self.text()
        elif kind == "bool":
            message.bool_value = self.rng.random() < 0.5
        elif kind == "struct":
            message.struct_value.SetInParent()
            self.fill_Struct(message.struct_value, depth - 1)
        else:
            message.list_value.SetInParent()
            self.fill_ListValue(message.list_value, depth - 1)

    def fill_Struct(self, message, depth):
        for _ in range(self.rng.choice([0, 1, 3])):
            self.fill_Value(message.fields[self.text()], depth - 1)

    def fill_ListValue(self, message, depth):
        for _ in range(self.rng.choice([0, 1, 3])):
            self.fill_Value(message.values.add(), depth - 1)
