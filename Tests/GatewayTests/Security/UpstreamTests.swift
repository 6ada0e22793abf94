import Bytes
import COpenSSL
import Configuration
import Testing
import TransportSecurityTestSupport

@testable import Gateway
@testable import TransportSecurity

@Suite struct TLSUpstreamTests {
  let certificates: TestCertificates
  let upstream: ScriptedUpstream

  init() throws {
    certificates = try TestCertificates()
    upstream = try ScriptedUpstream()
  }

  private func configuration(_ tls: String, host: String = "127.0.0.1") -> String {
    """
    listeners: [{ address: 127.0.0.1:0 }]
    workers: 1
    drain: 100ms
    upstreams:
      legacy: { protocol: rest, endpoints: ["https://\(host):\(upstream.port)"], tls: { \(tls) } }
    fallback: legacy

    """
  }

  private var ca: String { "ca: \(certificates.authority.file)" }

  private func accept(_ session: SecureSession) throws -> RawClient {
    let backend = try upstream.accept()
    let fault = backend.secure(session)
    try #require(fault == nil)
    return backend
  }

  /// Asks the gateway while its backend refuses it, or is refused, in each handshake.
  private func refused(_ gateway: TestGateway, _ session: () throws -> SecureSession) throws -> RawMessage {
    let client = try gateway.client()
    client.request("GET", "/")
    // Once more for an endpoint that could not be reached.
    for _ in 0..<2 { _ = try upstream.accept().secure(session()) }
    return try client.receiveMessage()
  }

  @Test func requestsPassAndTheConnectionIsKept() throws {
    let gateway = try TestGateway(configuration(ca, host: "localhost"))
    let client = try gateway.client()
    client.request("GET", "/one")
    let backend = try accept(certificates.server())
    #expect(backend.session?.serverName == "localhost")
    #expect(backend.session?.version == "TLSv1.3")
    for path in ["/one", "/two"] {
      if path == "/two" { client.request("GET", path) }
      #expect(try backend.receiveMessage().startLine == "GET \(path) HTTP/1.1")
      backend.answer(json: "{}")
      #expect(try client.receiveMessage().text == "{}")
    }
    #expect(!upstream.isAsked())
    #expect(gateway.metric("turnout_upstream_tls_handshakes_total", "legacy", "ok") == 1)
  }

  @Test func whatASessionSaysForItselfDoesNotEndAnIdleConnection() throws {
    let gateway = try TestGateway(configuration(ca))
    let client = try gateway.client()
    client.request("GET", "/one")
    let backend = try accept(certificates.server())
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    _ = try client.receiveMessage()
    // A further ticket, while nothing is asked.
    backend.session?.withHandle { handle in
      #expect(SSL_new_session_ticket(handle) == 1)
      #expect(SSL_do_handshake(handle) == 1)
    }
    #expect((backend.session?.outgoing.count ?? 0) > 0)
    backend.sendRecords()
    client.request("GET", "/two")
    #expect(try backend.receiveMessage().startLine == "GET /two HTTP/1.1")
  }

  @Test func anAddressIsNoServerName() throws {
    let gateway = try TestGateway(configuration(ca))
    let client = try gateway.client()
    client.request("GET", "/")
    let backend = try accept(certificates.server())
    #expect(backend.session?.serverName == nil)
    _ = try backend.receiveMessage()
  }

  @Test func aNameOfTheConfigurationStandsForTheHost() throws {
    let gateway = try TestGateway(configuration("\(ca), server_name: inner.test"))
    let client = try gateway.client()
    client.request("GET", "/")
    let backend = try accept(certificates.server(for: ["DNS:inner.test"]))
    #expect(backend.session?.serverName == "inner.test")
    _ = try backend.receiveMessage()
  }

  @Test func aCertificateForAnotherHostIsRefused() throws {
    let gateway = try TestGateway(configuration(ca))
    let answer = try refused(gateway) { try certificates.server(for: ["DNS:other.test"]) }
    #expect(answer.status == 503)
    #expect(!answer.text.contains("other.test"))
    #expect(gateway.metric("turnout_upstream_tls_handshakes_total", "certificate") == 2)
  }

