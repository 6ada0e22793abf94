import Diagnostics

extension LoadContext {
  /// `https://host:port/path?query`, something that the gateway itself asks.
  func resource(_ node: Node) -> RemoteResource? {
    guard let text = name(node, "a URL") else { return nil }
    do throws(QuantityFault) {
      var (endpoint, target) = try ResourceURL.parse(text.value, at: node.position)
      endpoint.isSecret = text.isSecret
      return RemoteResource(endpoint: endpoint, target: target, position: node.position)
    } catch {
      // A password may stand before the host.
      let hides = text.isSecret || text.value.contains("@")
      let shown = text.value.contains("@") ? "the URL" : "the URL \(text.shown)"
      self.error(node.position, "\(shown) \(error.what)", cure: hides ? error.plainCure : error.cure)
      return nil
    }
  }
}

/// The URL of one resource: an origin, and the target that is asked for there.
enum ResourceURL {
  static func parse(
    _ text: String, at position: SourcePosition
  ) throws(QuantityFault) -> (endpoint: EndpointConfiguration, target: String) {
    let form = "write it as `https://host/path`"
    guard text.utf8.count <= 8192 else { throw QuantityFault("is longer than 8192 bytes", cure: "shorten it") }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw QuantityFault("has a blank or a character beyond ASCII", cure: "percent-encode it (RFC 3986)")
    }
    if text.contains("#") { throw QuantityFault("has a fragment, which no server sees", cure: "leave out `#…`") }
    var slashes = 0
    let end = text.firstIndex { character in
      if character == "/" { slashes += 1 }
      return slashes > 2 || character == "?"
    }
    let origin = text[..<(end ?? text.endIndex)]
    guard origin.contains("://") else { throw QuantityFault("has no scheme", cure: form) }
    let endpoint = try EndpointURL.parse(String(origin), at: position)
    let rest = end.map { text[$0...] } ?? ""
    return (endpoint, rest.hasPrefix("/") ? String(rest) : "/" + rest)
  }
}
