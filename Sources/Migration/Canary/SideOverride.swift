import Bytes
package import Configuration
package import HTTPModel

/// Testers who choose the side of their calls with a header: `rpc`, or `rpc; SECRET`.
package struct SideOverride: Sendable {
  /// What a tester's header says.
  package enum Choice: Equatable {
    /// There is none.
    case absent
    case side(RouteSettings.Side)
    case refused(Refusal)
  }

  /// Why a header chooses nothing: the label of a metric.
  package enum Refusal: String, CaseIterable {
    /// Its sender has no right to: the secret is another one, or is missing.
    case secret = "wrong_secret"
    /// It comes twice.
    case twice
    /// It names no side, or one that has no upstream.
    case side = "no_side"
  }

  private let header: [UInt8]
  private let secret: [UInt8]?
  private let addresses: [AddressRange]

  package init(_ settings: RouteSettings.Override) {
    header = Array(settings.header.utf8)
    secret = settings.secret.map { Array($0.utf8) }
    addresses = settings.addresses
  }

  /// Takes the header out of the fields, whoever sent it.
  ///
  /// - Returns: the side that it names, if its sender may choose; a header that comes twice chooses nothing.
  package func take(from fields: FieldBlock, address: (high: UInt64, low: UInt64)?) -> Choice {
    guard let index = fields.firstIndex(of: header.span) else { return .absent }
    let isTrusted = address.map { bits in addresses.contains { $0.contains(high: bits.high, low: bits.low) } } ?? false
    let chosen = fields.withValue(at: index) { choice($0, isTrusted: isTrusted) }
    fields.remove(at: index)
    guard fields.firstIndex(of: header.span) != nil else { return chosen }
    fields.remove(named: header.span)
    return .refused(.twice)
  }

  private func choice(_ value: Span<UInt8>, isTrusted: Bool) -> Choice {
    var end = 0
    while end < value.count, value[end] != UInt8(ascii: ";") { end += 1 }
    var start = Swift.min(end + 1, value.count)
    while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
    let given = value.extracting(start..<value.count)
    guard isTrusted || secret.map({ SecretComparison.equal(given, $0.span) }) ?? false else {
      return .refused(.secret)
    }
    while end > 0, value[end - 1] == UInt8(ascii: " ") { end -= 1 }
    let word = value.extracting(0..<end)
    if ASCII.equalIgnoringCase(word, "rest") { return .side(.rest) }
    return ASCII.equalIgnoringCase(word, "rpc") ? .side(.rpc) : .refused(.side)
  }
}
