import Diagnostics

extension RootReader {
  /// An origin in the form that browsers send (RFC 6454 section 6.2), so that texts can be compared; or a pattern of
  /// such with `*` in its host or as its port.
  func origin(_ text: Text) -> String? {
    func fault(_ what: String, _ cure: String) -> String? {
      context.error(text.position, "\(text.shown) \(what)", cure: cure)
      return nil
    }
    let form = "write it as `https://app.example.com`, with a port if it has one"
    if text.value == "null" {
      return fault("is the origin of sandboxed pages, whoever made them", "name real origins")
    }
    guard let colon = text.value.firstIndex(of: ":"), text.value[colon...].hasPrefix("://") else {
      return fault("is not an origin", form)
    }
    let scheme = text.value[..<colon].lowercased()
    let rest = String(text.value[colon...].dropFirst(3))
    guard HeaderName.isToken(scheme), !scheme.contains("*"), !rest.isEmpty else {
      return fault("is not an origin", form)
    }
    if rest.contains(where: { "/?#".contains($0) }) {
      return fault("has more than scheme, host and port", "leave out what follows, a `/` too")
    }
    let (host, portText, isBracketed) = IPAddress.split(rest)
    let literal: String
    switch OriginPattern.host(host, isBracketed: isBracketed) {
    case .host(let known): literal = known
    case .none: return fault("has no valid host", form)
    case .tooWide: return fault("is a pattern that strangers' hosts meet", OriginPattern.cure)
    case .tooMany: return fault("has more than \(OriginPattern.mostWildcards) `*`", "write several patterns")
    }
    guard let portText else { return "\(scheme)://\(literal)" }
    if portText == "*" { return "\(scheme)://\(literal):*" }
    guard let port = IPAddress.port(portText), port > 0 else { return fault("has no valid port", form) }
    let own: UInt16? = ["http": 80, "https": 443][scheme]
    return port == own ? "\(scheme)://\(literal)" : "\(scheme)://\(literal):\(port)"
  }
}

/// Patterns of hosts in origins.
private enum OriginPattern {
  enum Reading {
    case host(String)
    /// No host.
    case none
    /// What stands behind the last `*` does not say whose the hosts are.
    case tooWide
    case tooMany
  }

  static let mostWildcards = 4
  static let cure =
    "write the `*` before a `.` or `-` and at least two names, as `https://*.example.com` or `https://*-team.example.com`"

  static func host(_ text: String, isBracketed: Bool) -> Reading {
    if isBracketed { return IPAddress.ipv6(text).map { .host("[\($0)]") } ?? .none }
    guard text.contains("*") else {
      return (IPAddress.ipv4(text) ?? IPAddress.hostName(text)).map { .host($0) } ?? .none
    }
    let pieces = text.split(separator: "*", omittingEmptySubsequences: false)
    guard pieces.count - 1 <= mostWildcards else { return .tooMany }
    // With letters in its place it has to be a host.
    guard IPAddress.hostName(pieces.joined(separator: "x")) != nil, let last = pieces.last else { return .none }
    guard last.first == "." || last.first == "-" else { return .tooWide }
    guard last.dropFirst().contains(".") || last.lowercased() == ".localhost" else { return .tooWide }
    return .host(text.lowercased())
  }
}
