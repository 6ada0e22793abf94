/// Why a token or a key set is not accepted: for logs, never for the caller. It names fields and algorithms and quotes
/// neither tokens nor claims.
package struct TokenFault: Error, Sendable, Equatable {
  /// The raw values are labels of a metric, and reasons in the access log.
  package enum Kind: String, Sendable {
    /// It is no signed token in compact form, or no key set.
    case malformed
    /// Its algorithm may not be used, or not with its key.
    case algorithm
    /// No key of the set is the one that it names: a newer set may have it.
    case unknownKey = "unknown_key"
    case signature
    case expired
    case notYetValid = "not_yet_valid"
    case issuer
    case audience
    /// A claim that is required.
    case claim
  }

  package var kind: Kind
  package var reason: String

  package init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}
