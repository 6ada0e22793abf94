import Bytes

/// Constraints on a version, all of which have to hold: `>=5.2.0`, `>=5.2, <6`, `4.10`.
package struct VersionRange: Sendable, Equatable {
  private enum Relation: Sendable, Equatable {
    case atLeast
    case above
    case atMost
    case below
    case equal

    func holds(_ order: Int) -> Bool {
      switch self {
      case .atLeast: order >= 0
      case .above: order > 0
      case .atMost: order <= 0
      case .below: order < 0
      case .equal: order == 0
      }
    }
  }

  private struct Bound: Sendable, Equatable {
    var relation: Relation
    var version: [UInt8]
  }

  private let bounds: [Bound]

  /// Nil when some part of the text is no constraint.
  package init?(_ text: String) {
    var bounds: [Bound] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let bound = Self.bound(Array(part.utf8).span) else { return nil }
      bounds.append(bound)
    }
    self.bounds = bounds
  }

  /// Whether a version lies in the range; nil for a text that is no version.
  package func contains(_ text: Span<UInt8>) -> Bool? {
    guard let version = AppVersion(text) else { return nil }
    for bound in bounds {
      let limit = bound.version.span
      guard let other = AppVersion(limit) else { return nil }
      if !bound.relation.holds(version.compared(text, to: other, limit)) { return false }
    }
    return true
  }

  private static func bound(_ text: Span<UInt8>) -> Bound? {
    var start = 0
    while start < text.count, text[start] == UInt8(ascii: " ") { start += 1 }
    var end = text.count
    while end > start, text[end - 1] == UInt8(ascii: " ") { end -= 1 }
    let sign = start
    while start < end, "<>=".utf8.contains(text[start]) { start += 1 }
    let relation: Relation
    switch String(repairing: text.extracting(sign..<start)) {
    case ">=": relation = .atLeast
    case ">": relation = .above
    case "<=": relation = .atMost
    case "<": relation = .below
    case "=", "==", "": relation = .equal
    default: return nil
    }
    while start < end, text[start] == UInt8(ascii: " ") { start += 1 }
    let rest = text.extracting(start..<end)
    // A blank inside is two constraints without a comma.
    for index in rest.indices where rest[index] == UInt8(ascii: " ") { return nil }
    guard AppVersion(rest) != nil else { return nil }
    return Bound(relation: relation, version: rest.indices.map { rest[$0] })
  }
}
