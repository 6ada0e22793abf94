import Bytes
import EventLoops

/// One stop on a request's way, as proxies write it: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`.
enum ForwardedNode {
  /// The address; nil for `unknown`, obfuscated names and whatever else is none. The port is that of `X-Forwarded-For`
  /// of some proxies, and says nothing.
  static func address(_ node: Span<UInt8>) -> SocketAddress? {
    var host = 0..<node.count
    if !node.isEmpty, node[0] == UInt8(ascii: "[") {
      guard let end = first(UInt8(ascii: "]"), in: node) else { return nil }
      guard end + 1 == node.count || node[end + 1] == UInt8(ascii: ":") && isPort(node, from: end + 2) else {
        return nil
      }
      host = 1..<end
    } else if let colon = first(UInt8(ascii: ":"), in: node), isPort(node, from: colon + 1) {
      host = 0..<colon
    }
    // Of the longest literal. A zone is a matter of the machine that wrote it.
    guard (2...45).contains(host.count), first(UInt8(ascii: "%"), in: node) == nil else { return nil }
    return SocketAddress(host: String(repairing: node.extracting(host)), port: 0)?.unmapped
  }

  private static func first(_ byte: UInt8, in text: Span<UInt8>) -> Int? {
    for index in text.indices where text[index] == byte { return index }
    return nil
  }

  private static func isPort(_ text: Span<UInt8>, from start: Int) -> Bool {
    guard (1...5).contains(text.count - start) else { return false }
    for index in start..<text.count where !ASCII.isDigit(text[index]) { return false }
    return true
  }
}

/// A place in a list that goes over several fields of one name.
struct ForwardedPlace {
  /// The field's index in its block.
  var field: Int
  /// Of the first byte of an element in the field's value.
  var offset: Int
}

/// What a chain of proxies says of a client.
struct ForwardedClient {
  var address: SocketAddress
  /// Where the client stands in the chain: what is left of it the client could have written itself. Nil when nothing of
  /// the chain counts.
  var place: ForwardedPlace?
}
