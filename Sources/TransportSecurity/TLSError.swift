/// Why a session cannot begin or go on.
package struct TLSError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The raw values are labels of metrics.
  package enum Kind: String, Sendable, CaseIterable {
    /// The peer's certificate does not verify, or is for another name.
    case certificate
    /// The peer gave no certificate and has to.
    case noCertificate = "no_certificate"
    /// The peer ended the session with an alert, such as one about our certificate.
    case refused
    /// What came is no TLS.
    case notTLS = "not_tls"
    /// No version, cipher or application protocol in common, or a breach of the protocol.
    case `protocol`
    /// The connection ended without the notice that says that all was sent.
    case truncated
  }

  package var kind: Kind
  package var reason: String
  /// Whether the peer sent an HTTP request in the clear.
  package var isPlainHTTP = false

  package init(_ kind: Kind, _ reason: String, isPlainHTTP: Bool = false) {
    self.kind = kind
    self.reason = reason
    self.isPlainHTTP = isPlainHTTP
  }

  package var description: String { reason }

  static let truncated = TLSError(.truncated, "the connection ended without a close-notify")
}
