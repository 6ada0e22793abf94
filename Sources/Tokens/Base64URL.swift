import Bytes

/// Base64url as JOSE has it (RFC 7515 section 2): that alphabet, no padding, no other spelling of the same bytes.
enum Base64URL {
  /// - Returns: nil for anything but the one spelling.
  static func decode(_ text: Span<UInt8>) -> [UInt8]? {
    var decoded = ByteBuffer()
    guard Base64.decode(text, into: &decoded) else { return nil }
    // Two texts of one token would be two tokens for whoever revokes or caches them.
    var again = ByteBuffer()
    Base64.encode(decoded.span, into: &again, alphabet: .urlSafe, padded: false)
    return ASCII.equal(again.span, text) ? decoded.bytes : nil
  }

  static func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8).span) }
}
