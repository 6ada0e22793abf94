import Bytes

/// Elements of a field value that is a list (RFC 9110 section 5.6.1).
public enum HeaderList {
  /// Calls the body with each element without the blanks around it, empty ones too.
  ///
  /// - Parameter quoted: whether elements may have quoted strings, in which a comma separates nothing. Lists of tokens
  ///   have none: a quote is a byte like any other there, so that no element hides behind one.
  @inlinable
  public static func forEach<E: Error>(
    _ value: Span<UInt8>, quoted: Bool = false, _ body: (Span<UInt8>) throws(E) -> Void
  ) throws(E) {
    var start = 0
    while start <= value.count {
      var end = start
      if quoted {
        end = Self.end(of: value, from: start, separator: UInt8(ascii: ","))
      } else {
        while end < value.count, value[end] != UInt8(ascii: ",") { end &+= 1 }
      }
      try body(trimmed(value.extracting(start..<end)))
      start = end &+ 1
    }
  }

  /// Whether a list has a word, without regard to case.
  public static func has(_ word: StaticString, in value: Span<UInt8>) -> Bool {
    var found = false
    forEach(value) { if ASCII.equalIgnoringCase($0, word) { found = true } }
    return found
  }

  /// Where an element ends: at the next separator outside quoted strings, or at the end of the value.
  public static func end(of value: Span<UInt8>, from start: Int, separator: UInt8) -> Int {
    var index = start
    var isQuoted = false
    while index < value.count {
      let byte = value[index]
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if isQuoted, byte == UInt8(ascii: "\\") { index &+= 1 }
      if !isQuoted, byte == separator { return index }
      index &+= 1
    }
    return value.count
  }

  /// Without the blanks around it.
  @inlinable
  @_lifetime(copy text)
  public static func trimmed(_ text: Span<UInt8>) -> Span<UInt8> {
    var start = 0
    var end = text.count
    while start < end, text[start] == 0x20 || text[start] == 0x09 { start &+= 1 }
    while end > start, text[end &- 1] == 0x20 || text[end &- 1] == 0x09 { end &-= 1 }
    return text.extracting(start..<end)
  }
}
