import Bytes
import Testing
import TransportSecurityTestSupport

@testable import TransportSecurity

@Suite struct VerificationTests {
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  private func fault(
    _ client: ClientContext, _ server: ServerContext, name: String = "a.example"
  ) throws -> (client: TLSError?, server: TLSError?) {
    let result = try Pair(client, server, name: name).handshake()
    func error(_ progress: SecureSession.Progress) -> TLSError? {
      if case .failed(let error) = progress { error } else { nil }
    }
    return (error(result.client), error(result.server))
  }

  @Test func anUnknownAuthorityIsRefused() throws {
    let other = try TestAuthority("Other")
    let faults = try fault(other.client(), authority.server())
    #expect(faults.client?.kind == .certificate)
    #expect(faults.client?.reason.contains("unable to get local issuer certificate") == true)
    #expect(faults.server?.kind == .refused)
    #expect(faults.server?.reason.contains("unknown ca") == true)
    // The machine's authorities do not know it either.
    #expect(try fault(ClientContext(), authority.server()).client?.kind == .certificate)
  }

  @Test func aCertificateCanBeTrustedByItself() throws {
    let files = try authority.issue("pinned", for: ["DNS:a.example"])
    let server = try ServerContext(
      identities: [Identity.load(certificate: files.certificate, key: files.key)], protocols: [], tickets: TicketKeys())
    let pinned = try ClientContext(trust: .authorities(Certificate.load(path: files.certificate)))
    #expect(try fault(pinned, server).client == nil)
    #expect(try fault(pinned, authority.server()).client?.kind == .certificate)
  }

  @Test func anAuthorityOfTheSameNameIsRefused() throws {
    let faults = try fault(TestAuthority().client(), authority.server())
    #expect(faults.client?.kind == .certificate)
    #expect(faults.client?.reason.contains("signature") == true)
  }

  @Test(arguments: ["b.example", "x.a.example", "aXexample", "127.0.0.2", "::1"])
  func aWrongNameIsRefused(_ name: String) throws {
    let server = try authority.server(["DNS:a.example", "IP:127.0.0.1", "DNS:*.wild.example"])
    let fault = try fault(authority.client(), server, name: name).client
    #expect(fault?.kind == .certificate)
    #expect(fault?.reason.contains("it is for a.example, *.wild.example, 127.0.0.1") == true)
  }

  @Test(arguments: ["a.example", "A.Example", "x.wild.example", "127.0.0.1"])
  func aRightNameIsAccepted(_ name: String) throws {
    let server = try authority.server(["DNS:a.example", "IP:127.0.0.1", "DNS:*.wild.example"])
    #expect(try fault(authority.client(), server, name: name).client == nil)
  }

  @Test func anExpiredCertificateIsRefused() throws {
    let files = try authority.issue("old", for: ["DNS:a.example"], validity: -7200 ... -3600)
    let old = try Identity.load(certificate: files.certificate, key: files.key)
    let server = try ServerContext(identities: [old], protocols: [], tickets: TicketKeys())
    let fault = try fault(authority.client(), server).client
    #expect(fault?.kind == .certificate)
    #expect(fault?.reason.contains("expired") == true)
  }

  @Test func aClientIsAskedForItsCertificate() throws {
    let stranger = try TestAuthority("Stranger")
    let own = try authority.client(identity: authority.identity("client", for: []))
    let foreign = try authority.client(identity: stranger.identity("stranger", for: []))
    let none = try authority.client()
    let required = try authority.server(clients: .required(authority.certificates))
    let optional = try authority.server(clients: .optional(authority.certificates))
    #expect(try fault(own, required).server == nil)
    #expect(try fault(own, optional).server == nil)
    #expect(try fault(none, optional).server == nil)
    #expect(try fault(none, required).server?.kind == .noCertificate)
    #expect(try fault(foreign, required).server?.kind == .certificate)
    #expect(try fault(foreign, optional).server?.kind == .certificate)
    #expect(try fault(foreign, authority.server()).server == nil)
  }

  @Test func whatAServerCannotBeCalledIsRefused() throws {
    #expect(throws: TLSError.self) { try SecureSession(client: authority.client(), name: "") }
  }

  @Test func contextsAreTheSameWhenTheirFilesAre() throws {
    let identity = try authority.identity("one", for: ["DNS:a.example"])
    let other = try authority.identity("two", for: ["DNS:a.example"])
    func print(_ identity: Identity, _ clients: ServerContext.ClientVerification = .none) throws -> [UInt8] {
      try ServerContext(identities: [identity], clients: clients, protocols: ["h2"], tickets: TicketKeys()).fingerprint
    }
    let prints = [
      try print(identity), try print(other), try print(identity, .optional(authority.certificates)),
      try print(identity, .required(authority.certificates)),
    ]
    #expect(Set(prints).count == prints.count)
    #expect(try print(identity) == prints[0])
    #expect(try authority.client().fingerprint == authority.client().fingerprint)
    #expect(try authority.client().fingerprint != ClientContext().fingerprint)
    #expect(try authority.client().fingerprint != authority.client(identity: identity).fingerprint)
  }
}
