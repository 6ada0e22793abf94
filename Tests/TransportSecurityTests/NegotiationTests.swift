import Bytes
import COpenSSL
import Testing
import TransportSecurityTestSupport

@testable import TransportSecurity

@Suite struct NegotiationTests {
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  @Test func theServersPreferredProtocolIsTaken() throws {
    let server = try authority.server(protocols: ["h2", "http/1.1"])
    for (offered, expected) in [
      (["http/1.1", "h2"], "h2"), (["http/1.1"], "http/1.1"), (["spdy/3", "h2"], "h2"),
    ] {
      let pair = try Pair(authority.client(protocols: offered), server)
      #expect(pair.handshake().server == .done)
      #expect(pair.server.negotiatedProtocol == expected)
      #expect(pair.client.negotiatedProtocol == expected)
    }
    let silent = try Pair(authority.client(), server)
    #expect(silent.handshake().server == .done)
    #expect(silent.server.negotiatedProtocol == nil)
  }

  @Test func noProtocolInCommonIsFatal() throws {
    let pair = try Pair(authority.client(protocols: ["h2"]), authority.server(protocols: ["http/1.1"]))
    let result = pair.handshake()
    guard case .failed(let error) = result.server, case .failed(let refused) = result.client else {
      throw SessionTests.Unexpected()
    }
    #expect(error.kind == .protocol)
    #expect(refused.kind == .refused)
    #expect(refused.reason.contains("no application protocol"))
  }

  @Test func theCertificateIsChosenByName() throws {
    let server = try ServerContext(
      identities: [
        authority.identity("first", for: ["DNS:a.example", "IP:127.0.0.1"]),
        authority.identity("second", for: ["DNS:b.example", "DNS:*.b.example"]),
      ], protocols: ["http/1.1"], tickets: TicketKeys())
    for (name, expected) in [
      ("a.example", "a.example"), ("b.example", "b.example"), ("x.b.example", "b.example"), ("127.0.0.1", "a.example"),
    ] {
      let pair = try Pair(authority.client(), server, name: name)
      let result = pair.handshake()
      #expect(result.client == .done, "\(name)")
      #expect(pair.server.certificateNames?.hosts.first == expected)
      #expect(pair.server.serverName == (name == "127.0.0.1" ? nil : name))
    }
    // Nobody's name gets the first one; the client sees that it is not for it.
    let pair = try Pair(authority.client(), server, name: "c.example")
    guard case .failed(let error) = pair.handshake().client else { throw SessionTests.Unexpected() }
    #expect(error.kind == .certificate)
    #expect(error.reason.contains("a.example"))
  }

  @Test func aNameCanHaveTwoTypesOfKey() throws {
    let names = ["DNS:a.example"]
    let server = try ServerContext(
      identities: [
        authority.identity("rsa", for: names, type: .rsa), authority.identity("ecdsa", for: names),
      ], protocols: [], tickets: TicketKeys())
    #expect(server.choices.count == 1)
    for (algorithms, type) in [("ECDSA+SHA256", EVP_PKEY_EC), ("RSA-PSS+SHA256", EVP_PKEY_RSA)] {
      let context = try authority.client()
      let isSet = algorithms.withCString { text in
        SSL_CTX_ctrl(context.handle.pointer, SSL_CTRL_SET_SIGALGS_LIST, 0, .init(mutating: text))
      }
      #expect(isSet == 1)
      let pair = try Pair(context, server)
      let result = pair.handshake()
      #expect(result.client == .done)
      #expect(pair.client.peerKeyType == type)
    }
  }

  @Test(arguments: [(TLS1_VERSION, false), (TLS1_1_VERSION, false), (TLS1_2_VERSION, true), (TLS1_3_VERSION, true)])
  func versionsBelowOneTwoAreRefused(_ version: CInt, _ isAllowed: Bool) throws {
    let context = try authority.client()
    let handle = context.handle.pointer
    SSL_CTX_ctrl(handle, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
    SSL_CTX_ctrl(handle, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
    // The old ones need weaker signatures than the default allows.
    SSL_CTX_set_security_level(handle, 0)
    let pair = try Pair(context, authority.server())
    let result = pair.handshake()
    #expect((result.server == .done) == isAllowed)
    #expect((result.client == .done) == isAllowed)
  }

  @Test func aSessionGoesOnByItsTicket() throws {
    let client = try authority.client()
    let tickets = TicketKeys()
    let server = try authority.server(tickets: tickets)
    let first = try Pair(client, server)
    #expect(first.handshake().server == .done)
    #expect(!first.server.isResumed)
    let session = try first.client.ticket(from: first)
    defer { SSL_SESSION_free(session) }

    // After a reload with the same keys too.
    for context in [server, try authority.server(tickets: tickets)] {
      let again = try Pair(client, context)
      #expect(again.client.resume(session))
      #expect(again.handshake().server == .done)
      #expect(again.server.isResumed)
      // OpenSSL takes a session that was not ended for a bad one.
      again.client.end()
    }
    // Not with other keys, nor where clients are verified in another way.
    let strangers = [
      try authority.server(), try authority.server(clients: .optional(authority.certificates), tickets: tickets),
    ]
    for context in strangers {
      let again = try Pair(client, context)
      #expect(again.client.resume(session))
      #expect(again.handshake().server == .done)
      #expect(!again.server.isResumed)
    }
  }

  @Test func ticketKeysLastForTwoPeriods() throws {
    let clock = Clock()
    let keys = TicketKeys(period: 100) { clock.seconds }
    let first = try #require(keys.current())
    clock.seconds = 99
    #expect(keys.current()?.name == first.name)
    clock.seconds = 100
    let second = try #require(keys.current())
    #expect(second.name != first.name)
    #expect(keys.key(named: first.name)?.isCurrent == false)
    #expect(keys.key(named: second.name)?.isCurrent == true)
    clock.seconds = 200
    #expect(keys.key(named: first.name) == nil)
    #expect(keys.key(named: second.name)?.isCurrent == false)
    clock.seconds = 1000
    #expect(keys.key(named: second.name) == nil)
  }
}
