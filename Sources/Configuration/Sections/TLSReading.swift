import Diagnostics

extension RootReader {
  func listenerTLS(_ node: Node) -> ListenerTLSConfiguration? {
    guard let map = MappingReader(node, Sections.listenerTLS, context) else { return nil }
    var certificates: [CertificateConfiguration] = []
    let isSingle = map[.certificate] != nil || map[.key] != nil
    if isSingle, let one = certificate(map[.certificate], map[.key], map.place, Sections.listenerTLS.name) {
      certificates.append(one)
    }
    if let list = map[.certificates] {
      let elements = context.list(list, "certificates") ?? []
      if elements.isEmpty, !isSingle {
        context.error(list.position, "no certificate is given", cure: "write `- { certificate: FILE, key: FILE }`")
      }
      for element in elements {
        guard let map = MappingReader(element, Sections.certificate, context) else { continue }
        if let one = certificate(map[.certificate], map[.key], map.place, Sections.certificate.name) {
          certificates.append(one)
        }
      }
    } else if !isSingle, !map.wasMeant(.certificate), !map.wasMeant(.certificates) {
      context.error(
        map.place, "\(Sections.listenerTLS.name) needs `certificate` and `key`",
        cure: "write `tls: { certificate: FILE, key: FILE }`")
    }
    var result = ListenerTLSConfiguration(certificates: certificates)
    context.read(map[.clientCA], into: &result.clientCA) { file($0) }
    context.read(map[.clientAuth], into: &result.clientAuth) { context.word($0, "a way to treat clients") }
    context.read(map[.checkAuthority], into: &result.checksAuthority) { context.boolean($0) }
    if map[.clientAuth] != nil, map[.clientCA] == nil, !map.wasMeant(.clientCA) {
      context.error(
        map.keyPosition(.clientAuth), "`client_auth` is given without `client_ca`",
        cure: "name the file of the authorities whose certificates clients show")
    }
    return result
  }

  func upstreamTLS(_ node: Node) -> UpstreamTLSConfiguration? { clientTLS(node, Sections.upstreamTLS) }

  /// Where the gateway is the client.
  func clientTLS(_ node: Node, _ section: Section<UpstreamTLSKey>) -> UpstreamTLSConfiguration? {
    guard let map = MappingReader(node, section, context) else { return nil }
    var result = UpstreamTLSConfiguration(position: node.position)
    context.read(map[.ca], into: &result.ca) { file($0) }
    if map[.certificate] != nil || map[.key] != nil {
      result.identity = certificate(map[.certificate], map[.key], map.place, section.name)
    }
    context.read(map[.serverName], into: &result.serverName) { context.serverName($0) }
    return result
  }

  /// Both or none: a certificate is of no use without its key.
  private func certificate(
    _ certificate: Node?, _ key: Node?, _ place: SourcePosition, _ section: String
  ) -> CertificateConfiguration? {
    guard let certificate, let key else {
      let missing = certificate == nil ? "certificate" : "key"
      context.error(place, "\(section) needs \(quoted(missing))", cure: "write `certificate: FILE` and `key: FILE`")
      return nil
    }
    guard let certificate = file(certificate), let key = file(key) else { return nil }
    return CertificateConfiguration(certificate: certificate, key: key)
  }

  func file(_ node: Node) -> FileReference? {
    context.path(node).map { FileReference(path: $0.value, position: $0.position, isSecret: $0.isSecret) }
  }
}

extension LoadContext {
  /// A host name or an address, as a certificate says it.
  fileprivate func serverName(_ node: Node) -> String? {
    guard let text = name(node, "a server name") else { return nil }
    if let name = IPAddress.ipv4(text.value) ?? IPAddress.ipv6(text.value) ?? IPAddress.hostName(text.value) {
      return name
    }
    error(
      node.position, "\(text.shown) is not a server name", cure: "write a host name or an IP address, without a port")
    return nil
  }
}
