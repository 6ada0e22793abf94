/// Percent-encoding of URIs (RFC 3986 section 2.1).
public enum PercentCoding {
  /// What is not an escape on the way in.
  public enum Decoding: Sendable {
    /// Every escape is decoded, `+` is itself (a path segment).
    case segment
    /// As `segment`, but `%2F` stays as it was typed (a capture of several segments).
    case segments
    /// Every escape is decoded, `+` is a blank (query names and values).
    case query
  }

  /// Appends the decoded bytes.
  ///
  /// - Returns: the offset of a malformed escape, nil when all was well.
  public static func decode(
    _ text: Span<UInt8>, as decoding: Decoding, into output: inout ByteBuffer
  ) -> Int? {
    output.reserve(text.count)
    var index = 0
    while index < text.count {
      let byte = text[index]
      switch byte {
      case UInt8(ascii: "%"):
        guard text.count &- index >= 3, let high = ASCII.hexadecimalValue(text[index &+ 1]),
          let low = ASCII.hexadecimalValue(text[index &+ 2])
        else { return index }
        let decoded = high << 4 | low
        if decoding == .segments, decoded == UInt8(ascii: "/") {
          output.append(byte)
          output.append(text[index &+ 1])
          output.append(text[index &+ 2])
        } else {
          output.append(decoded)
        }
        index &+= 3
      case UInt8(ascii: "+") where decoding == .query:
        output.append(UInt8(ascii: " "))
        index &+= 1
      default:
        output.append(byte)
        index &+= 1
      }
    }
    return nil
  }

  /// Whether no decoding changes the text: it has neither an escape nor a `+`.
  public static func isLiteral(_ text: Span<UInt8>) -> Bool {
    for index in text.indices where text[index] == UInt8(ascii: "%") || text[index] == UInt8(ascii: "+") {
      return false
    }
    return true
  }

  /// Whether a byte needs no escape anywhere in a URI (RFC 3986 section 2.3).
  @inlinable
  public static func isUnreserved(_ byte: UInt8) -> Bool {
    ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
  }

  /// Appends the bytes with all but the unreserved ones escaped.
  ///
  /// - Parameter keepingSlashes: leaves `/`, and an existing `%2F`, as they are (a capture of several segments).
  public static func encode(
    _ bytes: Span<UInt8>, into output: inout ByteBuffer, keepingSlashes: Bool = false
  ) {
    for index in bytes.indices {
      let byte = bytes[index]
      if isUnreserved(byte) || (keepingSlashes && (byte == UInt8(ascii: "/") || isEscapedSlash(bytes, at: index))) {
        output.append(byte)
      } else {
        output.append(UInt8(ascii: "%"))
        output.append(hexadecimalDigit(byte >> 4))
        output.append(hexadecimalDigit(byte & 15))
      }
    }
  }

  private static func isEscapedSlash(_ bytes: Span<UInt8>, at index: Int) -> Bool {
    bytes[index] == UInt8(ascii: "%") && bytes.count - index >= 3 && bytes[index + 1] == UInt8(ascii: "2")
      && bytes[index + 2] | 0x20 == UInt8(ascii: "f")
  }

  @inline(__always)
  private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? value &+ 48 : value &+ 55
  }
}
