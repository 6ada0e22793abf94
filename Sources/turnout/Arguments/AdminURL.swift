/// The address of an admin endpoint: `http://host[:port]` or `https://host[:port]`.
struct AdminURL: Sendable, Equatable {
  /// A name, or a literal without brackets.
  var host: String
  var port: UInt16
  /// Whether it is spoken to over TLS.
  var isSecure = false
  /// Of the server over TLS: a file of authorities that are trusted instead of the machine's.
  var authorities: String?

  static let standard = AdminURL(host: "127.0.0.1", port: 9901)

  init(host: String, port: UInt16, isSecure: Bool = false) {
    self.host = host
    self.port = port
    self.isSecure = isSecure
  }

  /// Reads a URL without path, query and user; the scheme may be left out. Port 80 or 443 unless given.
  init?(_ text: String) {
    var rest = text[...]
    var isSecure = false
    let lower = rest.lowercased()
    if lower.hasPrefix("https://") {
      isSecure = true
      rest = rest.dropFirst("https://".count)
    } else if lower.hasPrefix("http://") {
      rest = rest.dropFirst("http://".count)
    } else if rest.contains("://") {
      return nil
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    var host = rest
    var port: Substring = isSecure ? "443" : "80"
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = rest[rest.index(after: rest.startIndex)..<end]
      let tail = rest[rest.index(after: end)...]
      guard tail.isEmpty || tail.hasPrefix(":") else { return nil }
      if !tail.isEmpty { port = tail.dropFirst() }
      guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
    } else {
      if let colon = rest.firstIndex(of: ":") {
        host = rest[..<colon]
        port = rest[rest.index(after: colon)...]
      }
      guard !host.isEmpty, host.utf8.allSatisfy(Self.isNameByte) else { return nil }
    }
    guard port.utf8.allSatisfy({ $0 &- 48 < 10 }), let number = UInt16(port), number > 0 else { return nil }
    self.init(host: String(host), port: number, isSecure: isSecure)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// As a Host field spells it.
  var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
  var text: String { "\(isSecure ? "https" : "http")://\(authority)" }
}
