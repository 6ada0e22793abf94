"""Random schemas: all kinds and labels, in proto2, proto3 and editions."""

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, duration_pb2, empty_pb2, field_mask_pb2
from google.protobuf import message_factory, struct_pb2, timestamp_pb2, wrappers_pb2

Field = descriptor_pb2.FieldDescriptorProto
Features = descriptor_pb2.FeatureSet
STANDARD = [
    any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2,
]
WELL_KNOWN = [
    "Any", "Timestamp", "Duration", "FieldMask", "Struct", "Value", "ListValue", "Empty", "DoubleValue", "FloatValue",
    "Int64Value", "UInt64Value", "Int32Value", "UInt32Value", "BoolValue", "StringValue", "BytesValue",
]
SCALARS = [
    Field.TYPE_DOUBLE, Field.TYPE_FLOAT, Field.TYPE_INT64, Field.TYPE_UINT64, Field.TYPE_INT32, Field.TYPE_FIXED64,
    Field.TYPE_FIXED32, Field.TYPE_BOOL, Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_UINT32, Field.TYPE_SFIXED32,
    Field.TYPE_SFIXED64, Field.TYPE_SINT32, Field.TYPE_SINT64,
]
KEYS = [kind for kind in SCALARS if kind not in (Field.TYPE_DOUBLE, Field.TYPE_FLOAT, Field.TYPE_BYTES)]
UNPACKABLE = (Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_MESSAGE, Field.TYPE_GROUP)
NAMES = ["word{}", "two_words{}", "_leading{}", "trailing{}_", "camelCase{}", "CAPITAL{}", "a__b{}", "with_{}_number"]
JSON_NAMES = ["odd name {}", "ünï{}", "quote\"{}", "dot.ted{}", "@at{}", "x{}", "back\\slash{}", "\U0001F600{}"]
EDITIONS = {"2023": descriptor_pb2.EDITION_2023, "2024": descriptor_pb2.EDITION_2024}
DIALECTS = ["proto2", "proto3", *EDITIONS]


class Schema:
    """`messages`: classes by full name, those of the file first in order; `set`: the FileDescriptorSet."""

    def __init__(self, rng, name):
        self.package = name
        self.dialect = rng.choice(DIALECTS)
        self.file = Builder(rng, name, self.dialect).build()
        pool = descriptor_pool.Default()
        pool.AddSerializedFile(self.file.SerializeToString())
        self.set = descriptor_pb2.FileDescriptorSet()
        for module in STANDARD:
            module.DESCRIPTOR.CopyToProto(self.set.file.add())
        self.set.file.append(self.file)
        self.messages = {}
        for message in self.file.message_type:
            full = f"{name}.{message.name}"
            self.messages[full] = message_factory.GetMessageClass(pool.FindMessageTypeByName(full))
        for extension in self.file.extension:
            pool.FindExtensionByName(f"{name}.{extension.name}")


