import Bytes
import Configuration
import Diagnostics
import EventLoops
import Glibc
import Synchronization
import Testing
import TransportSecurity
import TransportSecurityTestSupport

@testable import Gateway

@Suite struct TLSListenerTests {
  let certificates: TestCertificates
  let upstream: ScriptedUpstream

  init() throws {
    certificates = try TestCertificates()
    upstream = try ScriptedUpstream()
  }

  private func configuration(_ tls: String, _ more: String = "") -> String {
    """
    listeners: [{ address: 127.0.0.1:0, tls: { \(tls) } }]
    workers: 1
    drain: 100ms
    upstreams: { legacy: { protocol: rest, endpoints: ["\(upstream.endpoint)"] } }
    fallback: legacy
    \(more)

    """
  }

  private func gateway(_ names: [String] = ["DNS:gateway.test"], _ tls: String = "", _ more: String = "") throws
    -> TestGateway
  {
    try TestGateway(configuration(certificates.issue("gateway", for: names) + tls, more))
  }

  @Test func requestsPassAndTheConnectionStays() throws {
    let gateway = try gateway()
    let client = try gateway.client(certificates.client())
    client.request("GET", "/one")
    let backend = try upstream.accept()
    for path in ["/one", "/two"] {
      if path == "/two" { client.request("GET", path) }
      #expect(try backend.receiveMessage().startLine == "GET \(path) HTTP/1.1")
      backend.answer(json: "{}")
      #expect(try client.receiveMessage().text == "{}")
    }
    #expect(gateway.metric("turnout_tls_handshakes_total", "ok") == 1)
    #expect(client.session?.negotiatedProtocol == "http/1.1")
  }

  @Test func bytesMayComeOneByOne() throws {
    let gateway = try gateway()
    let client = try gateway.client()
    let session = try certificates.client()
    // Each record in pieces of one byte.
    while session.handshake() == .needsInput {
      for byte in session.outgoing.bytes { client.sendRaw([byte]) }
      session.outgoing.removeAll()
      session.incoming.append(client.receive(count: 1))
    }
    #expect(session.isEstablished)
    let request = ByteBuffer("GET /slow HTTP/1.1\r\nhost: gateway.test\r\n\r\n".utf8)
    try session.write(from: request, request.count)
    for byte in session.outgoing.bytes { client.sendRaw([byte]) }
    let backend = try upstream.accept()
    #expect(try backend.receiveMessage().startLine == "GET /slow HTTP/1.1")
  }

  @Test func aRequestInTheLastFlightIsAnswered() throws {
    let gateway = try gateway()
    let client = try gateway.client()
    let session = try certificates.client()
    while session.handshake() == .needsInput {
      client.sendRaw(session.outgoing.bytes)
      session.outgoing.removeAll()
      session.incoming.append(client.receive(count: 1))
    }
    // Finished has not left yet.
    let request = ByteBuffer("GET /early HTTP/1.1\r\nhost: gateway.test\r\n\r\n".utf8)
    try session.write(from: request, request.count)
    client.sendRaw(session.outgoing.bytes)
    let backend = try upstream.accept()
    #expect(try backend.receiveMessage().startLine == "GET /early HTTP/1.1")
  }

