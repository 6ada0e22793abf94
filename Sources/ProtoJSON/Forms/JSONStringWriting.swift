import Bytes

/// JSON strings out.
enum JSONStringWriting {
  /// Appends bytes as a quoted JSON string.
  ///
  /// - Returns: the offset of the first byte that is not UTF-8, nil when all is well.
  @discardableResult
  @inline(__always)
  static func write(_ bytes: Span<UInt8>, into output: inout ByteBuffer) -> Int? {
    var scan = PlainScan()
    unsafe output.appendWithUnsafeRoom(bytes.count &+ 2) { room in
      unsafe copy(bytes, to: room, at: 0, &scan)
      return scan.isPlain ? bytes.count &+ 2 : 0
    }
    return finish(scan, bytes, into: &output)
  }

  /// The same behind the name of a member, so that there is one look for room. The name is a part of a text with 32
  /// bytes behind it that can be read.
  @inline(__always)
  static func write(
    _ bytes: Span<UInt8>, after text: Span<UInt8>, _ offset: Int, _ length: Int, into output: inout ByteBuffer
  ) -> Int? {
    guard length <= 32 else {
      output.append(pooled: text, offset, length)
      return write(bytes, into: &output)
    }
    var scan = PlainScan()
    unsafe output.appendWithUnsafeRoom(bytes.count &+ 34) { room in
      unsafe ByteBuffer.copy(pooled: text, offset, length, to: room)
      unsafe copy(bytes, to: room, at: length, &scan)
      return scan.isPlain ? length &+ bytes.count &+ 2 : length
    }
    return finish(scan, bytes, into: &output)
  }

  /// Appends `"key":"value"` with one look for room.
  ///
  /// - Returns: false when one of them cannot stand there as it is; then nothing was written.
  @inline(__always)
  static func writePair(_ key: Span<UInt8>, _ value: Span<UInt8>, into output: inout ByteBuffer) -> Bool {
    let before = output.count
    let length = key.count &+ value.count &+ 5
    var (first, second) = (PlainScan(), PlainScan())
    unsafe output.appendWithUnsafeRoom(length) { room in
      unsafe copy(key, to: room, at: 0, &first)
      unsafe room[key.count &+ 2] = UInt8(ascii: ":")
      unsafe copy(value, to: room, at: key.count &+ 3, &second)
      return first.isPlain && second.isPlain ? length : 0
    }
    guard first.isPlain, second.isPlain else { return false }
    if first.isASCII || UTF8Validation.isValid(key), second.isASCII || UTF8Validation.isValid(value) { return true }
    output.truncate(to: before)
    return false
  }

  /// What is left to do once the bytes are copied, or were not because they are not plain.
  @inline(__always)
  private static func finish(_ scan: PlainScan, _ bytes: Span<UInt8>, into output: inout ByteBuffer) -> Int? {
    if !scan.isPlain { return writeEscaped(JSONCursor(bytes, maximumDepth: 0), into: &output) }
    return scan.isASCII ? nil : UTF8Validation.firstInvalid(bytes)
  }

  /// Copies bytes between quotes in whole blocks, looking at each block on its way; there is room for them.
  ///
  /// The last block overlaps the one before, so that nothing is left over.
  @inline(__always)
  private static func copy(
    _ bytes: Span<UInt8>, to room: UnsafeMutableRawBufferPointer, at start: Int, _ scan: inout PlainScan
  ) {
    let count = bytes.count
    let source = unsafe bytes.bytes
    unsafe room[start] = 0x22
    let target = start &+ 1
    if count >= 16 {
      var at = 0
      while count &- at > 16 {
        let block = unsafe source.unsafeLoadUnaligned(fromByteOffset: at, as: SIMD16<UInt8>.self)
        scan.look(block)
        unsafe room.storeBytes(of: block, toByteOffset: target &+ at, as: SIMD16<UInt8>.self)
        at &+= 16
      }
      let block = unsafe source.unsafeLoadUnaligned(fromByteOffset: count &- 16, as: SIMD16<UInt8>.self)
      scan.look(block)
      unsafe room.storeBytes(of: block, toByteOffset: target &+ count &- 16, as: SIMD16<UInt8>.self)
    } else if count >= 8 {
      let first = unsafe source.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
      let last = unsafe source.unsafeLoadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      scan.look(first, last)
      unsafe room.storeBytes(of: first, toByteOffset: target, as: UInt64.self)
      unsafe room.storeBytes(of: last, toByteOffset: target &+ count &- 8, as: UInt64.self)
    } else if count >= 4 {
      let first = unsafe source.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let last = unsafe source.unsafeLoadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      scan.look(UInt64(first) | UInt64(last) << 32, PlainScan.blanks)
      unsafe room.storeBytes(of: first, toByteOffset: target, as: UInt32.self)
      unsafe room.storeBytes(of: last, toByteOffset: target &+ count &- 4, as: UInt32.self)
    } else if count > 0 {
      // Of three bytes at most, each is the first, the last, or the one between.
      let (first, middle, last) = (bytes[0], bytes[count &>> 1], bytes[count &- 1])
      let word = UInt64(first) | UInt64(middle) << 8 | UInt64(last) << 16
      scan.look(word | PlainScan.blanks << 24, PlainScan.blanks)
      unsafe room[target] = first
      unsafe room[target &+ count &>> 1] = middle
      unsafe room[target &+ count &- 1] = last
    }
    unsafe room[target &+ count] = 0x22
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
