import Configuration
import HTTPModel
import RPC
import TransportSecurity

/// `client_certificate`: lets only callers through whose certificate is one that is meant, and tells the backend whose it
/// is. The listener has verified it before.
struct ClientCertificates: AuthenticatingInterceptor {
  private let isRequired: Bool
  private let allowed: [ClientCertificateConfiguration.Allowed]
  private let forward: [(property: ClientCertificateConfiguration.Property, field: [UInt8])]

  init(_ configuration: ClientCertificateConfiguration) {
    isRequired = configuration.isRequired
    allowed = configuration.allowed
    forward = configuration.forward.map { (property: $0.property, field: Array($0.header.utf8)) }
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    guard let identity = call.client?.identity else {
      guard isRequired else { return .proceed }
      if call.isExplained {
        call.omissions.append("client_certificate: a caller would have to show one")
        return .proceed
      }
      call.worker.countAuthRefused("client_certificate", "none")
      return .refuse(
        RPCError(
          .unauthenticated, "a client certificate is needed", headers: [("www-authenticate", "ClientCertificate")]))
    }
    guard allows(identity) else {
      call.worker.countAuthRefused("client_certificate", "not_allowed")
      return .refuse(
        RPCError(
          .permissionDenied, "the client certificate is not for this",
          logDetail: "the certificate of \(identity.subject) is not among those that are allowed"))
    }
    for (property, field) in forward {
      guard let value = Self.value(property, identity) else { continue }
      call.head.fields.append(field.span, Array(value.utf8).span)
    }
    return .proceed
  }

  private func allows(_ identity: ClientIdentity) -> Bool {
    if allowed.isEmpty { return true }
    return allowed.contains { one in
      switch one {
      case .name(let name): identity.alternativeNames.contains(name)
      case .names(let prefix): identity.alternativeNames.contains { $0.hasPrefix(prefix) }
      case .fingerprint(let fingerprint): identity.fingerprint == fingerprint
      }
    }
  }

  /// Nil for what the certificate does not have, and what no field can carry.
  private static func value(
    _ property: ClientCertificateConfiguration.Property, _ identity: ClientIdentity
  ) -> String? {
    let value: String?
    switch property {
    case .subject: value = identity.subject
    case .san: value = identity.alternativeNames.joined(separator: ",")
    case .fingerprint: value = identity.fingerprint
    case .spiffe: value = identity.spiffe
    }
    guard let value, !value.isEmpty, value.utf8.count <= 4096, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
      !value.hasPrefix(" "), !value.hasSuffix(" ")
    else { return nil }
    return value
  }
}
