"""Equal messages as equal bytes."""

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor as Field


def canonical(message):
    """Deterministic bytes: maps in order, the contents of Any too, unknown fields dropped."""
    copy = type(message)()
    copy.CopyFrom(message)
    copy.DiscardUnknownFields()
    settle(copy)
    return copy.SerializePartialToString(deterministic=True)


def settle(message):
    if message.DESCRIPTOR.full_name == "google.protobuf.Any" and message.value:
        inner = content(message)
        if inner is not None:
            message.value = canonical(inner)
        return
    for field, value in message.ListFields():
        if field.cpp_type != Field.CPPTYPE_MESSAGE:
            continue
        if not field.is_repeated:
            settle(value)
        elif field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["value"].cpp_type == Field.CPPTYPE_MESSAGE:
                for key in value:
                    settle(value[key])
        else:
            for element in value:
                settle(element)


def content(any_message):
    """The message in an Any; nil when its type is unknown."""
    try:
        descriptor = descriptor_pool.Default().FindMessageTypeByName(any_message.type_url.split("/")[-1])
    except KeyError:
        return None
    inner = message_factory.GetMessageClass(descriptor)()
    inner.ParseFromString(any_message.value)
    return inner
