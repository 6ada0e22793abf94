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
    // Years that begin in March put the leap day at their end; eras of 400 years repeat exactly.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }
}
