import Bytes

/// What may stand in field names and values (RFC 9110 section 5).
public enum FieldSyntax {
  /// Whether a byte is a token character (RFC 9110 section 5.6.2): a bit for each ASCII byte, in two words.
  @inlinable
  public static func isTokenByte(_ byte: UInt8) -> Bool {
    if byte < 64 { return 0x03FF_6CFA_0000_0000 >> UInt64(byte) & 1 != 0 }
    if byte < 128 { return 0x57FF_FFFF_C7FF_FFFE >> UInt64(byte & 63) & 1 != 0 }
    return false
  }

  /// Whether a byte is a token character and no capital: what a field name in HTTP/2 is made of (RFC 9113 section 8.2.1).
  @inlinable
  public static func isLowerCaseTokenByte(_ byte: UInt8) -> Bool {
    // As above, without the bits of `A` to `Z`.
    let bits: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C000_0000
    return byte < 128 && bits >> UInt64(byte & 63) & 1 != 0
  }

  /// Whether these bytes are a token: a method, a field name.
  public static func isToken(_ bytes: Span<UInt8>) -> Bool {
    guard !bytes.isEmpty else { return false }
    for index in bytes.indices where !isTokenByte(bytes[index]) { return false }
    return true
  }

  /// Whether a byte may stand in a field value: anything but NUL, CR, LF and the other controls; tab may.
  @inlinable
  public static func isValueByte(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }

  public static func isValue(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices where !isValueByte(bytes[index]) { return false }
    return true
  }
}
