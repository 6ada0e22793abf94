package import Bytes

/// Writes JSON strings (RFC 8259 section 7).
package enum JSONText {
  /// Appends the text in quotes; quotes, backslashes and control characters are escaped, all else is plain UTF-8.
  package static func append(_ text: String, into output: inout ByteBuffer) {
    output.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): output.append("\\\"")
      case UInt8(ascii: "\\"): output.append("\\\\")
      case 0x08: output.append("\\b")
      case 0x09: output.append("\\t")
      case 0x0A: output.append("\\n")
      case 0x0C: output.append("\\f")
      case 0x0D: output.append("\\r")
      case 0..<0x20, 0x7F:
        output.append("\\u00")
        output.append(48 &+ byte >> 4)
        let low = byte & 15
        output.append(low < 10 ? low &+ 48 : low &+ 87)
      default: output.append(byte)
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  /// Appends bytes that are known to be ASCII without quotes, backslashes or controls (field names, base64).
  static func append(plain bytes: Span<UInt8>, into output: inout ByteBuffer) {
    output.append(UInt8(ascii: "\""))
    output.append(bytes)
    output.append(UInt8(ascii: "\""))
  }
}
