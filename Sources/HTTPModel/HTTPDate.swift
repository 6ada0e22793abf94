import Bytes

/// Dates in fields (RFC 9110 section 5.6.7). One form is written, three are read:
///
///     Sun, 06 Nov 1994 08:49:37 GMT
///     Sunday, 06-Nov-94 08:49:37 GMT
///     Sun Nov  6 08:49:37 1994
public enum HTTPDate {
  /// Reads a date in any of the three forms.
  ///
  /// The day of the week has to be one, but not the right one: nothing hangs on it. A second of 60 counts as 59, as
  /// clocks that know of leap seconds write it.
  ///
  /// - Parameter now: seconds since 1970. A year of two digits that would be more than 50 years away is in the past.
  /// - Returns: seconds since 1970; nil for what is no date.
  public static func read(_ text: Span<UInt8>, now: Int64) -> Int64? {
    var reader = Reader(text)
    guard let weekday = reader.word() else { return nil }
    let isShort = shortWeekdays.contains(weekday)
    guard isShort || longWeekdays.contains(weekday) else { return nil }
    if isShort, reader.takes(" ") { return readASCTime(&reader) }
    guard reader.takes(","), reader.takes(" "), let day = reader.number(2) else { return nil }
    let separator: StaticString = isShort ? " " : "-"
    guard reader.takes(separator), let month = reader.month(), reader.takes(separator),
      var year = reader.number(isShort ? 4 : 2)
    else { return nil }
    guard reader.takes(" "), let clock = reader.clock(), reader.takes(" "), reader.takes("GMT"), reader.isAtEnd else {
      return nil
    }
    if !isShort { year = fullYear(year, now: now) }
    return seconds(year, month, day, clock)
  }

  private static func readASCTime(_ reader: inout Reader) -> Int64? {
    guard let month = reader.month(), reader.takes(" ") else { return nil }
    let day = reader.takes(" ") ? reader.number(1) : reader.number(2)
    guard let day, reader.takes(" "), let clock = reader.clock(), reader.takes(" "), let year = reader.number(4),
      reader.isAtEnd
    else { return nil }
    return seconds(year, month, day, clock)
  }

  private static let shortWeekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let longWeekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
  fileprivate static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func fullYear(_ digits: Int, now: Int64) -> Int {
    let present = GregorianCalendar.date(days: Int(clamping: now / 86_400)).year
    let year = present - present % 100 + digits
    // The same two digits of the next century can be meant near its turn.
    if year > present + 50 { return year - 100 }
    return year + 100 <= present + 50 ? year + 100 : year
  }

  private static func seconds(_ year: Int, _ month: Int, _ day: Int, _ clock: Int) -> Int64? {
    guard day >= 1, day <= GregorianCalendar.daysIn(month: month, year: year) else { return nil }
    return Int64(GregorianCalendar.days(year: year, month: month, day: day)) * 86_400 + Int64(clock)
  }

  /// Takes a text apart from its left.
  private struct Reader: ~Escapable {
    private let text: Span<UInt8>
    private var at = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { self.text = text }

    var isAtEnd: Bool { at == text.count }

    @_lifetime(self: copy self)
    mutating func takes(_ part: StaticString) -> Bool {
      let count = part.utf8CodeUnitCount
      guard at + count <= text.count, ASCII.equal(text.extracting(at..<at + count), part) else { return false }
      at += count
      return true
    }

    /// Letters; nil without any.
    @_lifetime(self: copy self)
    mutating func word() -> String? {
      let start = at
      while at < text.count, at - start < 10, ASCII.lowercased(text[at]) &- 97 < 26 { at += 1 }
      if at == start { return nil }
      var word = ""
      for index in start..<at { word.unicodeScalars.append(Unicode.Scalar(text[index])) }
      return word
    }

    /// 1 to 12.
    @_lifetime(self: copy self)
    mutating func month() -> Int? {
      word().flatMap { HTTPDate.months.firstIndex(of: $0) }.map { $0 + 1 }
    }

    /// So many digits.
    @_lifetime(self: copy self)
    mutating func number(_ digits: Int) -> Int? {
      guard at + digits <= text.count else { return nil }
      var value = 0
      for index in at..<at + digits {
        guard ASCII.isDigit(text[index]) else { return nil }
        value = value * 10 + Int(text[index] &- 48)
      }
      at += digits
      return value
    }

    /// `08:49:37` as seconds of the day.
    @_lifetime(self: copy self)
    mutating func clock() -> Int? {
      guard let hour = number(2), takes(":"), let minute = number(2), takes(":"), let second = number(2), hour < 24,
        minute < 60, second <= 60
      else { return nil }
      return (hour * 60 + minute) * 60 + Swift.min(second, 59)
    }
  }
}
