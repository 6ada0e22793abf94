import Bytes

/// What a caller can decompress: all Accept-Encoding values of one request (RFC 9110 section 12.5.3).
package struct AcceptEncoding: Sendable {
  /// Weights in thousandths by coding; nil where the coding is not named.
  private var weights: [4 of Int16?] = .init(repeating: nil)
  private var wildcard: Int16?
  private var isPresent = false

  package init() {}

  /// Chooses from header values at once, see ``choose(from:)``.
  package static func choose(_ values: [String], from codings: [ContentCoding]) -> ContentCoding? {
    var accepted = AcceptEncoding()
    for value in values { accepted.add(Array(value.utf8).span) }
    return accepted.choose(from: codings)
  }

  /// Takes the elements of one field value. Elements with a malformed weight are ignored, of a coding named twice the
  /// greater weight counts.
  package mutating func add(_ value: Span<UInt8>) {
    isPresent = true
    var start = 0
    while start < value.count {
      var end = start
      while end < value.count, value[end] != UInt8(ascii: ",") { end &+= 1 }
      addElement(value.extracting(start..<end))
      start = end &+ 1
    }
  }

  /// The coding to answer in.
  ///
  /// The greatest weight wins, the order of the list among equals. `identity` is acceptable as the last resort unless
  /// it is refused, by name or by `*;q=0`. Without the field, or with an empty one, the answer is `identity`.
  ///
  /// - Parameter codings: what can be written, the preferred one first.
  /// - Returns: nil when the caller accepts none (HTTP 406).
  package func choose(from codings: [ContentCoding]) -> ContentCoding? {
    guard isPresent else { return .identity }
    var best: (coding: ContentCoding, weight: Int16)?
    for coding in codings where coding != .identity {
      let weight = weights[Self.slot(coding)] ?? wildcard ?? 0
      if weight > best?.weight ?? 0 { best = (coding, weight) }
    }
    // Named, identity competes by its weight; else it only fills in.
    if let named = weights[Self.slot(.identity)] {
      return named > best?.weight ?? 0 ? .identity : best?.coding
    }
    return best?.coding ?? (wildcard == 0 ? nil : .identity)
  }

  /// Whether the caller can read this coding, which it named or meant by `*`; `identity` always.
  package func accepts(_ coding: ContentCoding) -> Bool {
    coding == .identity || (weights[Self.slot(coding)] ?? wildcard ?? 0) > 0
  }

  private mutating func addElement(_ element: Span<UInt8>) {
    var nameEnd = 0
    while nameEnd < element.count, element[nameEnd] != UInt8(ascii: ";") { nameEnd &+= 1 }
    let name = Self.trimmed(element.extracting(0..<nameEnd))
    guard let weight = Self.weight(element.extracting(nameEnd..<element.count)) else { return }
    if ASCII.equal(name, "*") {
      wildcard = max(wildcard ?? 0, weight)
    } else if let coding = ContentCoding(name: name) {
      let slot = Self.slot(coding)
      weights[slot] = max(weights[slot] ?? 0, weight)
    }
  }

  private static func slot(_ coding: ContentCoding) -> Int {
    switch coding {
    case .identity: 0
    case .gzip: 1
    case .br: 2
    case .zstd: 3
    }
  }

  /// The weight among parameters that begin with their semicolons: 1000 without one, nil for a malformed one.
  private static func weight(_ parameters: Span<UInt8>) -> Int16? {
    var weight: Int16? = 1000
    var start = 0
    while start < parameters.count {
      var end = start + 1
      while end < parameters.count, parameters[end] != UInt8(ascii: ";") { end &+= 1 }
      let parameter = trimmed(parameters.extracting(start + 1..<end))
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

  @_lifetime(copy text)
  private static func trimmed(_ text: Span<UInt8>) -> Span<UInt8> {
    var start = 0
    var end = text.count
    while start < end, text[start] == 0x20 || text[start] == 0x09 { start &+= 1 }
    while end > start, text[end &- 1] == 0x20 || text[end &- 1] == 0x09 { end &-= 1 }
    return text.extracting(start..<end)
  }
}
