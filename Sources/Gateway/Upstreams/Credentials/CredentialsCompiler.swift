import Configuration
import Diagnostics
import EventLoops
import Files

/// Makes the credentials of a configuration's upstreams.
struct CredentialsCompiler {
  /// By the index of the upstream.
  private(set) var credentials: [OutgoingCredentials?] = []
  /// What has to be fetched.
  private(set) var resources: [any RefreshedResource] = []
  private(set) var diagnostics: [Diagnostic] = []
  private let tokens: ResourceRegistry<TokenSourceIdentity, CredentialField>
  private let files: CredentialFiles

  /// Bytes of the longest secret in a file.
  private static let maximumSecret = 16 << 10

  init(
    _ upstreams: [UpstreamConfiguration], tokens: ResourceRegistry<TokenSourceIdentity, CredentialField>,
    _ files: CredentialFiles
  ) {
    self.tokens = tokens
    self.files = files
    for upstream in upstreams {
      let made = upstream.credentials.flatMap { make($0) }
      credentials.append(made)
    }
  }

  private mutating func make(_ configuration: CredentialsConfiguration) -> OutgoingCredentials? {
    switch configuration {
    case .fixed(let field): return .fixed(CredentialField(field.name, field.value))
    case .file(let file, let header, let prefix):
      let (secret, told) = files.take("secret \(file.path)") { Self.secret(of: file) }
      diagnostics += told
      return secret.map { .fixed(CredentialField(header, prefix + $0)) }
    case .oauth2(let settings):
      let (origin, more) = InternalOrigin.make(settings.endpoint, for: .token, files)
      diagnostics += more
      guard let origin else { return nil }
      let resource = TokenSource.token(settings, origin, tokens)
      resources.append(resource)
      return .token(resource)
    }
  }

  /// The content of a file without blanks and line breaks at its ends.
  private static func secret(of file: FileReference) -> (value: String?, diagnostics: [Diagnostic]) {
    let shown = file.isSecret ? "the credentials" : "the credentials \(file.path)"
    func fault(_ reason: String) -> (value: String?, diagnostics: [Diagnostic]) {
      let fault = Diagnostic(
        at: file.position, "\(shown) cannot be used: \(reason)", cure: "write the secret into it, alone")
      return (nil, [fault])
    }
    switch FileContent.read(file.path, limit: maximumSecret) {
    case .failure(let failure): return fault(failure.reason)
    case .success(let bytes):
      let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
      var secret = bytes.drop { blanks.contains($0) }
      while let last = secret.last, blanks.contains(last) { secret.removeLast() }
      guard !secret.isEmpty else { return fault("it is empty") }
      guard secret.allSatisfy({ (0x20...0x7E).contains($0) }) else {
        return fault("it has a line break or a character beyond ASCII")
      }
      return (String(decoding: secret, as: UTF8.self), [])
    }
  }
}
