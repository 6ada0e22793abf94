import Bytes

/// `google.protobuf.Timestamp` as RFC 3339 text, and as Unix numbers of a legacy profile.
enum TimestampForm {
  typealias Value = (seconds: Int64, nanos: Int32)

  /// Seconds of 0001-01-01T00:00:00Z and of 9999-12-31T23:59:59Z.
  static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  /// Reads RFC 3339: upper-case T and Z, 0 to 9 fraction digits, any offset, years 1 to 9999.
  static func parse(_ text: Span<UInt8>, at offset: Int) throws(Fault) -> Value {
    func malformed() -> Fault { Fault(.type, at: offset, "a timestamp such as 2026-01-31T12:00:00Z expected") }
    guard text.count >= 20 else { throw malformed() }
    var digits = Digits(text)
    let year = digits.pair(0) &* 100 &+ digits.pair(2)
    let month = digits.pair(5)
    let day = digits.pair(8)
    let hour = digits.pair(11)
    let minute = digits.pair(14)
    let second = digits.pair(17)
    guard digits.areDigits, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[10] == UInt8(ascii: "T"),
      text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":")
    else { throw malformed() }
    guard month >= 1, month <= 12, day >= 1, day <= GregorianCalendar.daysIn(month: month, year: year), hour < 24,
      minute < 60, second < 60
    else { throw Fault(.range, at: offset, "a date and time of the calendar expected") }
    var index = 19
    var nanos = 0
    if index < text.count, text[index] == UInt8(ascii: ".") {
      guard let fraction = fraction(text, from: index + 1) else { throw malformed() }
      nanos = fraction.nanos
      index = fraction.end
    }
    var seconds = Int64(GregorianCalendar.days(year: year, month: month, day: day)) * 86_400
    seconds += Int64(hour * 3_600 + minute * 60 + second)
    guard index < text.count else { throw malformed() }
    switch text[index] {
    case UInt8(ascii: "Z"): index += 1
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      guard text.count - index == 6, text[index + 3] == UInt8(ascii: ":") else { throw malformed() }
      let hours = digits.pair(index + 1)
      let minutes = digits.pair(index + 4)
      guard digits.areDigits, hours < 24, minutes < 60 else { throw malformed() }
      let shift = Int64(hours * 3_600 + minutes * 60)
      seconds += text[index] == UInt8(ascii: "+") ? -shift : shift
      index += 6
    default: throw malformed()
    }
    guard index == text.count else { throw malformed() }
    guard range.contains(seconds) else {
      throw Fault(.range, at: offset, "a timestamp of the years 0001 to 9999 expected")
    }
    return (seconds, Int32(nanos))
  }

  /// One to nine digits as billionths; nil for none or more.
  static func fraction(_ text: Span<UInt8>, from start: Int) -> (nanos: Int, end: Int)? {
    var nanos = 0
    var index = start
    while index < text.count, text[index] &- 48 < 10 {
      guard index - start < 9 else { return nil }
      nanos = nanos * 10 + Int(text[index] &- 48)
      index += 1
    }
    guard index > start else { return nil }
    for _ in (index - start)..<9 { nanos *= 10 }
    return (nanos, index)
  }

  /// A Unix number: seconds or milliseconds since 1970.
  static func value(_ number: Decimal, milliseconds: Bool, at offset: Int) throws(Fault) -> Value {
    let outside = Fault(.range, at: offset, "a timestamp of the years 0001 to 9999 expected")
    switch number.whole(scaledBy: milliseconds ? 6 : 9, limit: 1_000_000_000_000_000_000_000) {
    case .fraction: throw Fault(.range, at: offset, "a time in whole nanoseconds expected")
    case .tooLarge: throw outside
    case .value(let magnitude):
      let nanos = number.isNegative ? -Int128(magnitude) : Int128(magnitude)
      return try value(nanoseconds: nanos, outside)
    }
  }

  private static func value(nanoseconds: Int128, _ outside: Fault) throws(Fault) -> Value {
    var (seconds, nanos) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    if nanos < 0 {
      nanos += 1_000_000_000
      seconds -= 1
    }
    guard seconds >= Int128(range.lowerBound), seconds <= Int128(range.upperBound) else {
      throw outside
    }
    return (Int64(seconds), Int32(nanos))
  }

  /// Whether it is within the years 1 to 9999 with 0 to 999 999 999 nanoseconds.
  static func isValid(_ value: Value) -> Bool {
    range.contains(value.seconds) && value.nanos >= 0 && value.nanos < 1_000_000_000
  }

  /// Appends RFC 3339 text of a valid value, in UTC with 0, 3, 6 or 9 fraction digits.
  static func write(_ value: Value, into output: inout ByteBuffer) {
    let (days, second) = divide(value.seconds)
    let date = GregorianCalendar.date(days: days)
    unsafe output.appendWithUnsafeRoom(19) { room in
      func put(_ pair: Int, _ mark: UInt8, at index: Int) {
        let tens = UInt8(truncatingIfNeeded: pair / 10)
        unsafe room[index] = tens &+ 48
        unsafe room[index &+ 1] = UInt8(truncatingIfNeeded: pair) &- tens &* 10 &+ 48
        if mark != 0 { unsafe room[index &+ 2] = mark }
      }
      put(date.year / 100, 0, at: 0)
      put(date.year % 100, UInt8(ascii: "-"), at: 2)
      put(date.month, UInt8(ascii: "-"), at: 5)
      put(date.day, UInt8(ascii: "T"), at: 8)
      put(second / 3_600, UInt8(ascii: ":"), at: 11)
      put(second / 60 % 60, UInt8(ascii: ":"), at: 14)
      put(second % 60, 0, at: 17)
      return 19
    }
    writeFraction(Int(value.nanos), into: &output)
    output.append(UInt8(ascii: "Z"))
  }

  private static func divide(_ seconds: Int64) -> (days: Int, second: Int) {
    var days = Int(seconds / 86_400)
    var second = Int(seconds % 86_400)
    if second < 0 {
      second += 86_400
      days -= 1
    }
    return (days, second)
  }

  /// Appends `.` and 3, 6 or 9 digits; nothing for 0.
  static func writeFraction(_ nanos: Int, into output: inout ByteBuffer) {
    guard nanos != 0 else { return }
    output.append(UInt8(ascii: "."))
    if nanos % 1_000_000 == 0 {
      output.append(padded: nanos / 1_000_000, width: 3)
    } else if nanos % 1_000 == 0 {
      output.append(padded: nanos / 1_000, width: 6)
    } else {
      output.append(padded: nanos, width: 9)
    }
  }

  /// Appends a valid value as a Unix number, with the shortest fraction that is exact.
  static func writeUnix(_ value: Value, milliseconds: Bool, into output: inout ByteBuffer) {
    var seconds = value.seconds
    var nanos = Int64(value.nanos)
    if seconds < 0 && nanos > 0 {
      seconds += 1
      nanos -= 1_000_000_000
    }
    if seconds < 0 || nanos < 0 { output.append(UInt8(ascii: "-")) }
    let unit: Int64 = milliseconds ? 1_000_000 : 1_000_000_000
    output.append(decimal: milliseconds ? seconds.magnitude * 1_000 + nanos.magnitude / 1_000_000 : seconds.magnitude)
    var fraction = Int(nanos.magnitude) % Int(unit)
    guard fraction != 0 else { return }
    var width = milliseconds ? 6 : 9
    while fraction % 10 == 0 {
      fraction /= 10
      width -= 1
    }
    output.append(UInt8(ascii: "."))
    output.append(padded: fraction, width: width)
  }
}

/// Pairs of digits at known places; what is no digit is noted and found at the end.
private struct Digits: ~Escapable {
  private let text: Span<UInt8>
  private(set) var areDigits = true

  @_lifetime(copy text)
  init(_ text: Span<UInt8>) {
    self.text = text
  }

  @inline(__always)
  mutating func pair(_ index: Int) -> Int {
    let tens = text[index] &- 48
    let ones = text[index &+ 1] &- 48
    if tens > 9 || ones > 9 { areDigits = false }
    return Int(tens) &* 10 &+ Int(ones)
  }
}
