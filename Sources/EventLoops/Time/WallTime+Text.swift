public import Bytes

extension WallTime {
  /// Appends the date of HTTP (RFC 9110 section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, 29 bytes.
  public func appendHTTPDate(to output: inout ByteBuffer) {
    let time = CalendarTime(self)
    output.append(weekdayName(time.weekday))
    output.append(", ")
    output.append(time.day, digits: 2)
    output.append(monthName(time.month))
    output.append(time.year, digits: 4)
    output.append(UInt8(ascii: " "))
    output.appendClock(time)
    output.append(" GMT")
  }

  /// Appends the time as RFC 3339 with milliseconds: `1994-11-06T08:49:37.125Z`, 24 bytes.
  public func appendRFC3339(to output: inout ByteBuffer) {
    let time = CalendarTime(self)
    output.append(time.year, digits: 4)
    output.append(UInt8(ascii: "-"))
    output.append(time.month, digits: 2)
    output.append(UInt8(ascii: "-"))
    output.append(time.day, digits: 2)
    output.append(UInt8(ascii: "T"))
    output.appendClock(time)
    output.append(UInt8(ascii: "."))
    output.append(Int(nanoseconds / 1_000_000), digits: 3)
    output.append(UInt8(ascii: "Z"))
  }

  /// As ``appendRFC3339(to:)``.
  public var text: String {
    var output = ByteBuffer()
    appendRFC3339(to: &output)
    return output.withSpan { String(repairing: $0) }
  }

  private func weekdayName(_ weekday: Int) -> StaticString {
    switch weekday {
    case 0: "Sun"
    case 1: "Mon"
    case 2: "Tue"
    case 3: "Wed"
    case 4: "Thu"
    case 5: "Fri"
    default: "Sat"
    }
  }

  private func monthName(_ month: Int) -> StaticString {
    switch month {
    case 1: " Jan "
    case 2: " Feb "
    case 3: " Mar "
    case 4: " Apr "
    case 5: " May "
    case 6: " Jun "
    case 7: " Jul "
    case 8: " Aug "
    case 9: " Sep "
    case 10: " Oct "
    case 11: " Nov "
    default: " Dec "
    }
  }
}

extension ByteBuffer {
  fileprivate mutating func appendClock(_ time: CalendarTime) {
    append(time.hour, digits: 2)
    append(UInt8(ascii: ":"))
    append(time.minute, digits: 2)
    append(UInt8(ascii: ":"))
    append(time.second, digits: 2)
  }

  /// The lowest digits of a number, with leading zeros.
  fileprivate mutating func append(_ value: Int, digits: Int) {
    var unit = 1
    for _ in 1..<digits { unit *= 10 }
    while unit > 0 {
      append(UInt8(truncatingIfNeeded: value / unit % 10) &+ 48)
      unit /= 10
    }
  }
}

/// The text of the `Date` field, made anew once per second.
public struct HTTPDateCache: ~Copyable {
  private var second = Int64.min
  private var text = ByteBuffer(minimumCapacity: 32)

  public init() {}

  /// Appends the date, 29 bytes.
  public mutating func append(_ time: WallTime, to output: inout ByteBuffer) {
    if time.seconds != second {
      second = time.seconds
      text.removeAll()
      time.appendHTTPDate(to: &text)
    }
    output.append(text)
  }
}
