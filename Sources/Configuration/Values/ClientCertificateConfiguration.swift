/// `client_certificate:`, who calls by the certificate that the listener has verified.
package struct ClientCertificateConfiguration: Sendable, Equatable {
  /// What of a certificate goes to the backend.
  package enum Property: String, Sendable, CaseIterable {
    case subject
    /// All alternative names, with commas between them.
    case san
    /// SHA-256 in hexadecimal.
    case fingerprint
    case spiffe
  }

  /// A property and the header that carries it, in lower case.
  package struct Forward: Sendable, Equatable {
    package var property: Property
    package var header: String

    package init(property: Property, header: String) {
      self.property = property
      self.header = header
    }
  }

  /// What one of its names has to be.
  package enum Allowed: Sendable, Equatable {
    /// `DNS:a`, `URI:b`, `email:c`.
    case name(String)
    /// All names that begin so: written with a `*` at the end.
    case names(prefix: String)
    /// SHA-256 of the certificate, in lower-case hexadecimal.
    case fingerprint(String)
  }

  /// Whether callers without a certificate are refused (Default: true).
  package var isRequired = true
  /// Empty: all that the listener's authorities have issued.
  package var allowed: [Allowed] = []
  package var forward: [Forward] = []

  package init() {}
}
