import COpenSSL
import Glibc

/// The names and addresses that a certificate is for (RFC 9525): its subjectAltName, or the common name of one that
/// has none.
package struct CertificateNames: Sendable, Hashable {
  /// Lower case, without wildcards.
  package private(set) var hosts: [String] = []
  /// What stands after `*.` in names with a wildcard.
  private(set) var wildcards: [String] = []
  /// As text: `192.0.2.1`, `2001:db8::1`.
  package private(set) var addresses: [String] = []

  package init(hosts: [String] = [], wildcards: [String] = [], addresses: [String] = []) {
    self.hosts = hosts
    self.wildcards = wildcards
    self.addresses = addresses
  }

  init(of certificate: OpaquePointer) {
    guard let names = copenssl_alternative_names(certificate) else {
      if let name = Self.commonName(certificate) { add(name) }
      ErrorQueue.clear()
      return
    }
    defer { copenssl_free_names(names) }
    for index in 0..<copenssl_name_count(names) {
      var isAddress: CInt = 0
      var start: UnsafePointer<UInt8>?
      let length = copenssl_name_at(names, index, &isAddress, &start)
      guard length > 0, let start else { continue }
      let bytes = UnsafeBufferPointer(start: start, count: Int(length))
      if isAddress != 0 {
        if let address = Self.text(ofAddress: bytes) { addresses.append(address) }
      } else {
        add(String(decoding: bytes, as: UTF8.self))
      }
    }
  }

  private mutating func add(_ name: String) {
    let name = name.lowercased()
    // A zero byte or a line break would fool whoever compares or prints it.
    guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return }
    if name.hasPrefix("*.") { wildcards.append(String(name.dropFirst(2))) } else { hosts.append(name) }
  }

  private static func commonName(_ certificate: OpaquePointer) -> String? {
    guard let subject = X509_get_subject_name(certificate) else { return nil }
    var text = [CChar](repeating: 0, count: 256)
    let length = X509_NAME_get_text_by_NID(subject, NID_commonName, &text, CInt(text.count))
    guard length > 0 else { return nil }
    return String(decoding: text.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func text(ofAddress bytes: UnsafeBufferPointer<UInt8>) -> String? {
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(family, bytes.baseAddress, &text, socklen_t(text.count)) != nil else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// All of them, for messages.
  package var all: [String] { hosts + wildcards.map { "*.\($0)" } + addresses }

  /// Whether a host is covered: a name in any case, with or without the root's dot, or an address. A wildcard stands
  /// for exactly one label.
  package func cover(host: Span<UInt8>) -> Bool {
    var end = host.count
    if end > 1, host[end - 1] == UInt8(ascii: ".") { end -= 1 }
    let host = host.extracting(0..<end)
    if host.isEmpty { return false }
    for name in hosts where Self.equal(name, host) { return true }
    for address in addresses where Self.equal(address, host) { return true }
    guard !wildcards.isEmpty, let dot = host.indices.first(where: { host[$0] == UInt8(ascii: ".") }), dot > 0 else {
      return false
    }
    let parent = host.extracting(dot + 1..<host.count)
    for name in wildcards where Self.equal(name, parent) { return true }
    return false
  }

  /// Whether the authority of a request is covered, port or not, IPv6 in brackets.
  package func cover(authority: Span<UInt8>) -> Bool {
    if let first = authority.indices.first, authority[first] == UInt8(ascii: "[") {
      guard let end = authority.indices.first(where: { authority[$0] == UInt8(ascii: "]") }) else { return false }
      return cover(address: authority.extracting(1..<end))
    }
    let end = authority.indices.first { authority[$0] == UInt8(ascii: ":") } ?? authority.count
    return cover(host: authority.extracting(0..<end))
  }

  /// An IPv6 address in any of its spellings.
  private func cover(address: Span<UInt8>) -> Bool {
    if addresses.isEmpty || address.count > 64 { return false }
    let text = String(decoding: address.indices.map { address[$0] }, as: UTF8.self)
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return false }
    let plain = withUnsafeBytes(of: six) { Self.text(ofAddress: $0.bindMemory(to: UInt8.self)) }
    return plain.map { addresses.contains($0) } ?? false
  }

  private static func equal(_ name: String, _ bytes: Span<UInt8>) -> Bool {
    let utf8 = name.utf8
    guard utf8.count == bytes.count else { return false }
    var index = 0
    for byte in utf8 {
      var other = bytes[index]
      if other >= UInt8(ascii: "A"), other <= UInt8(ascii: "Z") { other |= 0x20 }
      if byte != other { return false }
      index &+= 1
    }
    return true
  }
}
