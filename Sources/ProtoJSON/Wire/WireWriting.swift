package import Bytes
package import ProtobufSchema

extension ByteBuffer {
  /// Appends a base-128 varint.
  @inline(__always)
  package mutating func append(varint value: UInt64) {
    if value < 0x80 {
      append(UInt8(truncatingIfNeeded: value))
    } else {
      appendLong(varint: value)
    }
  }

  private mutating func appendLong(varint value: UInt64) {
    unsafe appendWithUnsafeRoom(10) { room in
      var rest = value
      var count = 0
      while rest >= 0x80 {
        unsafe room[count] = UInt8(truncatingIfNeeded: rest) | 0x80
        rest >>= 7
        count &+= 1
      }
      unsafe room[count] = UInt8(truncatingIfNeeded: rest)
      return count &+ 1
    }
  }

  /// Appends a part of a text: up to 32 bytes in whole blocks, if the text goes on as far, instead of by a call.
  @inline(__always)
  mutating func append(short text: Span<UInt8>, _ offset: Int, _ length: Int) {
    guard offset >= 0, length >= 0, length <= 32, text.count &- offset >= 32 else {
      append(text.extracting(offset..<offset &+ length))
      return
    }
    unsafe appendWithUnsafeRoom(32) { room in
      let first = unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
      unsafe room.storeBytes(of: first, as: SIMD16<UInt8>.self)
      if length > 16 {
        let second = unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: offset &+ 16, as: SIMD16<UInt8>.self)
        unsafe room.storeBytes(of: second, toByteOffset: 16, as: SIMD16<UInt8>.self)
      }
      return length
    }
  }

  /// The same of a text with 32 bytes behind its first one that can be read, whatever its length: those in the tables.
  @inline(__always)
  mutating func append(pooled text: Span<UInt8>, _ offset: Int, _ length: Int) {
    guard length <= 32 else { return append(text.extracting(offset..<offset &+ length)) }
    unsafe appendWithUnsafeRoom(32) { room in
      unsafe Self.copy(pooled: text, offset, length, to: room)
      return length
    }
  }

  /// Copies 32 bytes, or 16 if the length is not more than that.
  @inline(__always)
  static func copy(pooled text: Span<UInt8>, _ offset: Int, _ length: Int, to room: UnsafeMutableRawBufferPointer) {
    let source = unsafe text.bytes
    let first = unsafe source.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
    unsafe room.storeBytes(of: first, as: SIMD16<UInt8>.self)
    guard length > 16 else { return }
    let second = unsafe source.unsafeLoadUnaligned(fromByteOffset: offset &+ 16, as: SIMD16<UInt8>.self)
    unsafe room.storeBytes(of: second, toByteOffset: 16, as: SIMD16<UInt8>.self)
  }

  /// Appends the first bytes of a word, the lowest first.
  @inline(__always)
  mutating func append(word: UInt64, length: Int) {
    unsafe appendWithUnsafeRoom(8) { room in
      unsafe room.storeBytes(of: word.littleEndian, as: UInt64.self)
      return length
    }
  }

  package mutating func append(tag number: UInt32, _ type: WireType) {
    append(varint: UInt64(number) << 3 | UInt64(type.rawValue))
  }

  @inline(__always)
  package mutating func append(fixed32 value: UInt32) {
    unsafe appendWithUnsafeRoom(4) { room in
      unsafe room.storeBytes(of: value.littleEndian, as: UInt32.self)
      return 4
    }
  }

  @inline(__always)
  package mutating func append(fixed64 value: UInt64) {
    unsafe appendWithUnsafeRoom(8) { room in
      unsafe room.storeBytes(of: value.littleEndian, as: UInt64.self)
      return 8
    }
  }

  /// Appends a tag that was encoded at load time: up to eight bytes in one store.
  @inline(__always)
  mutating func append(encodedTag tag: UInt64, length: UInt8) {
    unsafe appendWithUnsafeRoom(8) { room in
      unsafe room.storeBytes(of: tag.littleEndian, as: UInt64.self)
      return Int(Swift.min(length, 8))
    }
  }

  /// Begins a length-delimited value of unknown length.
  ///
  /// - Returns: the offset at which its bytes begin, for ``endLengthDelimited(_:)``.
  @inline(__always)
  package mutating func beginLengthDelimited() -> Int {
    append(0)
    return count
  }

  /// Writes the length in front of all that came since the beginning.
  @inline(__always)
  package mutating func endLengthDelimited(_ start: Int) {
    let length = count &- start
    if length < 0x80 {
      self[start &- 1] = UInt8(truncatingIfNeeded: length)
    } else {
      endLong(start, length)
    }
  }

  private mutating func endLong(_ start: Int, _ length: Int) {
    var width = 1
    var probe = length >> 7
    while probe > 0 {
      width &+= 1
      probe >>= 7
    }
    openGap(at: start, width: width - 1)
    var rest = length
    for index in 0..<width {
      let more: UInt8 = index == width - 1 ? 0 : 0x80
      self[start - 1 + index] = UInt8(truncatingIfNeeded: rest & 0x7F) | more
      rest >>= 7
    }
  }
}

/// Sign folding of `sint32` and `sint64`.
package enum ZigZag {
  @inline(__always)
  package static func encode(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value &<< 1) ^ (value &>> 63)) }

  @inline(__always)
  package static func decode(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value &>> 1) ^ (0 &- Int64(bitPattern: value & 1))
  }
}
