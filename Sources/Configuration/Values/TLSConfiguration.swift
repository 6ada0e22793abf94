package import Diagnostics

/// A file that the configuration names, ready to open.
package struct FileReference: Sendable, Equatable {
  package var path: String
  package var position: SourcePosition
  /// Whether the path came from `${env:}` or `${file:}`, so that it is not to be shown.
  package var isSecret = false

  package init(path: String, position: SourcePosition, isSecret: Bool = false) {
    self.path = path
    self.position = position
    self.isSecret = isSecret
  }
}

/// A certificate with what links it to its authority, and its key; PEM files.
package struct CertificateConfiguration: Sendable, Equatable {
  package var certificate: FileReference
  package var key: FileReference

  package init(certificate: FileReference, key: FileReference) {
    self.certificate = certificate
    self.key = key
  }
}

/// `tls:` of a listener.
package struct ListenerTLSConfiguration: Sendable, Equatable {
  /// `client_auth:`
  package enum ClientAuth: String, Sendable, CaseIterable {
    /// A client without a certificate of the client CA is not let in.
    case required
    /// A client may come without one.
    case optional
  }

  /// At least one; the first is for clients that ask for no name, or for one that none covers.
  package var certificates: [CertificateConfiguration]
  /// Whose certificates clients show; nil: none is asked for.
  package var clientCA: FileReference?
  /// With a client CA (Default: required).
  package var clientAuth = ClientAuth.required
  /// Answers 421 to a request for an authority that the certificate does not cover (Default: true).
  package var checksAuthority = true

  package init(certificates: [CertificateConfiguration]) { self.certificates = certificates }
}

/// `tls:` of an upstream, for its `https://` endpoints.
package struct UpstreamTLSConfiguration: Sendable, Equatable {
  /// The authorities that are trusted, and no others; nil: those of the machine.
  package var ca: FileReference?
  /// Shown to servers that ask for one.
  package var identity: CertificateConfiguration?
  /// What the server's certificate has to be for, and what SNI says; nil: the endpoint's host.
  package var serverName: String?
  package var position: SourcePosition

  package init(position: SourcePosition) { self.position = position }
}

extension GatewayConfiguration {
  /// Files of certificates, keys and tokens. What one of them holds may change while the configuration stays.
  package var credentialFiles: [String] {
    let ofListeners = (listeners.map(\.tls) + [admin?.tls]).compactMap { $0 }.flatMap { tls in
      tls.certificates.flatMap { [$0.certificate, $0.key] } + [tls.clientCA].compactMap { $0 }
    }
    let ofUpstreams = (upstreams.map(\.tls) + redis.map(\.tls)).compactMap { $0 }.flatMap { tls in
      [tls.ca, tls.identity?.certificate, tls.identity?.key].compactMap { $0 }
    }
    return (ofListeners + ofUpstreams).map(\.path) + keyFiles
  }
}
