/// The five wire types of protobuf that are in use.
package enum WireType: UInt8, Sendable {
  case varint = 0
  case fixed64 = 1
  case lengthDelimited = 2
  case startGroup = 3
  case endGroup = 4
  case fixed32 = 5
}

/// Number and wire type of one field on the wire.
package struct WireTag: Sendable, Equatable {
  package let number: UInt32
  package let type: WireType

  @inline(__always)
  package init(number: UInt32, type: WireType) {
    self.number = number
    self.type = type
  }
}

/// Malformed protobuf bytes.
package struct WireError: Error, Sendable, Equatable {
  package let offset: Int
  package let reason: String

  @inline(never)
  init(_ offset: Int, _ reason: String) {
    self.offset = offset
    self.reason = reason
  }
}

/// Walks over protobuf wire bytes. Offsets are those of the whole span, also in readers of a part of it.
package struct WireReader: ~Escapable {
  package let bytes: Span<UInt8>
  package private(set) var offset: Int
  /// Offset behind the last byte of this reader's part.
  package let limit: Int

  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
    offset = 0
    limit = bytes.count
  }

  /// A reader of a part of the same bytes; the range is cut to the span.
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    self.bytes = bytes
    limit = Swift.min(Swift.max(range.upperBound, 0), bytes.count)
    offset = Swift.min(Swift.max(range.lowerBound, 0), limit)
  }

  @inline(__always)
  package var isAtEnd: Bool { offset >= limit }

  @inline(__always)
  package mutating func readVarint() throws(WireError) -> UInt64 {
    guard offset < limit else { throw WireError(offset, "the message ends inside a number") }
    let byte = bytes[offset]
    if byte < 0x80 {
      offset &+= 1
      return UInt64(byte)
    }
    return try readLongVarint()
  }

  private mutating func readLongVarint() throws(WireError) -> UInt64 {
    let start = offset
    var value: UInt64 = 0
    var shift: UInt64 = 0
    var index = offset
    while index < limit {
      let byte = bytes[index]
      index &+= 1
      // The tenth byte holds the top bit only; what is above it is dropped, as every protobuf parser does.
      value |= UInt64(byte & 0x7F) &<< shift
      if byte < 0x80 {
        offset = index
        return value
      }
      shift &+= 7
      if shift > 63 { throw WireError(start, "a number of more than ten bytes") }
    }
    throw WireError(start, "the message ends inside a number")
  }

  @inline(__always)
  package mutating func readTag() throws(WireError) -> WireTag {
    let start = offset
    let raw = try readVarint()
    guard raw <= 0xFFFF_FFFF, raw >> 3 != 0, let type = WireType(rawValue: UInt8(truncatingIfNeeded: raw & 7)) else {
      throw WireError(start, "a field number or wire type that does not exist")
    }
    return WireTag(number: UInt32(truncatingIfNeeded: raw >> 3), type: type)
  }

  @inline(__always)
  package mutating func readFixed32() throws(WireError) -> UInt32 {
    guard limit &- offset >= 4 else { throw WireError(offset, "the message ends inside a 4-byte value") }
    let value = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    offset &+= 4
    return UInt32(littleEndian: value)
  }

  @inline(__always)
  package mutating func readFixed64() throws(WireError) -> UInt64 {
    guard limit &- offset >= 8 else { throw WireError(offset, "the message ends inside an 8-byte value") }
    let value = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    offset &+= 8
    return UInt64(littleEndian: value)
  }

  /// The range of a length-delimited value; the reader is behind it afterwards.
  @inline(__always)
  package mutating func readLengthDelimited() throws(WireError) -> Range<Int> {
    let start = offset
    let length = try readVarint()
    guard length <= UInt64(limit &- offset) else {
      throw WireError(start, "a value that is longer than what is left of the message")
    }
    let from = offset
    offset &+= Int(truncatingIfNeeded: length)
    return from..<offset
  }

  /// The range of a group's fields, without the end tag; the reader is behind the end tag afterwards.
  package mutating func readGroup(_ number: UInt32) throws(WireError) -> Range<Int> {
    let from = offset
    // Nested groups are counted on a stack of their own: a peer chooses their depth.
    var open: [UInt32] = [number]
    while let innermost = open.last {
      let at = offset
      guard !isAtEnd else { throw WireError(from, "a group without end") }
      let tag = try readTag()
      switch tag.type {
      case .startGroup:
        guard open.count < 100 else { throw WireError(at, "groups nested more than 100 deep") }
        open.append(tag.number)
      case .endGroup:
        guard tag.number == innermost else { throw WireError(at, "the end of another group") }
        open.removeLast()
        if open.isEmpty { return from..<at }
      default: try skip(tag)
      }
    }
    return from..<offset
  }

  /// Skips the value of a field whose tag was read.
  package mutating func skip(_ tag: WireTag) throws(WireError) {
    switch tag.type {
    case .varint: _ = try readVarint()
    case .fixed64: _ = try readFixed64()
    case .lengthDelimited: _ = try readLengthDelimited()
    case .startGroup: _ = try readGroup(tag.number)
    case .endGroup: throw WireError(offset, "the end of a group that was not begun")
    case .fixed32: _ = try readFixed32()
    }
  }

  /// Whether the next field has this number; moves nothing.
  @inline(__always)
  func isNext(_ number: UInt32) -> Bool {
    guard offset < limit else { return false }
    let byte = bytes[offset]
    if byte < 0x80 { return UInt32(byte >> 3) == number }
    var probe = WireReader(bytes, offset..<limit)
    guard let tag = try? probe.readTag() else { return false }
    return tag.number == number
  }
}
