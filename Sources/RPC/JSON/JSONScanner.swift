import Bytes

/// The text is no JSON, or not the JSON that was wanted.
public struct JSONFault: Error, Sendable, Equatable {
  public var message: String

  public init(_ message: String = "this is no JSON") { self.message = message }
}

/// A cursor over one JSON text: strict in syntax (RFC 8259), bounded in depth.
///
/// For small documents: those of the Connect protocol, REST errors, the admin endpoint. Messages go through ProtoJSON.
public struct JSONScanner: ~Escapable {
  /// Levels of nesting beyond which a text is refused.
  static let maximumDepth = 100

  public let bytes: Span<UInt8>
  public private(set) var index = 0
  /// Whether lone surrogates in strings become U+FFFD instead of being refused.
  let repairsSurrogates: Bool

  @_lifetime(copy bytes)
  public init(_ bytes: Span<UInt8>, repairsSurrogates: Bool = true) {
    self.bytes = bytes
    self.repairsSurrogates = repairsSurrogates
  }

  /// The next byte that is no blank, not consumed; 0 at the end.
  @_lifetime(self: copy self)
  public mutating func peek() -> UInt8 {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index &+= 1
      case let byte: return byte
      }
    }
    return 0
  }

  /// Consumes this byte, after blanks, if it is the next one.
  @_lifetime(self: copy self)
  public mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    index &+= 1
    return true
  }

  @_lifetime(self: copy self)
  public mutating func expect(_ byte: UInt8) throws(JSONFault) {
    if !take(byte) { throw JSONFault("\"\(Unicode.Scalar(byte))\" is expected") }
  }

  /// Nothing but blanks may be left.
  @_lifetime(self: copy self)
  public mutating func finish() throws(JSONFault) {
    _ = peek()
    if index < bytes.count { throw JSONFault("nothing may follow the JSON value") }
  }

  /// Moves to the value of an open object's next member.
  ///
  /// - Returns: the member's name; nil behind the object's end.
  @_lifetime(self: copy self)
  public mutating func nextMember(_ isFirst: inout Bool) throws(JSONFault) -> String? {
    if take(UInt8(ascii: "}")) { return nil }
    if !isFirst { try expect(UInt8(ascii: ",")) }
    isFirst = false
    guard peek() == UInt8(ascii: "\"") else { throw JSONFault("a member name in quotes is expected") }
    let name = try string()
    try expect(UInt8(ascii: ":"))
    return name
  }

  /// Moves to an open array's next element; false behind the array's end.
  @_lifetime(self: copy self)
  public mutating func nextElement(_ isFirst: inout Bool) throws(JSONFault) -> Bool {
    if take(UInt8(ascii: "]")) { return false }
    if !isFirst { try expect(UInt8(ascii: ",")) }
    isFirst = false
    return true
  }

  /// The string value here; nil, and the value skipped, when it is of another type.
  @_lifetime(self: copy self)
  public mutating func stringIfAny() throws(JSONFault) -> String? {
    if peek() == UInt8(ascii: "\"") { return try string() }
    try skipValue()
    return nil
  }

  /// Skips a value of any type, checking its syntax.
  @_lifetime(self: copy self)
  public mutating func skipValue(depth: Int = 0) throws(JSONFault) {
    if depth > Self.maximumDepth { throw JSONFault() }
    var isFirst = true
    switch peek() {
    case UInt8(ascii: "{"):
      index &+= 1
      while try nextMember(&isFirst) != nil { try skipValue(depth: depth + 1) }
    case UInt8(ascii: "["):
      index &+= 1
      while try nextElement(&isFirst) { try skipValue(depth: depth + 1) }
    case UInt8(ascii: "\""): _ = try string()
    default: _ = try bareWord()
    }
  }

  /// Passes over a number, `true`, `false` or `null`; gives it as it was written.
  @_lifetime(self: copy self)
  public mutating func bareWord() throws(JSONFault) -> String {
    let first = peek()
    let start = index
    switch first {
    case UInt8(ascii: "t"): try literal("true")
    case UInt8(ascii: "f"): try literal("false")
    case UInt8(ascii: "n"): try literal("null")
    default: try number()
    }
    return String(repairing: bytes.extracting(start..<index))
  }

  @_lifetime(self: copy self)
  private mutating func literal(_ word: StaticString) throws(JSONFault) {
    let length = word.utf8CodeUnitCount
    guard bytes.count - index >= length, ASCII.equal(bytes.extracting(index..<index + length), word) else {
      throw JSONFault()
    }
    index &+= length
  }

  @_lifetime(self: copy self)
  private mutating func number() throws(JSONFault) {
    if current == UInt8(ascii: "-") { index &+= 1 }
    if current == UInt8(ascii: "0") { index &+= 1 } else { try digits() }
    if current == UInt8(ascii: ".") {
      index &+= 1
      try digits()
    }
    if current | 0x20 == UInt8(ascii: "e") {
      index &+= 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { index &+= 1 }
      try digits()
    }
  }

  @_lifetime(self: copy self)
  private mutating func digits() throws(JSONFault) {
    guard ASCII.isDigit(current) else { throw JSONFault() }
    while ASCII.isDigit(current) { index &+= 1 }
  }

  /// The byte at the cursor; 0 at the end.
  private var current: UInt8 { index < bytes.count ? bytes[index] : 0 }

  @_lifetime(self: copy self)
  mutating func advance() { index &+= 1 }
}
