"""Which side answers: each of the two services signs its answers; and where a caller stands in a canary."""

from support.rest_service import Reply, book
from support.schema import SERVICE

PROCEDURE = f"{SERVICE}/GetBook"


def sign(rest, rpc):
    """Has each service name itself in the title."""
    rest.answers(lambda request: Reply.json({**book("b1"), "title": "rest"}))
    rpc.script = lambda call, context: rpc.book("b1", title="rpc")


def side(wire, fields=(), target="/v1/books/b1"):
    answer = wire.request("GET", target, list(fields))
    assert answer.status == 200, answer
    return answer.json()["title"]


MASK = (1 << 64) - 1


def siphash(key, data):
    """SipHash-2-4."""
    v = [key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D, key[0] ^ 0x6C7967656E657261, key[1] ^ 0x7465646279746573]

    def rotated(word, bits):
        return ((word << bits) | (word >> (64 - bits))) & MASK

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotated(v[1], 13) ^ v[0]
            v[0] = rotated(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotated(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotated(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotated(v[1], 17) ^ v[2]
            v[2] = rotated(v[2], 32)

    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) & 255])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start:start + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


KEY = (0x0706050403020100, 0x0F0E0D0C0B0A0908)


def place(key, salt=SERVICE):
    """0 to 9999, as decision 0026 has it."""
    return siphash((siphash(KEY, salt.encode()), KEY[1]), key.encode()) * 10_000 >> 64
