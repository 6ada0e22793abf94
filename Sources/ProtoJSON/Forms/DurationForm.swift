import Bytes

/// `google.protobuf.Duration` as text: `1.5s`.
enum DurationForm {
  typealias Value = (seconds: Int64, nanos: Int32)

  static let maximumSeconds: Int64 = 315_576_000_000

  static func parse(_ text: Span<UInt8>, at offset: Int) throws(Fault) -> Value {
    let malformed = Fault(.type, at: offset, "a duration such as 1.5s expected")
    var index = 0
    let isNegative = !text.isEmpty && text[0] == UInt8(ascii: "-")
    if isNegative { index = 1 }
    let first = index
    var seconds: Int64 = 0
    while index < text.count, text[index] &- 48 < 10 {
      guard index - first < 15 else { throw Fault(.range, at: offset, "a duration of at most 10000 years expected") }
      seconds = seconds * 10 + Int64(text[index] &- 48)
      index += 1
    }
    guard index > first else { throw malformed }
    var nanos = 0
    if index < text.count, text[index] == UInt8(ascii: ".") {
      guard let fraction = TimestampForm.fraction(text, from: index + 1) else { throw malformed }
      nanos = fraction.nanos
      index = fraction.end
    }
    guard text.count - index == 1, text[index] == UInt8(ascii: "s") else { throw malformed }
    // The bound is on the seconds alone (duration.proto).
    guard seconds <= maximumSeconds else {
      throw Fault(.range, at: offset, "a duration of at most 10000 years expected")
    }
    return isNegative ? (-seconds, Int32(-nanos)) : (seconds, Int32(nanos))
  }

  /// Whether it is within 10 000 years, and seconds and nanoseconds do not differ in sign.
  static func isValid(_ value: Value) -> Bool {
    guard value.seconds.magnitude <= maximumSeconds.magnitude, value.nanos.magnitude < 1_000_000_000 else {
      return false
    }
    return value.seconds == 0 || value.nanos == 0 || (value.seconds < 0) == (value.nanos < 0)
  }

  /// Appends the text of a valid value.
  static func write(_ value: Value, into output: inout ByteBuffer) {
    if value.seconds < 0 || value.nanos < 0 { output.append(UInt8(ascii: "-")) }
    output.append(decimal: value.seconds.magnitude)
    TimestampForm.writeFraction(Int(value.nanos.magnitude), into: &output)
    output.append(UInt8(ascii: "s"))
  }
}
