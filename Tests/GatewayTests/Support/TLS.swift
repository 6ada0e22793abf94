import Testing
import TransportSecurity
import TransportSecurityTestSupport

@testable import Gateway

/// Certificates for a gateway under test, and sessions of its peers.
final class TestCertificates {
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  /// `{ certificate: …, key: … }` of a new certificate, without the braces.
  func issue(_ file: String, for names: [String], validity: ClosedRange<Int> = -3600...86_400) throws -> String {
    let files = try authority.issue(file, for: names, validity: validity)
    return "certificate: \(files.certificate), key: \(files.key)"
  }

  func identity(_ file: String, for names: [String]) throws -> Identity {
    let files = try authority.issue(file, for: names)
    return try Identity.load(certificate: files.certificate, key: files.key)
  }

  /// A session of a client that trusts the authority.
  func client(
    _ name: String = "gateway.test", identity: Identity? = nil, protocols: [String] = ["http/1.1"]
  ) throws -> SecureSession {
    let trust = ClientContext.Trust.authorities(try Certificate.load(path: authority.file))
    return try SecureSession(
      client: ClientContext(trust: trust, identity: identity, protocols: protocols), name: name)
  }

  /// A session of a backend.
  func server(
    for names: [String] = ["DNS:localhost", "IP:127.0.0.1"], requiresClient: Bool = false
  ) throws -> SecureSession {
    let authorities = try Certificate.load(path: authority.file)
    return try SecureSession(
      server: ServerContext(
        identities: [identity("backend", for: names)], clients: requiresClient ? .required(authorities) : .none,
        protocols: ["http/1.1"], tickets: TicketKeys()))
  }
}

extension TestGateway {
  /// A new connection that speaks TLS.
  func client(_ session: SecureSession, receiveBuffer: CInt? = nil) throws -> RawClient {
    let client = try client(receiveBuffer: receiveBuffer)
    let fault = client.secure(session)
    try #require(fault == nil)
    return client
  }
}
