import Bytes
import RPC

/// What kind of JSON value stands there.
enum JSONShape: Equatable {
  case object, array, string, number, word

  init(_ json: Span<UInt8>) {
    var scanner = JSONScanner(json)
    self =
      switch scanner.peek() {
      case UInt8(ascii: "{"): .object
      case UInt8(ascii: "["): .array
      case UInt8(ascii: "\""): .string
      case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): .word
      default: .number
      }
  }

  /// Whether two values of this shape, neither an object nor a list, are the same to whoever reads them.
  static func areSame(_ left: Span<UInt8>, _ right: Span<UInt8>, _ shape: JSONShape) throws(JSONFault) -> Bool {
    var one = JSONScanner(left)
    var other = JSONScanner(right)
    _ = (one.peek(), other.peek())
    if shape == .string { return try one.string() == other.string() }
    let (text, otherText) = (try one.bareWord(), try other.bareWord())
    if text == otherText { return true }
    guard shape == .number, let number = Double(text), let otherNumber = Double(otherText) else { return false }
    return number == otherNumber
  }
}

extension JSONScanner {
  /// Passes over a value, and says where it is.
  @_lifetime(self: copy self)
  mutating func valueRange() throws(JSONFault) -> Range<Int> {
    _ = peek()
    let start = index
    try skipValue()
    return start..<index
  }
}
