/// `jwt:`
package struct JWTConfiguration: Sendable, Equatable {
  /// `jwks:`, where the keys come from.
  package enum Keys: Sendable, Equatable {
    /// Published by the issuer; fetched anew after each period.
    case published(RemoteResource, refresh: Duration)
    /// Of a file, read with the configuration.
    case file(FileReference)
  }

  /// `from:`, where callers put the token.
  package enum Place: Sendable, Equatable {
    /// `Authorization: Bearer`.
    case bearer
    /// A header of its own, in lower case; a `Bearer ` before the token is fine.
    case header(String)
    case cookie(String)
    case query(String)
  }

  /// A claim that a token needs.
  package struct Claim: Sendable, Equatable {
    package var name: String
    /// Nil: any value.
    package var values: [String]?

    package init(name: String, values: [String]?) {
      self.name = name
      self.values = values
    }
  }

  /// A claim that goes to the backend in a header.
  package struct Forward: Sendable, Equatable {
    package var claim: String
    /// In lower case.
    package var header: String

    package init(claim: String, header: String) {
      self.claim = claim
      self.header = header
    }
  }

  /// Whoever signs tokens, and what they have to say.
  package struct Issuer: Sendable, Equatable {
    /// Nil: `iss` is not looked at; only where there is no other issuer.
    package var issuer: String?
    /// One of them has to be in `aud`; empty: it is not looked at.
    package var audiences: [String] = []
    /// (Default: all but those with a shared secret)
    package var algorithms = SignatureAlgorithm.asymmetric
    package var keys: Keys
    /// How far clocks may differ (Default: 60s).
    package var leeway: Duration = .seconds(60)
    package var required: [Claim] = []
    /// Whether a token without `exp` is taken (Default: false).
    package var allowsEndless = false

    package init(keys: Keys) { self.keys = keys }
  }

  /// At least one.
  package var issuers: [Issuer]
  package var place = Place.bearer
  package var forward: [Forward] = []
  /// Whether the backend does not get the token (Default: false).
  package var strips = false
  /// Whether callers without a token are let through; one that is not valid is refused all the same (Default: false).
  package var isOptional = false

  package init(issuers: [Issuer]) { self.issuers = issuers }
}
