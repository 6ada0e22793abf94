public import Bytes

/// Writes JSON strings (RFC 8259 section 7). DEL is escaped too, because answers and logs are read in terminals.
public enum JSONText {
  /// Appends the text in quotes; quotes, backslashes and control characters are escaped, all else is plain UTF-8.
  public static func append(_ text: String, into output: inout ByteBuffer) {
    output.append(UInt8(ascii: "\""))
    for byte in text.utf8 { append(byte, to: &output) }
    output.append(UInt8(ascii: "\""))
  }

  /// As ``append(_:into:)`` for bytes that may be no UTF-8: what is not ASCII is then escaped byte by byte as `\u00XX`.
  public static func append(bytes: Span<UInt8>, into output: inout ByteBuffer) {
    output.append(UInt8(ascii: "\""))
    let isText = UTF8Validation.isValid(bytes)
    for index in bytes.indices {
      let byte = bytes[index]
      if byte >= 0x80, !isText { escape(byte, to: &output) } else { append(byte, to: &output) }
    }
    output.append(UInt8(ascii: "\""))
  }

  /// Appends bytes that are known to be ASCII without quotes, backslashes or controls (field names, base64).
  static func append(plain bytes: Span<UInt8>, into output: inout ByteBuffer) {
    output.append(UInt8(ascii: "\""))
    output.append(bytes)
    output.append(UInt8(ascii: "\""))
  }

  private static func append(_ byte: UInt8, to output: inout ByteBuffer) {
    switch byte {
    case UInt8(ascii: "\""): output.append("\\\"")
    case UInt8(ascii: "\\"): output.append("\\\\")
    case 0x08: output.append("\\b")
    case 0x09: output.append("\\t")
    case 0x0A: output.append("\\n")
    case 0x0C: output.append("\\f")
    case 0x0D: output.append("\\r")
    case 0..<0x20, 0x7F: escape(byte, to: &output)
    default: output.append(byte)
    }
  }

  private static func escape(_ byte: UInt8, to output: inout ByteBuffer) {
    output.append("\\u00")
    for digit in [byte >> 4, byte & 15] { output.append(digit < 10 ? digit &+ 48 : digit &+ 87) }
  }
}
