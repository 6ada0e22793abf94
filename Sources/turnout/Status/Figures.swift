/// Numbers as people read them. What is absent is a dash.
enum Figures {
  static let none = "-"

  /// With at most so many decimals, and none that are 0.
  static func decimal(_ number: Double, digits: Int) -> String {
    guard number.isFinite, abs(number) < 1e15 else { return none }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (abs(number) * scale).rounded()
    let whole = UInt64(scaled / scale)
    var fraction = "\(UInt64(scaled) % UInt64(scale))"
    if fraction.utf8.count < digits {
      fraction = String(repeating: "0", count: digits - fraction.utf8.count) + fraction
    }
    while fraction.last == "0" { fraction.removeLast() }
    let sign = number < 0 && scaled > 0 ? "-" : ""
    return sign + "\(whole)" + (digits == 0 || fraction.isEmpty ? "" : ".\(fraction)")
  }

  static func count(_ number: Double) -> String { decimal(number, digits: 0) }

  static func rate(_ number: Double?) -> String {
    guard let number else { return none }
    if number > 0, number < 0.01 { return "<0.01" }
    return decimal(number, digits: number < 10 ? 2 : number < 100 ? 1 : 0)
  }

  /// A part of one, as percent.
  static func share(_ part: Double?) -> String {
    guard let part else { return none }
    if part > 0, part < 0.0001 { return "<0.01 %" }
    return "\(decimal(part * 100, digits: part < 0.1 ? 2 : 1)) %"
  }

  static func milliseconds(_ number: Double?) -> String {
    guard let number else { return none }
    return "\(decimal(number, digits: number < 10 ? 1 : 0)) ms"
  }

  /// Text from the gateway as one line: control characters, which a terminal would obey, are blanks.
  static func line(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var line = ""
    for scalar in text.unicodeScalars { line.unicodeScalars.append(isControl(scalar) ? " " : scalar) }
    return line
  }

  /// Those that move, hide or turn around what a terminal shows.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
