/// Base64 in both alphabets (RFC 4648 sections 4 and 5).
public enum Base64 {
  public enum Alphabet: Sendable {
    case standard
    case urlSafe
  }

  private static let standardDigits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  private static let urlSafeDigits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

  /// Appends the encoded form.
  public static func encode(
    _ bytes: Span<UInt8>, into output: inout ByteBuffer, alphabet: Alphabet = .standard, padded: Bool = true
  ) {
    let digits = unsafe alphabet == .standard ? standardDigits.utf8Start : urlSafeDigits.utf8Start
    output.reserve((bytes.count + 2) / 3 * 4)
    var index = 0
    while bytes.count &- index >= 3 {
      let word = UInt32(bytes[index]) << 16 | UInt32(bytes[index &+ 1]) << 8 | UInt32(bytes[index &+ 2])
      unsafe output.append(digits[Int(word >> 18)])
      unsafe output.append(digits[Int(word >> 12 & 63)])
      unsafe output.append(digits[Int(word >> 6 & 63)])
      unsafe output.append(digits[Int(word & 63)])
      index &+= 3
    }
    let rest = bytes.count - index
    guard rest > 0 else { return }
    let word = UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
    unsafe output.append(digits[Int(word >> 18)])
    unsafe output.append(digits[Int(word >> 12 & 63)])
    if rest == 2 { unsafe output.append(digits[Int(word >> 6 & 63)]) }
    if padded {
      output.append(UInt8(ascii: "="))
      if rest == 1 { output.append(UInt8(ascii: "=")) }
    }
  }

  @inline(__always)
  private static func value(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte &- 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte &- 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &+ 4
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: 255
    }
  }

  /// Appends the decoded bytes; takes either alphabet, padded or not.
  ///
  /// - Returns: false for a foreign byte, wrong padding, or a length that no encoding has; the output then holds what
  ///   was decoded so far.
  public static func decode(_ text: Span<UInt8>, into output: inout ByteBuffer) -> Bool {
    var count = text.count
    if count > 0, count % 4 == 0, text[count - 1] == UInt8(ascii: "=") {
      count -= text[count - 2] == UInt8(ascii: "=") ? 2 : 1
    }
    guard count % 4 != 1 else { return false }
    output.reserve(count / 4 * 3 + 3)
    var index = 0
    while count &- index >= 4 {
      let a = value(text[index])
      let b = value(text[index &+ 1])
      let c = value(text[index &+ 2])
      let d = value(text[index &+ 3])
      guard (a | b | c | d) < 64 else { return false }
      let word = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
      output.append(UInt8(truncatingIfNeeded: word >> 16))
      output.append(UInt8(truncatingIfNeeded: word >> 8))
      output.append(UInt8(truncatingIfNeeded: word))
      index &+= 4
    }
    let rest = count - index
    guard rest > 0 else { return true }
    let a = value(text[index])
    let b = value(text[index + 1])
    let c = rest == 3 ? value(text[index + 2]) : 0
    guard (a | b | c) < 64 else { return false }
    let word = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6
    output.append(UInt8(truncatingIfNeeded: word >> 16))
    if rest == 3 { output.append(UInt8(truncatingIfNeeded: word >> 8)) }
    return true
  }
}
