/// Comma-separated field values (RFC 9110 section 5.6.1).
enum FieldList {
  /// Calls the body with each element without the whitespace around it, empty ones too.
  ///
  /// Commas in quoted strings are not told apart: the lists read here hold tokens only.
  static func forEach<E: Error>(
    _ value: Span<UInt8>, _ body: (Span<UInt8>) throws(E) -> Void
  ) throws(E) {
    var start = 0
    while start <= value.count {
      var end = start
      while end < value.count, value[end] != UInt8(ascii: ",") { end &+= 1 }
      var first = start
      var last = end
      while first < last, ByteScan.isWhitespace(value[first]) { first &+= 1 }
      while last > first, ByteScan.isWhitespace(value[last &- 1]) { last &-= 1 }
      try body(value.extracting(first..<last))
      start = end &+ 1
    }
  }
}
