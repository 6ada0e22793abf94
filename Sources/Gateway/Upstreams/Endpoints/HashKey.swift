import Configuration
import EventLoops
import HTTPModel
import Policies

/// What requests are balanced by (`balance: { hash: … }`).
struct HashKey {
  private enum Source {
    case header([UInt8])
    case cookie([UInt8])
    case clientAddress
    case path
  }

  private let source: Source

  init(_ key: BalanceConfiguration.HashKey) {
    switch key {
    case .header(let name): source = .header(Array(name.utf8))
    case .cookie(let name): source = .cookie(Array(name.utf8))
    case .clientAddress: source = .clientAddress
    case .path: source = .path
    }
  }

  /// Nil when the request does not have it.
  func value(of call: Call) -> UInt64? {
    var hash = StableHash()
    switch source {
    case .header(let name):
      guard let index = call.head.fields.firstIndex(of: name.span) else { return nil }
      call.head.fields.withValue(at: index) { hash.combine($0) }
    case .cookie(let name):
      guard combine(cookie: name, of: call.head.fields, into: &hash) else { return nil }
    case .clientAddress:
      // An IPv6 client has a whole network to come from.
      guard let address = call.clientAddress else { return nil }
      hash.combine(address.network.host.utf8)
    case .path: call.head.withPath { hash.combine($0) }
    }
    return hash.value
  }

  /// Reads a cookie of all `Cookie` fields (RFC 6265 section 4.2.1); HTTP/2 may have one for each.
  private func combine(cookie name: [UInt8], of fields: FieldBlock, into hash: inout StableHash) -> Bool {
    var next = fields.firstIndex(of: .cookie)
    while let index = next {
      let range = fields.withValue(at: index) { Self.range(of: name, in: $0) }
      if let range {
        fields.withValue(at: index) { hash.combine($0.extracting(range)) }
        return true
      }
      next = fields.nextIndex(of: .cookie, from: index + 1)
    }
    return false
  }

  private static func range(of name: [UInt8], in value: Span<UInt8>) -> Range<Int>? {
    var start = 0
    while start < value.count {
      while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
      var end = start
      while end < value.count, value[end] != UInt8(ascii: ";") { end += 1 }
      let begin = start + name.count
      if begin < end, value[begin] == UInt8(ascii: "="), name.indices.allSatisfy({ value[start + $0] == name[$0] }) {
        return begin + 1..<end
      }
      start = end + 1
    }
    return nil
  }
}
