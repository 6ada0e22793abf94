import Bytes
package import Configuration
import HTTPModel

/// What callers are known by: the first key that a call has, behind all of them its address.
package struct StickyKeys: Sendable {
  private enum Key: Sendable {
    case header([UInt8])
    case cookie([UInt8])
    case claim(String)
    case address
  }

  private let keys: [Key]
  private let hash: StickyHash

  /// - Parameter salt: what the hash is salted with, unless the settings say so.
  package init(_ settings: RouteSettings.Canary, salt: String) {
    hash = StickyHash(salt: settings.salt ?? salt)
    keys = settings.stickyBy.map { key in
      switch key {
      case .header(let name): .header(Array(name.utf8))
      case .cookie(let name): .cookie(Array(name.utf8))
      case .claim(let name): .claim(name)
      case .clientAddress: .address
      }
    }
  }

  /// The salted hash of the caller's key. An empty value counts as none.
  package func hash(of caller: some CanaryCaller) -> UInt64 {
    for key in keys {
      switch key {
      case .header(let name):
        guard let index = caller.fields.firstIndex(of: name.span) else { continue }
        if let found = caller.fields.withValue(at: index, { hashed($0) }) { return found }
      case .cookie(let name):
        if let found = cookie(name, caller) { return found }
      case .claim(let name):
        if let value = caller.claim(named: name), let found = hashed(Array(value.utf8).span) { return found }
      case .address:
        return addressHash(caller)
      }
    }
    return addressHash(caller)
  }

  private func hashed(_ value: Span<UInt8>) -> UInt64? { value.isEmpty ? nil : hash.hash(value) }

  /// The first cookie of a name (RFC 6265 section 4.2), over all fields that carry cookies.
  private func cookie(_ name: [UInt8], _ caller: some CanaryCaller) -> UInt64? {
    let fields = caller.fields
    var next = fields.firstIndex(of: .cookie)
    while let index = next {
      if let found = fields.withValue(at: index, { cookie(name, in: $0) }) { return found }
      next = fields.nextIndex(of: .cookie, from: index + 1)
    }
    return nil
  }

  private func cookie(_ name: [UInt8], in value: Span<UInt8>) -> UInt64? {
    var start = 0
    while start < value.count {
      var end = start
      while end < value.count, value[end] != UInt8(ascii: ";") { end += 1 }
      while start < end, value[start] == UInt8(ascii: " ") { start += 1 }
      let pair = value.extracting(start..<end)
      if pair.count > name.count, pair[name.count] == UInt8(ascii: "="),
        ASCII.equal(pair.extracting(0..<name.count), name.span)
      {
        return hashed(pair.extracting(name.count + 1..<pair.count))
      }
      start = end + 1
    }
    return nil
  }

  /// Of IPv6 the network of 64 bits: phones change the rest by themselves.
  private func addressHash(_ caller: some CanaryCaller) -> UInt64 {
    let bits = caller.addressBits ?? (0, 0)
    // An IPv4 address is in the last bits.
    var words: InlineArray<2, UInt64> = [bits.high, bits.high == 0 && bits.low >> 32 == 0xFFFF ? bits.low : 0]
    var bytes = InlineArray<16, UInt8>(repeating: 0)
    for word in 0..<2 {
      for index in 0..<8 {
        bytes[word * 8 + index] = UInt8(truncatingIfNeeded: words[word] >> 56)
        words[word] <<= 8
      }
    }
    return hash.hash(bytes.span)
  }
}
