import Diagnostics

extension RootReader {
  func clientCertificate(_ node: Node) -> ClientCertificateConfiguration? {
    guard let map = MappingReader(node, Sections.clientCertificate, context) else { return nil }
    var result = ClientCertificateConfiguration()
    context.read(map[.required], into: &result.isRequired) { context.boolean($0) }
    context.read(map[.allow], into: &result.allowed) { node in
      let elements = context.list(node, "names and fingerprints")
      if elements?.isEmpty == true {
        context.error(node.position, "nobody is allowed, so nobody could call", cure: "leave `allow` out for everybody")
      }
      return elements?.compactMap { allowed($0) }
    }
    context.read(map[.forward], into: &result.forward) { forwards($0) }
    if !context.isIncomplete, !configuration.listeners.contains(where: { $0.tls?.clientCA != nil }) {
      context.error(
        node.position, "no listener asks clients for certificates",
        cure: "write `client_ca: FILE` under the `tls:` of a listener")
    }
    return result
  }

  private func allowed(_ node: Node) -> ClientCertificateConfiguration.Allowed? {
    guard let text = context.name(node, "a name or a fingerprint") else { return nil }
    if let digits = text.value.dropping(prefix: "sha256:") {
      let plain = digits.lowercased().filter { $0 != ":" }
      if plain.utf8.count == 64, plain.allSatisfy({ $0.isHexDigit && $0.isASCII }) { return .fingerprint(plain) }
    } else if ["DNS:", "URI:", "email:"].contains(where: { text.value.hasPrefix($0) && text.value != $0 }) {
      let isVisible = text.value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
      let stars = text.value.filter { $0 == "*" }.count
      if isVisible, stars == 0 { return .name(text.value) }
      if isVisible, stars == 1, text.value.hasSuffix("*") { return .names(prefix: String(text.value.dropLast())) }
    }
    context.error(
      node.position, "\(text.shown) is no name of a certificate",
      cure:
        "write `DNS:a.example`, `URI:spiffe://example/app` or `URI:spiffe://example/*`, `email:…`, or `sha256:` and 64 "
        + "hexadecimal digits")
    return nil
  }

  /// `{ subject: x-client-subject }`: headers by property.
  private func forwards(_ node: Node) -> [ClientCertificateConfiguration.Forward]? {
    guard let entries = context.mapping(node, "headers by property of a certificate") else { return nil }
    var result: [ClientCertificateConfiguration.Forward] = []
    for entry in entries {
      guard let property = ClientCertificateConfiguration.Property(rawValue: entry.key) else {
        let known = ClientCertificateConfiguration.Property.allCases.map(\.rawValue)
        context.error(
          entry.keyPosition, "\(quoted(entry.key)) is no property of a certificate",
          cure: context.nearest(entry.key, in: known).map { "did you mean \(quoted($0))?" }
            ?? "write \(listed(known, "or"))")
        continue
      }
      guard let header = identityHeader(entry.value) else { continue }
      result.append(ClientCertificateConfiguration.Forward(property: property, header: header.value))
    }
    return result
  }
}
