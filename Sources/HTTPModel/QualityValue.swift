import Bytes

/// How much a client wants one of several things (RFC 9110 section 12.4.2), in thousandths.
public enum QualityValue {
  /// The weight among parameters that begin with their semicolons: 1000 without one, nil for a malformed one.
  ///
  /// A semicolon in a quoted string ends no parameter.
  public static func weight(_ parameters: Span<UInt8>) -> Int16? {
    var weight: Int16? = 1000
    var start = 0
    while start < parameters.count {
      let end = HeaderList.end(of: parameters, from: start &+ 1, separator: UInt8(ascii: ";"))
      let parameter = HeaderList.trimmed(parameters.extracting(start &+ 1..<end))
      if parameter.count >= 2, parameter[0] | 0x20 == UInt8(ascii: "q"), parameter[1] == UInt8(ascii: "=") {
        weight = thousandths(parameter.extracting(droppingFirst: 2))
      }
      start = end
    }
    return weight
  }

  /// `0`, `1`, `0.5`, `1.000`: at most three decimals, at most 1.
  private static func thousandths(_ text: Span<UInt8>) -> Int16? {
    guard let first = text.isEmpty ? nil : text[0], first == UInt8(ascii: "0") || first == UInt8(ascii: "1"),
      text.count <= 5, text.count == 1 || text[1] == UInt8(ascii: ".")
    else { return nil }
    var value = Int16(first - 48)
    for index in 2..<5 {
      value *= 10
      guard index < text.count else { continue }
      guard ASCII.isDigit(text[index]) else { return nil }
      value += Int16(text[index] - 48)
    }
    return value <= 1000 ? value : nil
  }
}
