import Bytes

/// One pass over the template's bytes.
struct PathTemplateParser {
  private let text: String
  private let bytes: [UInt8]
  private var position = 0
  private var segments: [PathTemplate.Segment] = []
  private var captures: [PathTemplate.Capture] = []
  private var verb: PathTemplate.Literal?

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  mutating func parse() throws(TemplateError) -> PathTemplate {
    guard next == UInt8(ascii: "/") else { throw fault("a path template begins with /") }
    repeat {
      position += 1
      try parseSegment(inVariable: false)
    } while next == UInt8(ascii: "/")
    if next == UInt8(ascii: ":") { try parseVerb() }
    guard position == bytes.count else { throw fault(misplaced) }
    return PathTemplate(text: text, segments: segments, captures: captures, verb: verb)
  }

  // MARK: Segments

  private mutating func parseSegment(inVariable: Bool) throws(TemplateError) {
    if segments.last == .deepWildcard { throw fault("nothing but a verb may follow **") }
    switch next {
    case UInt8(ascii: "*"):
      position += 1
      if next == UInt8(ascii: "*") {
        position += 1
        segments.append(.deepWildcard)
      } else {
        segments.append(.wildcard)
      }
      if let next, next != UInt8(ascii: "/"), next != UInt8(ascii: ":"), next != UInt8(ascii: "}") {
        throw fault("a wildcard is a whole segment")
      }
    case UInt8(ascii: "{"):
      if inVariable { throw fault("a variable holds no other variable") }
      try parseVariable()
    default:
      segments.append(.literal(try parseLiteral(inVariable: inVariable)))
    }
  }

  private mutating func parseVariable() throws(TemplateError) {
    position += 1
    let start = position
    let fieldPath = try parseFieldPath()
    if captures.contains(where: { $0.fieldPath == fieldPath }) {
      throw fault("the variable \(fieldPath) stands twice", at: start)
    }
    let first = segments.count
    if next == UInt8(ascii: "=") {
      repeat {
        position += 1
        try parseSegment(inVariable: true)
      } while next == UInt8(ascii: "/")
    } else {
      segments.append(.wildcard)
    }
    guard next == UInt8(ascii: "}") else {
      throw fault(next == nil ? "the variable \(fieldPath) has no closing }" : misplaced)
    }
    position += 1
    if let next, next != UInt8(ascii: "/"), next != UInt8(ascii: ":") { throw fault("a variable is a whole segment") }
    captures.append(
      PathTemplate.Capture(
        fieldPath: fieldPath, segments: first..<segments.count,
        isMultiSegment: segments.count - first > 1 || segments.last == .deepWildcard, column: column(of: start)))
  }

  private mutating func parseFieldPath() throws(TemplateError) -> String {
    let start = position
    while true {
      guard let first = next, ASCII.isAlphanumeric(first) && !ASCII.isDigit(first) || first == UInt8(ascii: "_")
      else { throw fault("a field name belongs here") }
      while let byte = next, ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "_") { position += 1 }
      guard next == UInt8(ascii: ".") else { break }
      position += 1
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Reads to the end of the segment; the last colon of the template's last segment begins the verb.
  private mutating func parseLiteral(inVariable: Bool) throws(TemplateError) -> PathTemplate.Literal {
    let start = position
    while let byte = next, byte != UInt8(ascii: "/"), byte != UInt8(ascii: "}"), byte != UInt8(ascii: "{") {
      guard Self.mayStandInLiteral(byte) else { break }
      position += 1
    }
    if next == nil, !inVariable, let colon = bytes[start..<position].lastIndex(of: UInt8(ascii: ":")) {
      position = colon
    }
    if position == start { throw fault(emptySegment) }
    if next == UInt8(ascii: "{") { throw fault("a variable is a whole segment") }
    if next == UInt8(ascii: "*") { throw fault("a wildcard is a whole segment") }
    return try literal(start..<position)
  }

  private mutating func parseVerb() throws(TemplateError) {
    position += 1
    let start = position
    while let byte = next, Self.mayStandInLiteral(byte), byte != UInt8(ascii: ":") { position += 1 }
    if next == UInt8(ascii: ":") { throw fault("a verb holds no colon") }
    if position == start { throw fault("a verb belongs after the colon") }
    verb = try literal(start..<position)
  }

  private func literal(_ range: Range<Int>) throws(TemplateError) -> PathTemplate.Literal {
    var decoded = ByteBuffer()
    if let offset = PercentCoding.decode(Array(bytes[range]).span, as: .segment, into: &decoded) {
      throw fault("% must begin an escape such as %20", at: range.lowerBound + offset)
    }
    let value = decoded.bytes
    if value == [UInt8(ascii: ".")] || value == [UInt8(ascii: "."), UInt8(ascii: ".")] {
      throw fault("a dot segment can never be matched", at: range.lowerBound)
    }
    var spelt = ByteBuffer()
    for byte in bytes[range] {
      if byte < 0x80 { spelt.append(byte) } else { PercentCoding.encode([byte].span, into: &spelt) }
    }
    return PathTemplate.Literal(text: String(repairing: spelt.span), bytes: value)
  }

  /// pchar of RFC 3986 without `*`, which is a wildcard here, and with bytes of non-ASCII characters.
  private static func mayStandInLiteral(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
      UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
      UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"):
      true
    default: PercentCoding.isUnreserved(byte) || byte >= 0x80
    }
  }

  // MARK: Faults

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private var emptySegment: String {
    switch next {
    case nil: "a template does not end with /"
    case UInt8(ascii: ":"): "a segment is empty before the colon; a variable is written {name}"
    case UInt8(ascii: "/"), UInt8(ascii: "}"): "a segment is empty"
    default: misplaced
    }
  }

  private var misplaced: String {
    guard position < bytes.count else { return "the template ends too early" }
    let rest = String(decoding: bytes[position...], as: UTF8.self)
    return "\(rest.prefix(1)) may not stand here"
  }

  private func fault(_ message: String, at offset: Int? = nil) -> TemplateError {
    TemplateError(column: column(of: offset ?? position), message: message)
  }

  private func column(of offset: Int) -> Int {
    String(decoding: bytes[..<offset], as: UTF8.self).unicodeScalars.count + 1
  }
}
