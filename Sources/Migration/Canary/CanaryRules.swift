import Bytes
package import Configuration
package import Diagnostics
import HTTPModel

/// The rules of a canary, ready to be asked: in their order, the first that applies decides.
package struct CanaryRules: Sendable {
  private enum Condition: Sendable {
    case equals(header: [UInt8], [UInt8])
    case present(header: [UInt8], Bool)
    case prefix(header: [UInt8], [UInt8])
    case oneOf(header: [UInt8], [[UInt8]])
    case version(header: [UInt8], VersionRange)
    case protocols([RouteSettings.CallerProtocol])
    case addresses([AddressRange])
  }

  private struct Rule: Sendable {
    var conditions: [Condition]
    var use: RouteSettings.Side
  }

  private let rules: [Rule]

  /// - Parameter faults: what is wrong with the rules is added to it.
  package init(_ configured: [RouteSettings.CanaryRule], faults: inout [Diagnostic]) {
    var rules: [Rule] = []
    for rule in configured {
      let conditions = rule.conditions.compactMap { Self.condition($0, &faults) }
      rules.append(Rule(conditions: conditions, use: rule.use))
    }
    self.rules = rules
  }

  private static func condition(
    _ condition: RouteSettings.CanaryCondition, _ faults: inout [Diagnostic]
  ) -> Condition? {
    switch condition {
    case .protocols(let protocols): return .protocols(protocols)
    case .addresses(let ranges): return .addresses(ranges)
    case .header(let name, let test):
      let header = Array(name.utf8)
      switch test {
      case .equals(let value): return .equals(header: header, Array(value.utf8))
      case .present(let wanted): return .present(header: header, wanted)
      case .prefix(let value): return .prefix(header: header, Array(value.utf8))
      case .oneOf(let values): return .oneOf(header: header, values.map { Array($0.utf8) })
      case .version(let text):
        if let range = VersionRange(text.name) { return .version(header: header, range) }
        faults.append(
          Diagnostic(
            at: text.position, "\(text.isSecret ? "the text \(text.shown)" : text.shown) is no range of versions",
            cure: "write one as `>=5.2.0` or `>=5.2, <6`; the signs are `>=`, `>`, `<=`, `<` and `=`"))
        return nil
      }
    }
  }

  package var isEmpty: Bool { rules.isEmpty }

  /// The side that the first fitting rule names; nil: no rule applies.
  package func side(for caller: some CanaryCaller) -> RouteSettings.Side? {
    for rule in rules {
      var holds = true
      for condition in rule.conditions where !Self.holds(condition, caller) {
        holds = false
        break
      }
      if holds { return rule.use }
    }
    return nil
  }

  private static func holds(_ condition: Condition, _ caller: some CanaryCaller) -> Bool {
    switch condition {
    case .equals(let header, let wanted): test(header, caller) { ASCII.equal($0, wanted.span) } ?? false
    case .present(let header, let wanted): (caller.fields.firstIndex(of: header.span) != nil) == wanted
    case .prefix(let header, let wanted):
      test(header, caller) { $0.count >= wanted.count && ASCII.equal($0.extracting(0..<wanted.count), wanted.span) }
        ?? false
    case .oneOf(let header, let values):
      test(header, caller) { value in values.contains { ASCII.equal(value, $0.span) } } ?? false
    case .version(let header, let range): test(header, caller) { range.contains($0) ?? false } ?? false
    case .protocols(let protocols): protocols.contains(caller.callerProtocol)
    case .addresses(let ranges):
      caller.addressBits.map { bits in ranges.contains { $0.contains(high: bits.high, low: bits.low) } } ?? false
    }
  }

  /// Asks something of the first value of a header; nil when there is none.
  private static func test(
    _ header: [UInt8], _ caller: some CanaryCaller, _ body: (Span<UInt8>) -> Bool
  ) -> Bool? {
    guard let index = caller.fields.firstIndex(of: header.span) else { return nil }
    return caller.fields.withValue(at: index, body)
  }
}
