import Glibc

/// IP literals in their canonical text, so that equal addresses are equal texts.
enum IPAddress {
  /// Four decimal numbers without leading zeros.
  static func ipv4(_ text: String) -> String? {
    var address = in_addr()
    return inet_pton(AF_INET, text, &address) == 1 ? text : nil
  }

  /// Without brackets and without a zone; RFC 5952 form.
  static func ipv6(_ text: String) -> String? {
    var address = in6_addr()
    guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// A DNS name in lower case: letters, digits, `-` and `_` in labels of 1 to 63, at most 253 together.
  ///
  /// A name that ends in a number is refused: it is a mistyped IPv4 address (WHATWG URL, ends-in-a-number).
  static func hostName(_ text: String) -> String? {
    let name = text.lowercased()
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard name.utf8.count <= 253, let last = labels.last, Quantity.integer(last) == nil else { return nil }
    for label in labels {
      guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return nil }
      guard label.utf8.allSatisfy(isNameByte) else { return nil }
    }
    return name
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Splits `host:port` and `[v6]:port`; the port is nil when there is no colon after the host.
  static func split(_ text: String) -> (host: String, port: String?, isBracketed: Bool) {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      let host = String(text[text.index(after: text.startIndex)..<end])
      let rest = text[text.index(after: end)...]
      if rest.isEmpty { return (host, nil, true) }
      return (host, rest.hasPrefix(":") ? String(rest.dropFirst()) : "?", true)
    }
    guard let colon = text.lastIndex(of: ":") else { return (text, nil, false) }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]), false)
  }

  static func port(_ text: String) -> UInt16? { Quantity.integer(text).flatMap { UInt16(exactly: $0) } }
}
