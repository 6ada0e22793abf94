import Bytes

/// Times as loosely typed backends write them, read as UTC where they do not say their zone.
extension TimestampForm {
  /// Reads RFC 3339 with a blank or `t` for its `T`, `z` for its `Z`, an offset without colon or minutes, or without any
  /// zone; and a date alone, which is its midnight.
  static func parse(loose text: Span<UInt8>, at offset: Int) throws(Fault) -> Value {
    let text = text.extracting(first: Swift.min(text.count, longest))
    guard text.count >= 19 || text.count == 10 else { return try parse(text, at: offset) }
    let strict = completed(text)
    return try parse(strict.span, at: offset)
  }

  /// Date, time, nine digits of a fraction and an offset, and one byte more that makes a longer text wrong.
  private static let longest = 36

  /// The text with what RFC 3339 wants besides; one of other than 10 or at least 19 bytes is none.
  private static func completed(_ text: Span<UInt8>) -> ByteBuffer {
    var plain = ByteBuffer()
    plain.append(text.extracting(first: 10))
    guard text.count >= 19 else {
      plain.append("T00:00:00Z")
      return plain
    }
    let isMark = text[10] == UInt8(ascii: " ") || text[10] == UInt8(ascii: "t")
    plain.append(isMark ? UInt8(ascii: "T") : text[10])
    var zone = 19
    if zone < text.count, text[zone] == UInt8(ascii: ".") {
      zone &+= 1
      while zone < text.count, text[zone] &- 48 < 10 { zone &+= 1 }
    }
    plain.append(text.extracting(11..<zone))
    let rest = text.extracting(zone..<text.count)
    switch rest.count {
    case 0: plain.append(UInt8(ascii: "Z"))
    case 1 where rest[0] == UInt8(ascii: "z"): plain.append(UInt8(ascii: "Z"))
    case 3:
      plain.append(rest)
      plain.append(":00")
    case 5:
      plain.append(rest.extracting(first: 3))
      plain.append(UInt8(ascii: ":"))
      plain.append(rest.extracting(3..<5))
    default: plain.append(rest)
    }
    return plain
  }

  /// Appends a valid value as the profile has it, without quotes.
  static func write(_ value: Value, as form: JSONProfile.Timestamps, into output: inout ByteBuffer) {
    let start = output.count
    switch form {
    case .rfc3339: write(value, into: &output)
    case .unix: writeUnix(value, milliseconds: false, into: &output)
    case .unixMilliseconds: writeUnix(value, milliseconds: true, into: &output)
    case .rfc3339Milliseconds:
      write((value.seconds, 0), into: &output)
      output.truncate(to: output.count &- 1)
      output.append(UInt8(ascii: "."))
      output.append(padded: Int(value.nanos) / 1_000_000, width: 3)
      output.append(UInt8(ascii: "Z"))
    case .local, .sql:
      write(value, into: &output)
      output.truncate(to: output.count &- 1)
      if form == .sql { output[start &+ 10] = UInt8(ascii: " ") }
    }
  }
}
