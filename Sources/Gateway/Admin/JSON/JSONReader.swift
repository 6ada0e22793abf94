import Bytes

/// Why a control-plane body is no JSON, or not the JSON that was wanted.
package struct JSONFault: Error, Sendable, Equatable {
  package var message: String

  package init(_ message: String) { self.message = message }
}

/// Reads one strict JSON text (RFC 8259) into a ``JSONValue``.
///
/// The size is bounded by who collected the bytes, the nesting here. Refused besides what the grammar refuses: a member
/// given twice, text that is not UTF-8, lone surrogates, bytes after the value.
struct JSONReader {
  /// Levels of arrays and objects; the admin bodies need one, the demo's three.
  static let maximumDepth = 16

  private let input: [UInt8]
  private var index = 0

  init(_ input: [UInt8]) { self.input = input }

  mutating func read() throws(JSONFault) -> JSONValue {
    skipBlanks()
    guard index < input.count else { throw JSONFault("the body is empty where JSON is expected") }
    let value = try value(depth: 0)
    skipBlanks()
    guard index == input.count else { throw fault("nothing may follow the JSON value") }
    return value
  }

  private func fault(_ what: String) -> JSONFault { JSONFault("\(what) (at byte \(index))") }

  private var next: UInt8? { index < input.count ? input[index] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    index += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
    guard let byte = next else { throw fault("a JSON value is expected") }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw fault("a JSON value is expected")
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONFault) -> JSONValue {
    for byte in "\(word)".utf8 where !take(byte) { throw fault("\(word) is expected") }
    return value
  }

  private mutating func object(depth: Int) throws(JSONFault) -> JSONValue {
    guard depth <= Self.maximumDepth else { throw fault("deeper than \(Self.maximumDepth) levels") }
    index += 1
    var members: [JSONValue.Member] = []
    var names: Set<String> = []
    skipBlanks()
    if take(UInt8(ascii: "}")) { return .object([]) }
    repeat {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw fault("a member name in quotes is expected") }
      let name = try string()
      guard names.insert(name).inserted else { throw fault("member \"\(name)\" comes twice") }
      skipBlanks()
      guard take(UInt8(ascii: ":")) else { throw fault("\":\" is expected") }
      skipBlanks()
      members.append(JSONValue.Member(name, try value(depth: depth)))
      skipBlanks()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw fault("\",\" or \"}\" is expected") }
    return .object(members)
  }

  private mutating func array(depth: Int) throws(JSONFault) -> JSONValue {
    guard depth <= Self.maximumDepth else { throw fault("deeper than \(Self.maximumDepth) levels") }
    index += 1
    var elements: [JSONValue] = []
    skipBlanks()
    if take(UInt8(ascii: "]")) { return .array([]) }
    repeat {
      skipBlanks()
      elements.append(try value(depth: depth))
      skipBlanks()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw fault("\",\" or \"]\" is expected") }
    return .array(elements)
  }

  private mutating func number() throws(JSONFault) -> JSONValue {
    let start = index
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) { try digits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    return .literal(String(decoding: input[start..<index], as: UTF8.self))
  }

  private mutating func digits() throws(JSONFault) {
    guard let first = next, ASCII.isDigit(first) else { throw fault("a digit is expected") }
    while let byte = next, ASCII.isDigit(byte) { index += 1 }
  }

  private mutating func string() throws(JSONFault) -> String {
    index += 1
    var text: [UInt8] = []
    while let byte = next {
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard UTF8Validation.isValid(text.span) else { throw fault("a string is not UTF-8") }
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text += String(try escape()).utf8
      case 0..<0x20: throw fault("a control byte stands in a string")
      default: text.append(byte)
      }
    }
    throw fault("a string does not end")
  }

  private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
    guard let byte = next else { throw fault("a string does not end") }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try scalar()
    default: throw fault("an unknown escape")
    }
  }

  /// `\uXXXX`, or a surrogate pair of two of them.
  private mutating func scalar() throws(JSONFault) -> Unicode.Scalar {
    let unit = try fourDigits()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
      throw fault("half of a surrogate pair")
    }
    let low = try fourDigits()
    guard (0xDC00...0xDFFF).contains(low),
      let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
    else { throw fault("half of a surrogate pair") }
    return scalar
  }

  private mutating func fourDigits() throws(JSONFault) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = ASCII.hexadecimalValue(byte) else {
        throw fault("four hexadecimal digits are expected")
      }
      value = value << 4 | UInt32(digit)
      index += 1
    }
    return value
  }
}

extension JSONValue {
  /// Reads a whole strict JSON text of bounded depth; see `JSONReader` for what is refused.
  package init(parsing bytes: [UInt8]) throws(JSONFault) {
    var reader = JSONReader(bytes)
    self = try reader.read()
  }
}
