import Bytes

/// Walks the fields of one small protobuf message, without a schema.
struct StatusScanner: ~Escapable {
  enum Value {
    case varint(UInt64)
    /// Where the bytes of a length-delimited field lie.
    case bytes(Range<Int>)
    /// A fixed-width field, skipped.
    case other
  }

  private let bytes: Span<UInt8>
  private var index = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  var isAtEnd: Bool { index >= bytes.count }

  /// The next field; nil for what is no field: a broken varint, number 0, groups, a length beyond the end.
  @_lifetime(self: copy self)
  mutating func field() -> (number: UInt64, value: Value)? {
    guard let tag = varint(), tag >> 3 > 0, tag >> 3 < 1 << 29 else { return nil }
    switch tag & 7 {
    case 0:
      guard let value = varint() else { return nil }
      return (tag >> 3, .varint(value))
    case 1:
      guard skip(8) != nil else { return nil }
      return (tag >> 3, .other)
    case 2:
      guard let count = varint(), let length = Int(exactly: count), let range = skip(length) else { return nil }
      return (tag >> 3, .bytes(range))
    case 5:
      guard skip(4) != nil else { return nil }
      return (tag >> 3, .other)
    default:
      return nil
    }
  }

  @_lifetime(self: copy self)
  private mutating func skip(_ count: Int) -> Range<Int>? {
    guard count <= bytes.count &- index else { return nil }
    let start = index
    index &+= count
    return start..<index
  }

  /// A varint of at most ten bytes; what is above 64 bits is dropped, as protobuf's readers do.
  @_lifetime(self: copy self)
  private mutating func varint() -> UInt64? {
    var value: UInt64 = 0
    for shift in 0..<10 {
      guard index < bytes.count else { return nil }
      let byte = bytes[index]
      index &+= 1
      value |= UInt64(byte & 0x7F) << UInt64(shift &* 7)
      if byte < 0x80 { return value }
    }
    return nil
  }
}
