import Bytes
package import Configuration
package import HTTPModel

/// Testers who choose the side of their calls with a header: `rpc`, or `rpc; SECRET`.
package struct SideOverride: Sendable {
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
  package func take(from fields: FieldBlock, address: (high: UInt64, low: UInt64)?) -> RouteSettings.Side? {
    guard let index = fields.firstIndex(of: header.span) else { return nil }
    let isTrusted = address.map { bits in addresses.contains { $0.contains(high: bits.high, low: bits.low) } } ?? false
    let side = fields.withValue(at: index) { choice($0, isTrusted: isTrusted) }
    fields.remove(at: index)
    guard fields.firstIndex(of: header.span) != nil else { return side }
    fields.remove(named: header.span)
    return nil
  }

  private func choice(_ value: Span<UInt8>, isTrusted: Bool) -> RouteSettings.Side? {
    var end = 0
    while end < value.count, value[end] != UInt8(ascii: ";") { end += 1 }
    var start = Swift.min(end + 1, value.count)
    while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
    let given = value.extracting(start..<value.count)
    guard isTrusted || secret.map({ Self.equal(given, $0.span) }) ?? false else { return nil }
    while end > 0, value[end - 1] == UInt8(ascii: " ") { end -= 1 }
    let word = value.extracting(0..<end)
    if ASCII.equalIgnoringCase(word, "rest") { return .rest }
    return ASCII.equalIgnoringCase(word, "rpc") ? .rpc : nil
  }

  /// Whether two texts are the same; looks at all bytes of equally long ones.
  private static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
  }
}
