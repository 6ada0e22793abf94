import Diagnostics

extension LoadContext {
  /// `127.0.0.1:8080` or `[::1]:8080`, an address to listen on.
  func socketAddress(_ node: Node) -> SocketAddressConfiguration? {
    guard let text = name(node, "an address") else { return nil }
    let (host, portText, isBracketed) = IPAddress.split(text.value)
    guard let portText else {
      error(node.position, "the address \(text.shown) has no port", cure: "write it as `127.0.0.1:8080`; 0 is any port")
      return nil
    }
    guard let port = IPAddress.port(portText) else {
      error(node.position, "the address \(text.shown) has no valid port", cure: "write a port from 0 to 65535")
      return nil
    }
    let literal = isBracketed ? IPAddress.ipv6(host) : IPAddress.ipv4(host)
    guard let literal else {
      error(node.position, "the address \(text.shown) is not an IP address", cure: cure(for: host, text, portText))
      return nil
    }
    return SocketAddressConfiguration(host: literal, port: port, position: node.position)
  }

  private func cure(for host: String, _ text: Text, _ port: String) -> String {
    let plain = "write an IPv4 address or an IPv6 address in brackets, as `0.0.0.0:8080` or `[::]:8080`"
    if text.isSecret { return plain }
    if host.isEmpty || host == "*" { return "write \(quoted("0.0.0.0:\(port)")) for all addresses" }
    if host == "localhost" { return "write \(quoted("127.0.0.1:\(port)"))" }
    if IPAddress.ipv6(host) != nil { return "write \(quoted("[\(host)]:\(port)"))" }
    return plain
  }

  /// `http://host:port`, `https://host:port`, or `unix:/path` for a socket of this machine.
  func endpoint(_ node: Node) -> EndpointConfiguration? {
    guard let text = name(node, "an endpoint") else { return nil }
    if text.value.hasPrefix("unix:") { return unixSocket(text) }
    do throws(QuantityFault) {
      var endpoint = try EndpointURL.parse(text.value, at: node.position)
      endpoint.isSecret = text.isSecret
      return endpoint
    } catch {
      // A password may stand before the host.
      let shown = text.value.contains("@") ? "the endpoint" : "the endpoint \(text.shown)"
      let isPlain = text.isSecret || text.value.contains("@")
      self.error(node.position, "\(shown) \(error.what)", cure: isPlain ? error.plainCure : error.cure)
      return nil
    }
  }

  /// Longer paths do not fit into the kernel's form of an address (unix(7)).
  private static let longestSocketPath = 107

  private func unixSocket(_ text: Text) -> EndpointConfiguration? {
    let path = String(text.value.dropFirst("unix:".count))
    guard path.hasPrefix("/"), path.utf8.count <= Self.longestSocketPath, !path.utf8.contains(0) else {
      error(
        text.position, "\(text.shown) is no socket of this machine",
        cure: "write `unix:` and an absolute path of at most \(Self.longestSocketPath) bytes, "
          + "as in `unix:/run/content.sock`")
      return nil
    }
    // What curl and others say over such a socket.
    var endpoint = EndpointConfiguration(host: path, port: 0, authority: "localhost", position: text.position)
    endpoint.target = .unixSocket
    endpoint.isSecret = text.isSecret
    return endpoint
  }

  /// An authority that a service answers for: `api.example.com`, `*.example.com`, either with a port.
  func hostPattern(_ node: Node) -> String? {
    guard let text = name(node, "a host") else { return nil }
    let (host, port, isBracketed) = IPAddress.split(text.value)
    let portFits = port.map { IPAddress.port($0).map { $0 > 0 } ?? false } ?? true
    let suffix = port.map { ":\($0)" } ?? ""
    if portFits, isBracketed, let literal = IPAddress.ipv6(host) { return "[\(literal)]\(suffix)" }
    if portFits, !isBracketed {
      if let literal = IPAddress.ipv4(host) { return literal + suffix }
      if let parent = host.dropping(prefix: "*."), let name = IPAddress.hostName(parent) {
        return "*.\(name)\(suffix)"
      }
      if let name = IPAddress.hostName(host) { return name + suffix }
    }
    error(
      node.position, "\(text.shown) is not a host",
      cure: "write it as `api.example.com`, `*.example.com` or with a port")
    return nil
  }
}

/// The URL of a backend: a scheme, a host, a port, nothing else.
enum EndpointURL {
  static func parse(_ text: String, at position: SourcePosition) throws(QuantityFault) -> EndpointConfiguration {
    let form = "write it as `http://host:port` or `https://host:port`"
    guard let separator = text.firstRange(of: "://") else {
      throw QuantityFault("has no scheme", cure: "write \(quoted("http://" + text))", plainCure: form)
    }
    let isSecure: Bool
    switch text[..<separator.lowerBound].lowercased() {
    case "http": isSecure = false
    case "https": isSecure = true
    case "h2c":
      throw QuantityFault(
        "has a scheme that is not supported by this version", cure: "it supports `http://` and `https://`")
    default: throw QuantityFault("has an unknown scheme", cure: form)
    }
    var authority = text[separator.upperBound...]
    if authority.hasSuffix("/") { authority = authority.dropLast() }
    if authority.contains(where: { "/?#".contains($0) }) {
      throw QuantityFault(
        "has more than host and port", cure: "name the server only; `prefix:` of a service goes before its paths")
    }
    if authority.contains("@") {
      throw QuantityFault("has a user name", cure: "leave it out; the caller's credentials are passed on")
    }
    let (hostText, portText, isBracketed) = IPAddress.split(String(authority))
    let host =
      isBracketed
      ? IPAddress.ipv6(hostText) : IPAddress.ipv4(hostText) ?? IPAddress.hostName(hostText)
    guard let host else {
      throw QuantityFault(
        "has no valid host", cure: "write a name, an IPv4 address, or an IPv6 address in brackets")
    }
    let usual: UInt16 = isSecure ? 443 : 80
    guard let port = portText.map(IPAddress.port) ?? usual, port > 0 else {
      throw QuantityFault("has no valid port", cure: "write a port from 1 to 65535, or none for \(usual)")
    }
    let shownHost = isBracketed ? "[\(host)]" : host
    return EndpointConfiguration(
      host: host, port: port, isSecure: isSecure, authority: port == usual ? shownHost : "\(shownHost):\(port)",
      position: position)
  }
}

extension String {
  /// The first place of a text; there is no Foundation to ask.
  fileprivate func firstRange(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      let rest = self[start...]
      if rest.hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
