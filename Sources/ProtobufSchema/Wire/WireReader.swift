/// A cursor over protobuf's wire format that never reads beyond its bytes.
///
/// Lengths and numbers come from strangers: each is checked against what is left before it is used. Offsets are those
/// of the whole span, also in readers of a part of it.
@usableFromInline
package struct WireReader: ~Escapable {
  /// Groups nested deeper are refused (libprotobuf's limit).
  package static let maximumGroupDepth = 100

  @usableFromInline package let bytes: Span<UInt8>
  /// Offset of the next unread byte.
  @usableFromInline package internal(set) var offset: Int
  /// Offset behind the last byte of this reader's part.
  @usableFromInline package let limit: Int

  @inlinable
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
    offset = 0
    limit = bytes.count
  }

  /// A reader of a part of the same bytes; the range is cut to the span.
  @inlinable
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    self.bytes = bytes
    limit = Swift.min(Swift.max(range.upperBound, 0), bytes.count)
    offset = Swift.min(Swift.max(range.lowerBound, 0), limit)
  }

  @inlinable package var isAtEnd: Bool { offset >= limit }

  @usableFromInline
  @inline(never)
  static func fault(_ kind: WireError.Kind, at offset: Int) -> WireError { WireError(kind, at: offset) }

  /// A base-128 number. What the tenth byte holds above 64 bits is dropped, as every protobuf parser does.
  @inlinable
  @inline(__always)
  package mutating func readVarint() throws(WireError) -> UInt64 {
    guard offset < limit else { throw Self.fault(.truncated, at: offset) }
    let byte = bytes[offset]
    if byte < 0x80 {
      offset &+= 1
      return UInt64(byte)
    }
    return try readLongVarint()
  }

  @usableFromInline
  mutating func readLongVarint() throws(WireError) -> UInt64 {
    let start = offset
    if limit &- offset >= 8 {
      // Up to eight bytes at once: the first without the highest bit is the last of the number.
      let word = UInt64(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
      let ends = ~word & 0x8080_8080_8080_8080
      if ends != 0 {
        let bits = ends.trailingZeroBitCount &+ 1
        let lanes = word & (UInt64.max &>> UInt64(64 &- bits)) & 0x7F7F_7F7F_7F7F_7F7F
        let pairs = (lanes & 0x007F_007F_007F_007F) | (lanes & 0x7F00_7F00_7F00_7F00) >> 1
        let fours = (pairs & 0x0000_3FFF_0000_3FFF) | (pairs & 0x3FFF_0000_3FFF_0000) >> 2
        offset = start &+ bits >> 3
        return (fours & 0x0FFF_FFFF) | (fours & 0x0FFF_FFFF_0000_0000) >> 4
      }
    }
    var value: UInt64 = 0
    var shift: UInt64 = 0
    var index = offset
    while index < limit {
      let byte = bytes[index]
      index &+= 1
      value |= UInt64(byte & 0x7F) &<< shift
      if byte < 0x80 {
        offset = index
        return value
      }
      shift &+= 7
      if shift > 63 { throw WireError(.varint, at: start) }
    }
    throw WireError(.truncated, at: start)
  }

  /// The next tag; there must be one.
  @inlinable
  @inline(__always)
  package mutating func readTag() throws(WireError) -> WireTag {
    let start = offset
    let raw = try readVarint()
    // A tag of more than five bytes is refused even if its upper bytes are empty, as libprotobuf does.
    guard raw <= 0xFFFF_FFFF, offset &- start <= 5, raw >> 3 != 0,
      let type = WireType(rawValue: UInt8(truncatingIfNeeded: raw & 7))
    else { throw Self.fault(.tag, at: start) }
    return WireTag(number: UInt32(truncatingIfNeeded: raw >> 3), type: type)
  }

  /// Steps over a tag that is expected here, of one or two bytes; false, and nothing is stepped over, if another is.
  ///
  /// - Parameters:
  ///   - tag: its bytes, the first the lowest.
  ///   - mask: the bits of these bytes, 0xFF or 0xFFFF.
  @inlinable
  @inline(__always)
  package mutating func skip(tag: UInt16, mask: UInt16) -> Bool {
    // The value behind a tag has a byte at least.
    guard limit &- offset >= 2 else { return false }
    let word = UInt16(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    guard word & mask == tag else { return false }
    offset &+= 1 &+ Int(mask &>> 15)
    return true
  }

  /// The next tag, nil at the end.
  @inlinable
  package mutating func nextTag() throws(WireError) -> WireTag? {
    isAtEnd ? nil : try readTag()
  }

  @inlinable
  @inline(__always)
  package mutating func readFixed32() throws(WireError) -> UInt32 {
    guard limit &- offset >= 4 else { throw Self.fault(.truncated, at: offset) }
    let value = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    offset &+= 4
    return UInt32(littleEndian: value)
  }

  @inlinable
  @inline(__always)
  package mutating func readFixed64() throws(WireError) -> UInt64 {
    guard limit &- offset >= 8 else { throw Self.fault(.truncated, at: offset) }
    let value = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    offset &+= 8
    return UInt64(littleEndian: value)
  }

  /// The range of a length-delimited value; the reader is behind it afterwards.
  @inlinable
  @inline(__always)
  package mutating func readLengthDelimited() throws(WireError) -> Range<Int> {
    let start = offset
    let length = try readVarint()
    guard length <= UInt64(limit &- offset) else { throw Self.fault(.truncated, at: start) }
    let from = offset
    offset &+= Int(truncatingIfNeeded: length)
    return from..<offset
  }

  /// The bytes of a length-delimited value.
  @_lifetime(copy self)
  package mutating func readBytes() throws(WireError) -> Span<UInt8> {
    let range = try readLengthDelimited()
    return bytes.extracting(range)
  }

  /// A length-delimited value that must be UTF-8.
  package mutating func readString() throws(WireError) -> String {
    let range = try readLengthDelimited()
    let content = bytes.extracting(range)
    guard let text = try? UTF8Span(validating: content) else { throw WireError(.utf8, at: range.lowerBound) }
    return String(copying: text)
  }

  /// Whether the next field has this number; moves nothing.
  @inlinable
  @inline(__always)
  package func isNext(_ number: UInt32) -> Bool {
    guard offset < limit else { return false }
    let byte = bytes[offset]
    if byte < 0x80 { return UInt32(byte >> 3) == number }
    var probe = WireReader(bytes, offset..<limit)
    guard let tag = try? probe.readTag() else { return false }
    return tag.number == number
  }
}
