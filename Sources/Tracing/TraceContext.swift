package import Bytes

/// Names one trace, and one span in it (W3C Trace Context, level 1).
package struct TraceContext: Sendable, Equatable {
  /// The two halves of the 16 bytes; not both 0.
  package var traceHigh: UInt64
  package var traceLow: UInt64
  /// Not 0.
  package var span: UInt64
  /// Whether whoever made it records the trace.
  package var isSampled: Bool

  package init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, isSampled: Bool) {
    self.traceHigh = traceHigh
    self.traceLow = traceLow
    self.span = span
    self.isSampled = isSampled
  }

  /// Bytes of version 00.
  private static let length = 55

  /// Reads a `traceparent`: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
  ///
  /// A later version may have more behind a hyphen. Nil for anything else: capitals, zeros, the version ff.
  package init?(traceparent text: Span<UInt8>) {
    let hyphen = UInt8(ascii: "-")
    guard text.count >= Self.length, text[2] == hyphen, text[35] == hyphen, text[52] == hyphen,
      let version = Self.number(text, 0..<2), version != 0xFF,
      let high = Self.number(text, 3..<19), let low = Self.number(text, 19..<35), high != 0 || low != 0,
      let span = Self.number(text, 36..<52), span != 0, let flags = Self.number(text, 53..<55)
    else { return nil }
    guard text.count == Self.length || version > 0 && text[Self.length] == hyphen else { return nil }
    traceHigh = high
    traceLow = low
    self.span = span
    isSampled = flags & 1 == 1
  }

  private static func number(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
    var value: UInt64 = 0
    for index in range {
      let byte = text[index]
      guard ASCII.isDigit(byte) || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f") else { return nil }
      value = value << 4 | UInt64(byte <= UInt8(ascii: "9") ? byte - 48 : byte - 87)
    }
    return value
  }

  /// Appends the `traceparent`, in version 00.
  package func write(into output: inout ByteBuffer) {
    output.append("00-")
    Self.append(traceHigh, to: &output)
    Self.append(traceLow, to: &output)
    output.append("-")
    Self.append(span, to: &output)
    if isSampled { output.append("-01") } else { output.append("-00") }
  }

  /// 32 hexadecimal digits.
  package func writeTrace(into output: inout ByteBuffer) {
    Self.append(traceHigh, to: &output)
    Self.append(traceLow, to: &output)
  }

  /// Appends 16 hexadecimal digits.
  package static func append(_ value: UInt64, to output: inout ByteBuffer) {
    for shift in stride(from: 60, through: 0, by: -4) {
      let nibble = UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 0xF
      output.append(nibble < 10 ? nibble + 48 : nibble + 87)
    }
  }
}

/// What vendors add to a trace (`tracestate`).
package enum TraceState {
  private static let mostMembers = 32
  private static let longest = 1024

  /// Whether a value may be passed on: members of key and value, none with characters that no list has.
  ///
  /// - Parameter members: those of the fields before; counted on.
  package static func isAcceptable(_ value: Span<UInt8>, members: inout Int) -> Bool {
    guard value.count <= longest else { return false }
    var start = 0
    while start < value.count {
      var end = start
      while end < value.count, value[end] != UInt8(ascii: ",") { end += 1 }
      let isEmpty = isBlank(value, start..<end)
      if !isEmpty {
        members += 1
        guard members <= mostMembers, isMember(value, start..<end) else { return false }
      }
      start = end + 1
    }
    return true
  }

  private static func isBlank(_ value: Span<UInt8>, _ range: Range<Int>) -> Bool {
    for index in range where value[index] != 0x20 && value[index] != 0x09 { return false }
    return true
  }

  private static func isMember(_ value: Span<UInt8>, _ range: Range<Int>) -> Bool {
    var equals: Int?
    for index in range {
      let byte = value[index]
      guard byte >= 0x20 && byte < 0x7F || byte == 0x09 else { return false }
      if byte == UInt8(ascii: "="), equals == nil { equals = index }
    }
    guard let equals else { return false }
    return equals > range.lowerBound && equals + 1 < range.upperBound
  }
}
