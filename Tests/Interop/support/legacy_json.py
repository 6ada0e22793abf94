"""The JSON of a legacy API with habits, written by Python's descriptors: what the gateway's profiles are compared with."""

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor as Field

WRAPPERS = {
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
}


def legacy(message, profile):
    """A message as a JSON value in a profile: the keys of `json:` in the configuration."""
    found = {}
    for field in message.DESCRIPTOR.fields:
        name = field.name if profile.get("field_names") == "proto" else field.json_name
        value = getattr(message, field.name)
        if _is_map(field):
            if value or profile.get("emit_defaults"):
                entry = field.message_type.fields_by_name["value"]
                found[name] = {_key(key): _value(entry, value[key], profile) for key in value}
        elif field.is_repeated:
            if value or profile.get("emit_defaults"):
                found[name] = [_value(field, element, profile) for element in value]
        elif field.has_presence:
            if message.HasField(field.name):
                found[name] = _value(field, value, profile)
            elif profile.get("unset") == "null" and not _is_choice(field) and not _is(field, "google.protobuf.Value"):
                found[name] = None
        elif value != field.default_value or profile.get("emit_defaults"):
            found[name] = _value(field, value, profile)
    return found


def _is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _is_choice(field):
    """A member of a oneof; a proto3 `optional` is in one of its own that nobody declared."""
    oneof = field.containing_oneof
    return oneof is not None and oneof.name != f"_{field.name}"


def _is(field, name):
    return field.message_type is not None and field.message_type.full_name == name


def _key(key):
    return str(key).lower() if isinstance(key, bool) else str(key)


def _value(field, value, profile):
    if field.cpp_type in (Field.CPPTYPE_INT64, Field.CPPTYPE_UINT64):
        return value if profile.get("int64") == "number" else str(value)
    if field.cpp_type == Field.CPPTYPE_ENUM:
        return _enum(field.enum_type, value, profile)
    if field.cpp_type == Field.CPPTYPE_MESSAGE:
        return _message(value, profile)
    return value


def _enum(type, number, profile):
    if profile.get("enums") == "number" or number not in type.values_by_number:
        return number
    name = type.values_by_number[number].name
    if profile.get("enum_prefix") == "strip":
        name = name.removeprefix(type.name.upper() + "_")
    return name.lower() if profile.get("enum_case") == "lower" else name


def _message(message, profile):
    name = message.DESCRIPTOR.full_name
    if name == "google.protobuf.Timestamp":
        nanos = message.seconds * 1_000_000_000 + message.nanos
        match profile.get("timestamps"):
            case "unix":
                return nanos / 1_000_000_000
            case "unix_ms":
                return nanos / 1_000_000
        return json_format.MessageToDict(message)
    if name in WRAPPERS:
        return _value(message.DESCRIPTOR.fields_by_name["value"], message.value, profile)
    if name == "google.protobuf.Any":
        from google.protobuf import symbol_database

        inner = symbol_database.Default().GetSymbol(message.TypeName())()
        message.Unpack(inner)
        form = _message(inner, profile)
        if message.TypeName().startswith("google.protobuf."):
            form = {"value": form}
        return {"@type": message.type_url, **form}
    if name.startswith("google.protobuf."):
        return json_format.MessageToDict(message)
    return legacy(message, profile)