  @Test func anUnknownAuthorityIsRefused() throws {
    let other = try TestCertificates()
    let gateway = try TestGateway(configuration(ca))
    #expect(try refused(gateway) { try other.server() }.status == 503)
    #expect(gateway.metric("turnout_upstream_tls_handshakes_total", "certificate") == 2)
  }

  @Test func theMachinesAuthoritiesDoNotKnowIt() throws {
    let gateway = try TestGateway(configuration(""))
    #expect(try refused(gateway) { try certificates.server() }.status == 503)
  }

  @Test func theGatewayShowsItsCertificate() throws {
    let own = try certificates.issue("gateway", for: [])
    let gateway = try TestGateway(configuration("\(ca), \(own)"))
    let client = try gateway.client()
    client.request("GET", "/")
    let backend = try accept(certificates.server(requiresClient: true))
    #expect(try backend.receiveMessage().startLine == "GET / HTTP/1.1")
  }

  @Test func whoDoesNotSpeakTLSIsNoUpstream() throws {
    let gateway = try TestGateway(configuration(ca))
    let client = try gateway.client()
    client.request("GET", "/")
    for _ in 0..<2 { try upstream.accept().answer(400, json: "{}") }
    #expect(try client.receiveMessage().status == 503)
    #expect(gateway.metric("turnout_upstream_tls_handshakes_total", "not_tls") == 2)
  }

  @Test func aSilentHandshakeHasTheConnectTimeout() throws {
    let tls = configuration(ca).replacing("protocol: rest", with: "protocol: rest, connect_timeout: 100ms")
    let gateway = try TestGateway(tls)
    let client = try gateway.client()
    client.request("GET", "/")
    let held = try (0..<2).map { _ in try upstream.accept() }
    #expect(try client.receiveMessage().status == 503)
    withExtendedLifetime(held) {}
  }

  @Test func anEndBehindTheLastDataIsSeen() throws {
    let gateway = try TestGateway(configuration(ca))
    let client = try gateway.client()
    client.request("GET", "/")
    let backend = try accept(certificates.server())
    _ = try backend.receiveMessage()
    // The connection itself stays open: the end is the session's.
    let answer = Array("HTTP/1.1 200 OK\r\n\r\nwhole".utf8)
    try backend.session?.write(from: .init(answer), answer.count)
    backend.endSession()
    #expect(try client.receiveMessage().text == "whole")
    #expect(backend.waitForEnd() == .closed)
  }

  @Test func aCutBodyIsNotWhole() throws {
    let gateway = try TestGateway(configuration(ca))
    let client = try gateway.client()
    client.request("GET", "/")
    let backend = try accept(certificates.server())
    _ = try backend.receiveMessage()
    backend.send("HTTP/1.1 200 OK\r\n\r\ncut")
    // No close-notify: anybody could have ended it.
    backend.finish()
    #expect(try client.receiveHead().status == 200)
    let body = client.receiveAll()
    #expect(!body.hasSuffix("0\r\n\r\n"))
  }

  @Test func otherCredentialsAreForNewConnections() throws {
    let gateway = try TestGateway(configuration(ca))
    let client = try gateway.client()
    client.request("GET", "/one")
    let first = try accept(certificates.server())
    _ = try first.receiveMessage()
    first.answer(json: "{}")
    _ = try client.receiveMessage()
    let own = try certificates.issue("gateway", for: [])
    guard case .ok = try gateway.reload(configuration("\(ca), \(own)")) else {
      Issue.record("the reload failed")
      return
    }
    #expect(first.waitForEnd() == .closed)
    client.request("GET", "/two")
    let second = try accept(certificates.server(requiresClient: true))
    #expect(try second.receiveMessage().startLine == "GET /two HTTP/1.1")
  }
}