class Builder:
    def __init__(self, rng, package, dialect):
        self.rng = rng
        self.package = package
        self.dialect = dialect
        self.file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package)
        self.has_features = dialect in EDITIONS
        if self.has_features:
            self.file.syntax = "editions"
            self.file.edition = EDITIONS[dialect]
        else:
            self.file.syntax = dialect
        self.file.dependency.extend(module.DESCRIPTOR.name for module in STANDARD)
        self.count = 0

    def chance(self, share):
        return self.rng.random() < share

    def build(self):
        for index in range(self.rng.randint(1, 3)):
            self.enum(self.file.enum_type.add(name=f"E{index}"), f"E{index}")
        names = [f"M{index}" for index in range(self.rng.randint(2, 5))]
        for name in names:
            self.file.message_type.add(name=name)
        for message in self.file.message_type:
            self.message(message, f".{self.package}.{message.name}")
        if self.dialect != "proto3":
            self.extensions()
        if self.dialect == "2024":
            self.edition_2024()
        return self.file

    def edition_2024(self):
        """What this edition has besides: visibility of types, options that are imported for the compiler alone."""
        features = self.file.options.features
        features.enforce_naming_style = Features.STYLE_LEGACY
        if self.chance(0.5):
            features.default_symbol_visibility = self.rng.choice([
                Features.VisibilityFeature.EXPORT_ALL, Features.VisibilityFeature.EXPORT_TOP_LEVEL])
        for one in [*self.file.message_type, *self.file.enum_type]:
            if self.chance(0.3):
                one.visibility = self.rng.choice([descriptor_pb2.VISIBILITY_LOCAL, descriptor_pb2.VISIBILITY_EXPORT])
        if self.chance(0.3):
            self.file.option_dependency.append("not/there.proto")

    # Enums

    def enum(self, enum, prefix):
        closed = self.dialect == "proto2"
        if self.has_features and self.chance(0.4):
            enum.options.features.enum_type = Features.CLOSED
            closed = True
        numbers = [0] + self.rng.sample([1, 2, 3, 4, 5, 7, 100, -1, -2**31, 2**31 - 1], self.rng.randint(1, 5))
        if closed and self.chance(0.3):
            self.rng.shuffle(numbers)
        for index, number in enumerate(numbers):
            enum.value.add(name=f"{prefix}_VALUE_{index}", number=number)
        if self.chance(0.3):
            enum.options.allow_alias = True
            enum.value.add(name=f"{prefix}_ALIAS", number=self.rng.choice(numbers))

    def enum_name(self, first_is_zero=False):
        enums = [enum for enum in self.file.enum_type if not first_is_zero or enum.value[0].number == 0]
        return f".{self.package}.{self.rng.choice(enums).name}" if enums else None

    # Messages

    def message(self, message, path, depth=0):
        numbers = self.numbers(12)
        for _ in range(self.rng.randint(1, 3 if depth else 7)):
            self.field(message, path, numbers.pop(), depth)
        if self.chance(0.5):
            oneof = len(message.oneof_decl)
            self.count += 1
            message.oneof_decl.add(name=f"choice{self.count}")
            for _ in range(self.rng.randint(1, 4)):
                field = self.field(message, path, numbers.pop(), depth, singular=True)
                field.oneof_index = oneof
        self.optionals(message)

    def numbers(self, count):
        small = self.rng.sample(range(1, 40), count)
        if self.chance(0.3):
            small[-1:] = self.rng.sample([2047, 2048, 15000, 262143, 536870911], 1)
        self.rng.shuffle(small)
        return small

    def optionals(self, message):
        """Optional fields of proto3 have a oneof of their own, behind the others."""
        for field in message.field:
            if field.proto3_optional:
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")

    def name(self, field):
        self.count += 1
        field.name = self.rng.choice(NAMES).format(self.count)
        if self.chance(0.15):
            field.json_name = self.rng.choice(JSON_NAMES).format(self.count)

    def field(self, message, path, number, depth, singular=False):
        field = message.field.add(number=number, label=Field.LABEL_OPTIONAL)
        self.name(field)
        if not singular and self.chance(0.2):
            return self.map(message, field, path)
        repeated = not singular and self.chance(0.35)
        if repeated:
            field.label = Field.LABEL_REPEATED
        self.type(field)
        if not repeated and not singular:
            self.presence(field)
        if depth < 2 and self.chance(0.1):
            self.group(message, field, path, depth)
        if repeated and field.type not in UNPACKABLE and self.chance(0.4):
            self.packing(field)
        return field

    def type(self, field):
        choice = self.rng.random()
        if choice < 0.55:
            field.type = self.rng.choice(SCALARS)
            if self.has_features and field.type == Field.TYPE_STRING and self.chance(0.2):
                field.options.features.utf8_validation = Features.NONE
        elif choice < 0.67:
            field.type, field.type_name = Field.TYPE_ENUM, self.enum_name(self.dialect == "proto3")
        elif choice < 0.82:
            field.type = Field.TYPE_MESSAGE
            field.type_name = f".{self.package}.{self.rng.choice(self.file.message_type).name}"
            if self.has_features and self.chance(0.3):
                field.options.features.message_encoding = Features.DELIMITED
        else:
            field.type, field.type_name = Field.TYPE_MESSAGE, ".google.protobuf." + self.rng.choice(WELL_KNOWN)

    def presence(self, field):
        scalar = field.type not in (Field.TYPE_MESSAGE, Field.TYPE_GROUP)
        if self.dialect == "proto3" and scalar and self.chance(0.3):
            field.proto3_optional = True
        if self.dialect == "proto2" and scalar and self.chance(0.15):
            field.label = Field.LABEL_REQUIRED
        if self.has_features and scalar and self.chance(0.5):
            first_is_zero = field.type != Field.TYPE_ENUM or self.is_open(field.type_name)
            choices = [Features.EXPLICIT, Features.LEGACY_REQUIRED] + [Features.IMPLICIT] * 2 * first_is_zero
            field.options.features.field_presence = self.rng.choice(choices)

    def is_open(self, name):
        enum = next(enum for enum in self.file.enum_type if name.endswith("." + enum.name))
        return enum.options.features.enum_type != Features.CLOSED

    def packing(self, field):
        if self.has_features:
            field.options.features.repeated_field_encoding = self.rng.choice([Features.PACKED, Features.EXPANDED])
        else:
            field.options.packed = self.chance(0.5)

    def group(self, message, field, path, depth):
        """A group of proto2, or its like in an edition; a nested message in proto3."""
        self.count += 1
        nested = message.nested_type.add(name=f"Group{self.count}")
        label = Field.LABEL_REPEATED if field.label == Field.LABEL_REPEATED else Field.LABEL_OPTIONAL
        number, field_name = field.number, field.name
        field.Clear()
        field.number, field.label, field.name = number, label, field_name
        field.type, field.type_name = Field.TYPE_MESSAGE, f"{path}.{nested.name}"
        if self.dialect == "proto2":
            field.name, field.type = nested.name.lower(), Field.TYPE_GROUP
        elif self.has_features:
            field.options.features.message_encoding = Features.DELIMITED
        self.message(nested, f"{path}.{nested.name}", depth + 1)

    def map(self, message, field, path):
        camel = "".join(part[:1].upper() + part[1:] for part in field.name.split("_"))
        entry = message.nested_type.add(name=f"{camel}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=Field.LABEL_OPTIONAL, type=self.rng.choice(KEYS))
        value = entry.field.add(name="value", number=2, label=Field.LABEL_OPTIONAL)
        self.type(value)
        value.ClearField("options")
        if value.type == Field.TYPE_ENUM:
            name = self.enum_name(first_is_zero=True)
            if name:
                value.type_name = name
            else:
                value.ClearField("type_name")
                value.type = Field.TYPE_STRING
        field.label, field.type, field.type_name = Field.LABEL_REPEATED, Field.TYPE_MESSAGE, f"{path}.{entry.name}"
        return field

    # Extensions

    def extensions(self):
        target = self.file.message_type[0]
        target.extension_range.add(start=1000, end=2000)
        for index in range(self.rng.randint(0, 4)):
            holder = self.file if self.chance(0.5) else self.rng.choice(self.file.message_type)
            extension = holder.extension.add(
                number=1000 + index, label=Field.LABEL_OPTIONAL, extendee=f".{self.package}.{target.name}")
            self.name(extension)
            extension.ClearField("json_name")
            if self.chance(0.4):
                extension.label = Field.LABEL_REPEATED
            self.type(extension)
