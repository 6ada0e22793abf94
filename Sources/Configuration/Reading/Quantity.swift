import Diagnostics

/// Why a text is not the quantity it should be.
struct QuantityFault: Error {
  /// Goes on after the value: `is not a duration`.
  var what: String
  /// May repeat parts of the value.
  var cure: String
  /// Never does.
  var plainCure: String

  init(_ what: String, cure: String, plainCure: String? = nil) {
    self.what = what
    self.cure = cure
    self.plainCure = plainCure ?? cure
  }
}

/// Numbers with a unit, as people write them.
enum Quantity {
  /// A whole number of digits only; nil when it is none or too large to mean anything.
  static func integer(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.count <= 15, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  /// A number with up to `places` decimals, in units of the last of them; nil when it is none.
  static func decimal(_ text: some StringProtocol, places: Int) -> Int? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, first.utf8.count <= 10, var value = integer(first) else { return nil }
    var fraction = ""
    if parts.count > 1, let second = parts.last {
      guard integer(second) != nil, second.utf8.count <= places else { return nil }
      fraction = String(second)
    }
    fraction += String(repeating: "0", count: places - fraction.utf8.count)
    for digit in fraction.utf8 { value = value * 10 + Int(digit - 0x30) }
    return value
  }

  /// Splits `5sec` into `5` and `sec`, blanks between them ignored.
  static func split(_ text: String) -> (number: String, unit: String) {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text[number.endIndex...].drop { $0 == " " }
    return (String(number), String(unit))
  }

  private static let durationUnits = [
    "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
  ]

  /// `250ms`, `1.5s`, `1m`, `2h`; at most 366 days.
  static func duration(_ text: String) throws(QuantityFault) -> Duration {
    let (number, unit) = split(text)
    if let scale = durationUnits[unit], !text.contains(" "), let thousandths = decimal(number, places: 3) {
      let (nanoseconds, overflow) = thousandths.multipliedReportingOverflow(by: scale / 1000)
      if !overflow, nanoseconds <= 366 * 24 * 3_600_000_000_000 { return .nanoseconds(nanoseconds) }
      throw QuantityFault("is longer than 366 days", cure: "write a shorter duration")
    }
    let plain = "write a number and one of the units `ms`, `s`, `m`, `h`, as in `5s`"
    guard decimal(number, places: 3) != nil, let meant = durationUnit(unit.lowercased()) else {
      throw QuantityFault("is not a duration", cure: plain)
    }
    throw QuantityFault("is not a duration", cure: "write \(quoted(number + meant))", plainCure: plain)
  }

  private static func durationUnit(_ unit: String) -> String? {
    switch unit {
    case "", "s", "sec", "secs", "second", "seconds": "s"
    case "ms", "msec", "millis", "millisecond", "milliseconds": "ms"
    case "m", "min", "mins", "minute", "minutes": "m"
    case "h", "hr", "hrs", "hour", "hours": "h"
    default: nil
    }
  }

  private static let sizeUnits = ["": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]

  /// `64KiB`, `4MiB`, `1GiB`, or bytes without a unit; less than 1 TiB.
  static func size(_ text: String) throws(QuantityFault) -> Int {
    let (number, unit) = split(text)
    if let scale = sizeUnits[unit], !text.contains(" "), let value = integer(number) {
      let (bytes, overflow) = value.multipliedReportingOverflow(by: scale)
      if !overflow, bytes < 1 << 40 { return bytes }
      throw QuantityFault("is too large", cure: "write a smaller size")
    }
    let plain = "write a whole number and one of the units `B`, `KiB`, `MiB`, `GiB`, as in `64KiB`"
    guard integer(number) != nil, let meant = sizeUnit(unit.lowercased()) else {
      throw QuantityFault("is not a size", cure: plain)
    }
    throw QuantityFault("is not a size", cure: "write \(quoted(number + meant))", plainCure: plain)
  }

  private static func sizeUnit(_ unit: String) -> String? {
    switch unit {
    case "", "b", "byte", "bytes": "B"
    case "k", "kb", "ki", "kib": "KiB"
    case "m", "mb", "mi", "mib": "MiB"
    case "g", "gb", "gi", "gib": "GiB"
    default: nil
    }
  }

  /// The largest unit that needs no fraction.
  static func sizeText(_ bytes: Int) -> String {
    for (unit, scale) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    where bytes >= scale && bytes % scale == 0 { return "\(bytes / scale)\(unit)" }
    return "\(bytes)B"
  }

  /// `25%` or `0.5%` in parts per 10,000.
  static func share(_ text: String) throws(QuantityFault) -> Int {
    let (number, unit) = split(text)
    if unit == "%", !text.contains(" "), let parts = decimal(number, places: 2) {
      if parts <= 10_000 { return parts }
      throw QuantityFault("is more than the whole", cure: "write a share from `0%` to `100%`")
    }
    let plain = "write a percentage with at most two decimals, as in `25%`"
    guard unit.isEmpty || unit == "%", let parts = decimal(number, places: 2), parts <= 10_000 else {
      throw QuantityFault("is not a share", cure: plain)
    }
    var cure = "write \(quoted(number + "%"))"
    // 0.25 may mean either of two shares.
    if unit.isEmpty, parts > 0, parts <= 100 { cure = "write \(quoted("\(parts)%")) or \(quoted(number + "%"))" }
    throw QuantityFault("is not a share", cure: cure, plainCure: plain)
  }
}
