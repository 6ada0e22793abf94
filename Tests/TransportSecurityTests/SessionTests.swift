import Bytes
import Testing
import TransportSecurityTestSupport

@testable import TransportSecurity

@Suite struct SessionTests {
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  @Test(arguments: [1, 2, 5, 7, 64, 1000, 16_384, Int.max])
  func bytesPassBothWaysInAnyPieces(_ piece: Int) throws {
    let pair = try Pair(authority.client(), authority.server(), piece: piece)
    let result = pair.handshake()
    #expect(result.client == .done)
    #expect(result.server == .done)
    #expect(pair.client.version == "TLSv1.3")
    let count = piece < 64 ? 3000 : 100_000
    let sent = Pair.bytes(count)
    try pair.client.send(sent)
    let got = pair.receive(pair.client, pair.server)
    #expect(got.bytes == sent)
    #expect(got.last == .needsInput)
    try pair.server.send(sent)
    #expect(pair.receive(pair.server, pair.client).bytes == sent)
  }

  @Test func dataBehindTheHandshakeStays() throws {
    let pair = try Pair(authority.client(), authority.server())
    _ = pair.client.handshake()
    _ = pair.move(pair.client, pair.server)
    #expect(pair.server.handshake() == .needsInput)
    _ = pair.move(pair.server, pair.client)
    #expect(pair.client.handshake() == .done)
    // Finished and the first request come together.
    try pair.client.send(Array("GET".utf8))
    _ = pair.move(pair.client, pair.server)
    #expect(pair.server.handshake() == .done)
    #expect(pair.server.incoming.count > 0)
    var plain = ByteBuffer()
    #expect(pair.server.read(into: &plain) == .data(3))
    #expect(plain.bytes == Array("GET".utf8))
  }

  @Test func anEndIsToldBehindTheLastData() throws {
    let pair = try Pair(authority.client(), authority.server())
    _ = pair.handshake()
    try pair.client.send([1, 2, 3])
    pair.client.end()
    pair.client.end()
    _ = pair.move(pair.client, pair.server)
    var plain = ByteBuffer()
    #expect(!pair.server.isEndPending)
    #expect(pair.server.read(into: &plain) == .data(3))
    #expect(pair.server.isEndPending)
    #expect(pair.server.read(into: &plain) == .ended)
    // The other direction is still open.
    try pair.server.send([4])
    #expect(pair.receive(pair.server, pair.client).bytes == [4])
  }

  @Test func aCutConnectionIsNotAnEnd() throws {
    let pair = try Pair(authority.client(), authority.server())
    _ = pair.handshake()
    try pair.client.send([1, 2, 3])
    _ = pair.move(pair.client, pair.server)
    pair.server.inputEnded()
    var plain = ByteBuffer()
    #expect(pair.server.read(into: &plain) == .data(3))
    #expect(pair.server.read(into: &plain) == .failed(.truncated))
    #expect(throws: TLSError.truncated) { try pair.server.send([1]) }
  }

  @Test func aCutHandshakeFails() throws {
    let pair = try Pair(authority.client(), authority.server())
    _ = pair.client.handshake()
    pair.server.incoming.append(pair.client.outgoing, 0..<20)
    #expect(pair.server.handshake() == .needsInput)
    pair.server.inputEnded()
    #expect(pair.server.handshake() == .failed(.truncated))
  }

  @Test func changedBytesAreRefused() throws {
    let pair = try Pair(authority.client(), authority.server())
    _ = pair.handshake()
    try pair.client.send([1, 2, 3])
    pair.client.outgoing[10] ^= 1
    let got = pair.receive(pair.client, pair.server)
    #expect(got.bytes == [])
    guard case .failed(let error) = got.last else { throw Unexpected() }
    #expect(error.kind == .protocol)
    // The alert that says so.
    #expect(pair.server.outgoing.count > 0)
    _ = pair.move(pair.server, pair.client)
    var plain = ByteBuffer()
    guard case .failed(let refused) = pair.client.read(into: &plain) else { throw Unexpected() }
    #expect(refused.kind == .refused)
  }

  @Test(arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PUT /x HTTP/1.1\r\n\r\n"])
  func plainHTTPIsRecognised(_ text: String) throws {
    let session = try SecureSession(server: authority.server())
    session.incoming.append(text: text)
    guard case .failed(let error) = session.handshake() else { throw Unexpected() }
    #expect(error.kind == .notTLS)
    #expect(error.isPlainHTTP)
  }

  @Test func otherProtocolsAreNoTLS() throws {
    let session = try SecureSession(server: authority.server())
    session.incoming.append(text: "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n")
    guard case .failed(let error) = session.handshake() else { throw Unexpected() }
    #expect(error.kind == .notTLS)
    #expect(!error.isPlainHTTP)
  }

  @Test func randomBytesNeverPass() throws {
    let context = try authority.server()
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let session = try SecureSession(server: context)
      // A record head that is right, so that more than the first bytes is looked at.
      session.incoming.append([22, 3, 1])
      session.incoming.append((0..<Int.random(in: 2...600, using: &random)).map { _ in UInt8.random(in: 0...255) })
      session.inputEnded()
      guard case .failed = session.handshake() else { throw Unexpected() }
    }
  }

  struct Unexpected: Error {}
}
