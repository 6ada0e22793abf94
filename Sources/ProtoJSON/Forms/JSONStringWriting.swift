import Bytes

/// JSON strings out.
enum JSONStringWriting {
  /// Appends bytes as a quoted JSON string.
  ///
  /// - Returns: the offset of the first byte that is not UTF-8, nil when all is well.
  @discardableResult
  @inline(__always)
  static func write(_ bytes: Span<UInt8>, into output: inout ByteBuffer) -> Int? {
    output.append(0x22)
    let cursor = JSONCursor(bytes, maximumDepth: 0)
    let run = cursor.plainRun(from: 0)
    if run.end == bytes.count {
      if !run.isASCII, let bad = UTF8Validation.firstInvalid(bytes) { return bad }
      output.append(bytes)
      output.append(0x22)
      return nil
    }
    return writeEscaped(cursor, into: &output)
  }

  private static func writeEscaped(_ cursor: JSONCursor, into output: inout ByteBuffer) -> Int? {
    let bytes = cursor.json
    if let bad = UTF8Validation.firstInvalid(bytes) { return bad }
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
