/// `credentials:` of an upstream, how the gateway proves to it who it is.
package enum CredentialsConfiguration: Sendable, Equatable {
  /// A field with a value of the configuration.
  case fixed(HeaderChangesConfiguration.Field)
  /// A field with the content of a file behind a prefix.
  case file(FileReference, header: String, prefix: String)
  /// `Authorization: Bearer` with a token for clients (RFC 6749 section 4.4).
  case oauth2(OAuth2Configuration)
}

/// `oauth2:`, how a token is asked for.
package struct OAuth2Configuration: Sendable, Equatable {
  /// `client_auth:`, how the gateway proves to the token endpoint who it is (RFC 6749 section 2.3.1).
  package enum ClientAuthentication: String, Sendable, CaseIterable {
    case basic
    /// In the body.
    case post
  }

  package var endpoint: RemoteResource
  package var clientID: String
  /// A secret.
  package var clientSecret: String
  package var scopes: [String] = []
  package var audience: String?
  /// (Default: basic)
  package var clientAuthentication = ClientAuthentication.basic
  /// For one request to the endpoint (Default: 5s).
  package var timeout: Duration = .seconds(5)

  package init(endpoint: RemoteResource, clientID: String, clientSecret: String) {
    self.endpoint = endpoint
    self.clientID = clientID
    self.clientSecret = clientSecret
  }
}
