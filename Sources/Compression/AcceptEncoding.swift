import Bytes
import HTTPModel

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
    HeaderList.forEach(value) { addElement($0) }
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
    let name = HeaderList.trimmed(element.extracting(0..<nameEnd))
    guard let weight = QualityValue.weight(element.extracting(nameEnd..<element.count)) else { return }
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
}
