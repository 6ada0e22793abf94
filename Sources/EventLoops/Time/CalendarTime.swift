import Bytes

/// A time of day in the proleptic Gregorian calendar, UTC.
struct CalendarTime {
  var year: Int
  /// 1 to 12.
  var month: Int
  /// 1 to 31.
  var day: Int
  /// 0 is Sunday.
  var weekday: Int
  var hour: Int
  var minute: Int
  var second: Int

  /// Years from 0 to 9999, the range in which the text forms have four digits; other times are clamped to it.
  private static let range = -62_167_219_200...253_402_300_799

  init(_ time: WallTime) {
    let seconds = Swift.min(Swift.max(Int(time.seconds), Self.range.lowerBound), Self.range.upperBound)
    var days = seconds / 86_400
    var rest = seconds % 86_400
    if rest < 0 {
      rest += 86_400
      days -= 1
    }
    hour = rest / 3_600
    minute = rest / 60 % 60
    second = rest % 60
    weekday = ((days + 4) % 7 + 7) % 7
    (year, month, day) = GregorianCalendar.date(days: days)
  }
}
