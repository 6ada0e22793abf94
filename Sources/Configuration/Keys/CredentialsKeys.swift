extension Sections {
  static let credentials = Section<CredentialsKey>("the credentials of an upstream")
  static let staticCredentials = Section<StaticCredentialsKey>("static credentials")
  static let fileCredentials = Section<FileCredentialsKey>("credentials of a file")
  static let oauth2 = Section<OAuth2Key>("an OAuth 2.0 client")
}

enum CredentialsKey: String, SectionKey {
  case `static`, file, oauth2
}

enum StaticCredentialsKey: String, SectionKey {
  case header, value
}

enum FileCredentialsKey: String, SectionKey {
  case path, header, prefix
}

enum OAuth2Key: String, SectionKey {
  case tokenURL = "token_url"
  case clientID = "client_id"
  case clientSecret = "client_secret"
  case scopes, audience, timeout, tls
  case clientAuth = "client_auth"
}
