import Bytes

/// One of a service's `hosts`: a name, or `*.` and the name above all that are meant, with a port if only that one is.
struct HostPattern: Sendable {
  /// With the dot in front for a wildcard; lower case.
  private let name: [UInt8]
  private let isWildcard: Bool
  /// With the colon; empty for any.
  private let port: [UInt8]

  /// - Parameter text: as the configuration has it, which has been checked.
  init(_ text: String) {
    let bytes = Array(text.utf8)
    isWildcard = text.hasPrefix("*.")
    let end = Self.endOfHost(bytes.span)
    port = Array(bytes[end...])
    name = Array(bytes[(isWildcard ? 1 : 0)..<Self.withoutRoot(bytes.span, end)])
  }

  /// Whether an authority is meant. A dot at the end of its name says that the name is whole (RFC 3986 section 3.2.2),
  /// and no other one: servers choose their virtual host without it.
  func fits(_ authority: Span<UInt8>) -> Bool {
    let end = Self.endOfHost(authority)
    if !port.isEmpty, !ASCII.equal(authority.extracting(end..<authority.count), port.span) { return false }
    let host = authority.extracting(0..<Self.withoutRoot(authority, end))
    guard isWildcard else { return ASCII.equal(host, name.span) }
    return host.count > name.count && ASCII.equal(host.extracting(last: name.count), name.span)
  }

  /// Where the port's colon is, or the end.
  private static func endOfHost(_ authority: Span<UInt8>) -> Int {
    var end = authority.count
    while end > 0, ASCII.isDigit(authority[end - 1]) { end -= 1 }
    return end > 0 && authority[end - 1] == UInt8(ascii: ":") ? end - 1 : authority.count
  }

  private static func withoutRoot(_ authority: Span<UInt8>, _ end: Int) -> Int {
    var end = end
    while end > 0, authority[end - 1] == UInt8(ascii: ".") { end -= 1 }
    return end
  }
}
