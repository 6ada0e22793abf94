public import Bytes

/// `host [ ":" port ]`, of a Host field or an absolute form (RFC 3986 section 3.2, RFC 9110 section 7.2).
///
/// Narrower than the grammar, because nothing that is left out names a machine: no user information, no escapes, none
/// of the marks that separate things elsewhere, no empty host.
public enum Authority {
  /// Appends the authority in lower case, without the colon of an empty port; false when it is malformed.
  public static func append(_ text: Span<UInt8>, to output: inout ByteBuffer) -> Bool {
    guard let hostEnd = endOfHost(text) else { return false }
    var end = text.count
    if hostEnd < end {
      guard text[hostEnd] == UInt8(ascii: ":") else { return false }
      if hostEnd &+ 1 == end {
        end = hostEnd
      } else {
        let port = text.extracting(hostEnd &+ 1..<end)
        guard port.count <= 5, let number = ASCII.decimal(port), number <= 65_535 else { return false }
      }
    }
    output.reserve(end)
    for index in 0..<end { output.append(ASCII.lowercased(text[index])) }
    return true
  }

  private static func endOfHost(_ text: Span<UInt8>) -> Int? {
    guard text.count > 0 else { return nil }
    var index = 0
    if text[0] == UInt8(ascii: "[") {
      index = 1
      while index < text.count, isAddressByte(text[index]) { index &+= 1 }
      guard index > 2, index < text.count, text[index] == UInt8(ascii: "]") else { return nil }
      return index &+ 1
    }
    while index < text.count, isNameByte(text[index]) { index &+= 1 }
    return index > 0 ? index : nil
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    ASCII.hexadecimalValue(byte) != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
  }
}
