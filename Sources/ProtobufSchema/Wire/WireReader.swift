/// A cursor over protobuf's wire format that never reads beyond its bytes.
///
/// Lengths and numbers come from strangers: each is checked against what is left before it is used. Unknown fields
/// are skipped with ``skip(_:)``, groups within ``maximumGroupDepth``.
@usableFromInline
struct WireReader: ~Escapable {
  /// Groups nested deeper are refused (libprotobuf's limit).
  @inlinable static var maximumGroupDepth: Int { 100 }

  @usableFromInline package let bytes: Span<UInt8>
  /// Offset of the next unread byte.
  @usableFromInline var position = 0
  /// Where the field begins that was read last.
  @usableFromInline var fieldStart = 0

  @inlinable
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  @inlinable var isAtEnd: Bool { position >= bytes.count }

  /// The next tag, nil at the end of the bytes.
  @inlinable
  mutating func readTag() throws(WireError) -> WireTag? {
    guard position < bytes.count else { return nil }
    fieldStart = position
    let raw = try readVarint()
    guard raw <= UInt64(UInt32.max), raw >> 3 != 0, let type = WireType(rawValue: UInt8(truncatingIfNeeded: raw & 7))
    else { throw WireError(.tag, at: fieldStart) }
    return WireTag(number: Int32(truncatingIfNeeded: raw >> 3), type: type)
  }

  @inlinable
  mutating func readVarint() throws(WireError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.count {
      let byte = bytes[position]
      position &+= 1
      // The tenth byte has room for one bit.
      if shift == 63, byte > 1 { throw WireError(.varint, at: fieldStart) }
      value |= UInt64(byte & 0x7F) &<< shift
      if byte < 0x80 { return value }
      shift &+= 7
    }
    throw WireError(.truncated, at: fieldStart)
  }

  @inlinable
  mutating func readFixed32() throws(WireError) -> UInt32 {
    guard bytes.count &- position >= 4 else { throw WireError(.truncated, at: fieldStart) }
    var value: UInt32 = 0
    for index in 0..<4 { value |= UInt32(bytes[position &+ index]) &<< UInt32(index &* 8) }
    position &+= 4
    return value
  }

  @inlinable
  mutating func readFixed64() throws(WireError) -> UInt64 {
    guard bytes.count &- position >= 8 else { throw WireError(.truncated, at: fieldStart) }
    var value: UInt64 = 0
    for index in 0..<8 { value |= UInt64(bytes[position &+ index]) &<< UInt64(index &* 8) }
    position &+= 8
    return value
  }

  /// Reads a length and passes over as many bytes; gives their range in ``bytes``.
  @inlinable
  mutating func readRange() throws(WireError) -> Range<Int> {
    let length = try readVarint()
    guard length <= UInt64(bytes.count &- position) else { throw WireError(.truncated, at: fieldStart) }
    let start = position
    position &+= Int(truncatingIfNeeded: length)
    return start..<position
  }

  /// Reads a length and passes over as many bytes; gives the bytes.
  @inlinable
  @_lifetime(copy self)
  mutating func readBytes() throws(WireError) -> Span<UInt8> {
    let range = try readRange()
    return bytes.extracting(range)
  }

  /// A length and a string that must be UTF-8.
  @inlinable
  mutating func readString() throws(WireError) -> String {
    let range = try readRange()
    let content = bytes.extracting(range)
    guard let text = try? UTF8Span(validating: content) else { throw WireError(.utf8, at: fieldStart) }
    return String(copying: text)
  }

  /// Passes over the value behind a tag, whole groups included.
  @inlinable
  mutating func skip(_ tag: WireTag) throws(WireError) {
    var open: [Int32] = []
    var current = tag
    repeat {
      switch current.type {
      case .varint: _ = try readVarint()
      case .fixed64: _ = try readFixed64()
      case .fixed32: _ = try readFixed32()
      case .lengthDelimited: _ = try readRange()
      case .startGroup:
        guard open.count < Self.maximumGroupDepth else { throw WireError(.depth, at: fieldStart) }
        open.append(current.number)
      case .endGroup:
        guard let number = open.popLast(), number == current.number else {
          throw WireError(.group, at: fieldStart)
        }
      }
      if open.isEmpty { return }
      guard let next = try readTag() else { throw WireError(.truncated, at: fieldStart) }
      current = next
    } while true
  }
}
