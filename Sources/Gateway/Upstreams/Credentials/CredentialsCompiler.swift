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

  /// Bytes of the longest secret in a file.
  private static let maximumSecret = 16 << 10

  init(_ upstreams: [UpstreamConfiguration], tokens: ResourceRegistry<TokenSourceIdentity, CredentialField>) {
    self.tokens = tokens
    for upstream in upstreams {
      let made = upstream.credentials.flatMap { make($0) }
      credentials.append(made)
    }
  }

  private mutating func make(_ configuration: CredentialsConfiguration) -> OutgoingCredentials? {
    switch configuration {
    case .fixed(let field): return .fixed(CredentialField(field.name, field.value))
    case .file(let file, let header, let prefix):
      return secret(of: file).map { .fixed(CredentialField(header, prefix + $0)) }
    case .oauth2(let settings):
      let (origin, more) = InternalOrigin.make(settings.endpoint, for: .token)
      diagnostics += more
      guard let origin else { return nil }
      let resource = TokenSource.token(settings, origin, tokens)
      resources.append(resource)
      return .token(resource)
    }
  }

  /// The content of a file without blanks and line breaks at its ends.
  private mutating func secret(of file: FileReference) -> String? {
    let shown = file.isSecret ? "the credentials" : "the credentials \(file.path)"
    func report(_ reason: String) {
      diagnostics.append(
        Diagnostic(at: file.position, "\(shown) cannot be used: \(reason)", cure: "write the secret into it, alone"))
    }
    switch FileContent.read(file.path, limit: Self.maximumSecret) {
    case .failure(let fault):
      report(fault.reason)
      return nil
    case .success(let bytes):
      let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
      var secret = bytes.drop { blanks.contains($0) }
      while let last = secret.last, blanks.contains(last) { secret.removeLast() }
      guard !secret.isEmpty else {
        report("it is empty")
        return nil
      }
      guard secret.allSatisfy({ (0x20...0x7E).contains($0) }) else {
        report("it has a line break or a character beyond ASCII")
        return nil
      }
      return String(decoding: secret, as: UTF8.self)
    }
  }
}
