import Bytes

extension JSONCursor {
  /// Steps over any value and checks it; nothing is kept.
  mutating func skipValue() throws(Fault) {
    switch byte {
    case UInt8(ascii: "{"):
      guard try open(UInt8(ascii: "{")) else { return }
      repeat {
        try skipString()
        try colon()
        try skipValue()
      } while try next(UInt8(ascii: "{"))
    case UInt8(ascii: "["):
      guard try open(UInt8(ascii: "[")) else { return }
      repeat { try skipValue() } while try next(UInt8(ascii: "["))
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "t"): try literal("true")
    case UInt8(ascii: "f"): try literal("false")
    case UInt8(ascii: "n"): try literal("null")
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      _ = try Decimal.scan(json, &index)
    default: throw unexpected("a JSON value")
    }
  }

  mutating func skipString() throws(Fault) {
    if try plainString() == nil {
      var discarded = ByteBuffer()
      try unescape(into: &discarded)
    }
  }
}