  @Test func largeBodiesPassBothWays() throws {
    let gateway = try gateway()
    let client = try gateway.client(certificates.client())
    let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 10) }
    client.send("POST /big HTTP/1.1\r\nhost: gateway.test\r\ncontent-length: \(body.count)\r\n\r\n")
    let backend = try upstream.accept()
    let sender = Sender(client, body)
    let received = try backend.receiveMessage()
    sender.join()
    #expect(received.body == body)
    let echo = Sender(backend, Array("HTTP/1.1 200 OK\r\ncontent-length: \(body.count)\r\n\r\n".utf8) + body)
    #expect(try client.receiveMessage().body == body)
    echo.join()
  }

  @Test func aClientThatDoesNotReadStopsItsBackend() throws {
    let gateway = try gateway()
    let client = try gateway.client(certificates.client(), receiveBuffer: 16_384)
    client.request("GET", "/endless")
    let backend = try upstream.accept(sendBuffer: 65_536)
    _ = try backend.receiveMessage()
    let limit = 64 << 20
    backend.send("HTTP/1.1 200 OK\r\ncontent-length: \(limit)\r\n\r\n")
    let block = [UInt8](repeating: 7, count: 65_536)
    let taken = backend.sendWhileTaken(block, limit: limit)
    #expect(taken < limit / 2)
    // And goes on when it reads.
    let head = try client.receiveHead()
    #expect(head.status == 200)
    let sender = Sender(backend, [UInt8](repeating: 7, count: limit - taken))
    var left = limit
    while left > 0 {
      let piece = client.receive(count: min(left, 1 << 20))
      guard !piece.isEmpty else { break }
      left -= piece.count
    }
    sender.join()
    #expect(left == 0)
  }

  @Test func theEndIsSaid() throws {
    let gateway = try gateway()
    let client = try gateway.client(certificates.client())
    client.request("GET", "/", ["connection: close"])
    let backend = try upstream.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().text == "{}")
    #expect(client.waitForEnd() == .closed)
  }

  @Test func aBodyThatIsCutIsNotEndedWell() throws {
    let gateway = try gateway()
    let client = try gateway.client(certificates.client())
    client.send("GET / HTTP/1.0\r\nhost: gateway.test\r\n\r\n")
    let backend = try upstream.accept()
    _ = try backend.receiveMessage()
    backend.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")
    _ = client.receive(until: "hello")
    backend.finish()
    // Neither a close-notify nor a plain end: the body has no length.
    #expect([.reset, .broken].contains(client.waitForEnd()))
  }

  @Test func otherAuthoritiesAreMisdirected() throws {
    let gateway = try gateway(["DNS:gateway.test", "DNS:*.wild.test"])
    let client = try gateway.client(certificates.client())
    for host in ["other.test", "wild.test", "gateway.test.evil", "127.0.0.1"] {
      client.send("GET / HTTP/1.1\r\nhost: \(host)\r\n\r\n")
      #expect(try client.receiveMessage().status == 421, "\(host)")
    }
    #expect(!upstream.isAsked())
    client.send("GET / HTTP/1.1\r\nhost: A.wild.test:8443\r\n\r\n")
    _ = try upstream.accept().receiveMessage()
    let old = try gateway.client(certificates.client())
    old.send("GET / HTTP/1.0\r\n\r\n")
    _ = try upstream.accept().receiveMessage()
  }

  @Test func whichAuthorityItIsMayBeLeftOpen() throws {
    let gateway = try gateway(["DNS:gateway.test"], ", check_authority: false")
    let client = try gateway.client(certificates.client())
    client.send("GET / HTTP/1.1\r\nhost: other.test\r\n\r\n")
    _ = try upstream.accept().receiveMessage()
  }

  @Test func theNameChoosesTheCertificate() throws {
    let other = try certificates.issue("other", for: ["DNS:other.test"])
    let gateway = try gateway(["DNS:gateway.test"], ", certificates: [{ \(other) }]")
    for name in ["gateway.test", "other.test"] {
      let client = try gateway.client(certificates.client(name))
      client.send("GET / HTTP/1.1\r\nhost: \(name)\r\nconnection: close\r\n\r\n")
      _ = try upstream.accept().receiveMessage()
    }
    let client = try gateway.client()
    #expect(client.secure(try certificates.client("nobody.test"))?.kind == .certificate)
    gateway.waitFor("turnout_tls_handshakes_total", "refused", toBe: 1)
  }

  @Test func clientsAreAskedForCertificates() throws {
    let gateway = try gateway(["DNS:gateway.test"], ", client_ca: \(certificates.authority.file)")
    let own = try certificates.identity("client", for: [])
    let client = try gateway.client(certificates.client(identity: own))
    client.request("GET", "/")
    let backend = try upstream.accept()
    _ = try backend.receiveMessage()
    // In TLS 1.3 a client learns by the first read that it was refused.
    let stranger = try gateway.client(certificates.client())
    stranger.request("GET", "/")
    #expect([.reset, .broken].contains(stranger.waitForEnd()))
    gateway.waitFor("turnout_tls_handshakes_total", "no_certificate", toBe: 1)
    #expect(!upstream.isAsked())
  }

  @Test func whoSpeaksPlainHTTPIsToldSo() throws {
    let gateway = try gateway()
    let client = try gateway.client()
    client.request("GET", "/")
    let answer = try client.receiveMessage()
    #expect(answer.status == 400)
    #expect(answer.text.contains("HTTPS"))
    #expect(client.waitForEnd() != .silence)
    gateway.waitFor("turnout_tls_handshakes_total", "not_tls", toBe: 1)
  }

  @Test func whoSaysNothingIsGivenUp() throws {
    let gateway = try gateway(["DNS:gateway.test"], "", "timeouts: { handshake: 100ms }")
    let client = try gateway.client()
    let half = try gateway.client()
    half.sendRaw([22, 3, 1, 0, 200])
    #expect(client.waitForEnd() == .closed)
    #expect(half.waitForEnd() == .closed)
    gateway.waitFor("turnout_tls_handshakes_total", "timeout", toBe: 2)
    #expect(try gateway.onLoop { $0.shared.connections.load(ordering: .relaxed) } == 0)
  }

  @Test func aHandshakeDoesNotHoldUpTheEnd() throws {
    let gateway = try gateway()
    let client = try gateway.client()
    try gateway.waitUntil { $0.shared.connections.load(ordering: .relaxed) == 1 }
    gateway.end()
    #expect(client.waitForEnd() == .closed)
  }

  @Test func aNewCertificateServesNewConnections() throws {
    let tls = try certificates.issue("gateway", for: ["DNS:gateway.test", "DNS:old.test"])
    let gateway = try TestGateway(configuration(tls))
    let staying = try gateway.client(certificates.client("old.test"))
    _ = try certificates.issue("gateway", for: ["DNS:gateway.test", "DNS:new.test"])
    gateway.waitFor("turnout_config_reloads_total", "ok", toBe: 1)
    _ = try gateway.client(certificates.client("new.test"))
    let late = try gateway.client()
    #expect(late.secure(try certificates.client("old.test"))?.kind == .certificate)
    staying.send("GET / HTTP/1.1\r\nhost: old.test\r\n\r\n")
    _ = try upstream.accept().receiveMessage()
  }

  @Test func aCertificateThatComesLaterIsTaken() throws {
    let gateway = try gateway()
    let folder = certificates.authority.folder
    let later = configuration("certificate: \(folder)/later.pem, key: \(folder)/later.key")
    guard case .failed = try gateway.reload(later) else {
      Issue.record("it was taken")
      return
    }
    let before = gateway.metric("turnout_config_reloads_total", "ok")
    _ = try certificates.issue("later", for: ["DNS:later.test"])
    gateway.waitFor("turnout_config_reloads_total", "ok", toBe: before + 1)
    _ = try gateway.client(certificates.client("later.test"))
  }

  @Test func aCertificateThatDoesNotLoadLeavesTheOldOne() throws {
    let files = try certificates.authority.issue("gateway", for: ["DNS:gateway.test"])
    let gateway = try TestGateway(configuration("certificate: \(files.certificate), key: \(files.key)"))
    _ = try certificates.authority.write("nonsense", to: "gateway.pem")
    gateway.waitFor("turnout_config_reloads_total", "failed", toBe: 1)
    _ = try gateway.client(certificates.client())
    guard case .failed(let diagnostics) = gateway.running.reload(because: .signal) else {
      Issue.record("it was taken")
      return
    }
    #expect(
      diagnostics.map(\.what) == [
        "the certificate \(files.certificate) cannot be used: it holds no PEM certificate"
      ])
  }
}
