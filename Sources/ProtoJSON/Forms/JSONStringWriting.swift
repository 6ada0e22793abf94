import Bytes

/// JSON strings out.
enum JSONStringWriting {
  /// Appends bytes as a quoted JSON string.
  ///
  /// - Returns: the offset of the first byte that is not UTF-8, nil when all is well.
  @discardableResult
  @inline(__always)
  static func write(_ bytes: Span<UInt8>, into output: inout ByteBuffer) -> Int? {
    let scan = writePlain(bytes, into: &output)
    if scan.isPlain {
      if scan.isASCII { return nil }
      return UTF8Validation.firstInvalid(bytes)
    }
    return writeEscaped(JSONCursor(bytes, maximumDepth: 0), into: &output)
  }

  /// Copies bytes between quotes in whole blocks, looking at each block on its way; what is not plain is not kept.
  ///
  /// The last block overlaps the one before, so that nothing is left over.
  @inline(__always)
  private static func writePlain(
    _ bytes: Span<UInt8>, into output: inout ByteBuffer
  ) -> (isPlain: Bool, isASCII: Bool) {
    let count = bytes.count
    var scan = PlainScan()
    unsafe output.appendWithUnsafeRoom(count &+ 2) { room in
      let source = unsafe bytes.bytes
      unsafe room[0] = 0x22
      if count >= 16 {
        var at = 0
        while count &- at > 16 {
          let block = unsafe source.unsafeLoadUnaligned(fromByteOffset: at, as: SIMD16<UInt8>.self)
          scan.look(block)
          unsafe room.storeBytes(of: block, toByteOffset: at &+ 1, as: SIMD16<UInt8>.self)
          at &+= 16
        }
        let block = unsafe source.unsafeLoadUnaligned(fromByteOffset: count &- 16, as: SIMD16<UInt8>.self)
        scan.look(block)
        unsafe room.storeBytes(of: block, toByteOffset: count &- 15, as: SIMD16<UInt8>.self)
      } else if count >= 8 {
        let first = unsafe source.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
        let last = unsafe source.unsafeLoadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        scan.look(first)
        scan.look(last)
        unsafe room.storeBytes(of: first, toByteOffset: 1, as: UInt64.self)
        unsafe room.storeBytes(of: last, toByteOffset: count &- 7, as: UInt64.self)
      } else if count >= 4 {
        let first = unsafe source.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
        let last = unsafe source.unsafeLoadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
        scan.look(UInt64(first) | UInt64(last) << 32)
        unsafe room.storeBytes(of: first, toByteOffset: 1, as: UInt32.self)
        unsafe room.storeBytes(of: last, toByteOffset: count &- 3, as: UInt32.self)
      } else {
        for at in 0..<count {
          scan.look(PlainScan.blanks | UInt64(bytes[at]))
          unsafe room[at &+ 1] = bytes[at]
        }
      }
      unsafe room[count &+ 1] = 0x22
      return scan.isPlain ? count &+ 2 : 0
    }
    return (scan.isPlain, scan.isASCII)
  }

  private static func writeEscaped(_ cursor: JSONCursor, into output: inout ByteBuffer) -> Int? {
    let bytes = cursor.json
    if let bad = UTF8Validation.firstInvalid(bytes) { return bad }
    output.append(0x22)
    var start = 0
    while true {
      let end = cursor.plainRun(from: start).end
      output.append(bytes.extracting(start..<end))
      guard end < bytes.count else { break }
      escape(bytes[end], into: &output)
      start = end + 1
    }
    output.append(0x22)
    return nil
  }

  /// Appends the escape of a quote, a backslash or a control character.
  static func escape(_ byte: UInt8, into output: inout ByteBuffer) {
    output.append(0x5C)
    switch byte {
    case 0x22, 0x5C: output.append(byte)
    case 0x08: output.append(UInt8(ascii: "b"))
    case 0x0C: output.append(UInt8(ascii: "f"))
    case 0x0A: output.append(UInt8(ascii: "n"))
    case 0x0D: output.append(UInt8(ascii: "r"))
    case 0x09: output.append(UInt8(ascii: "t"))
    default:
      output.append("u00")
      output.append(byte < 0x10 ? 0x30 : 0x31)
      output.append((byte & 15) < 10 ? (byte & 15) &+ 48 : (byte & 15) &+ 87)
    }
  }
}
