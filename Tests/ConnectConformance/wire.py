"""What of protobuf the suite's small messages need: fields in and out, and its length-prefixed framing."""

import struct


def read(stream):
    """The next message of a stream; None at its end."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack(">I", head)
    return stream.read(length)


def write(stream, message):
    stream.write(struct.pack(">I", len(message)) + message)
    stream.flush()


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value, raw bytes) of each field; values of varints are numbers, those of length-delimited ones bytes."""
    at = 0
    while at < len(data):
        start = at
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            raise ValueError(f"wire type {tag & 7} is in none of these messages")
        yield tag >> 3, value, data[start:at]


def _encoded(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """One field, of a number or of bytes; nothing for a default."""
    if not value:
        return b""
    if isinstance(value, int):
        return _encoded(number << 3) + _encoded(value)
    return _encoded(number << 3 | 2) + _encoded(len(value)) + value
