import Bytes
import Testing
import TransportSecurityTestSupport

@testable import TransportSecurity

/// A client and a server session that talk to each other in memory.
final class Pair {
  let client: SecureSession
  let server: SecureSession
  /// At most so many bytes are handed over at once.
  let piece: Int
  /// All bytes that went over, in either direction.
  private(set) var transferred = 0

  init(client: SecureSession, server: SecureSession, piece: Int = .max) {
    self.client = client
    self.server = server
    self.piece = piece
  }

  convenience init(
    _ clientContext: ClientContext, _ serverContext: ServerContext, name: String = "a.example", piece: Int = .max
  ) throws {
    self.init(
      client: try SecureSession(client: clientContext, name: name), server: try SecureSession(server: serverContext),
      piece: piece)
  }

  /// Goes on until neither side can.
  func handshake() -> (client: SecureSession.Progress, server: SecureSession.Progress) {
    var result = (client: client.handshake(), server: SecureSession.Progress.needsInput)
    // Each step takes a piece of one direction.
    while true {
      let toServer = move(client, server)
      if toServer { result.server = server.handshake() }
      let toClient = move(server, client)
      if toClient { result.client = client.handshake() }
      if !toServer, !toClient { return result }
    }
  }

  /// Hands one piece over; false when there is none.
  func move(_ from: SecureSession, _ to: SecureSession) -> Bool {
    let count = min(piece, from.outgoing.count)
    guard count > 0 else { return false }
    to.incoming.append(from.outgoing, 0..<count)
    from.outgoing.consume(count)
    transferred += count
    return true
  }

  /// Everything that one side has to say, decrypted by the other.
  func receive(_ from: SecureSession, _ to: SecureSession) -> (bytes: [UInt8], last: SecureSession.Reading) {
    var plain = ByteBuffer()
    var last = SecureSession.Reading.needsInput
    while move(from, to) { last = to.read(into: &plain) }
    if case .data = last { last = to.read(into: &plain) }
    return (plain.bytes, last)
  }

  static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }
}

extension SecureSession {
  func send(_ bytes: [UInt8]) throws {
    let buffer = ByteBuffer(bytes)
    try write(from: buffer, buffer.count)
  }
}

extension TestAuthority {
  func identity(_ name: String, for names: [String], type: KeyType = .ecdsa) throws -> Identity {
    let files = try issue(name, for: names, type: type)
    return try Identity.load(certificate: files.certificate, key: files.key)
  }

  var certificates: [Certificate] { get throws { try Certificate.load(path: file) } }

  /// A client that trusts this authority.
  func client(identity: Identity? = nil, protocols: [String] = []) throws -> ClientContext {
    try ClientContext(trust: .authorities(certificates), identity: identity, protocols: protocols)
  }

  func server(
    _ names: [String] = ["DNS:a.example"], clients: ServerContext.ClientVerification = .none,
    protocols: [String] = ["http/1.1"], tickets: TicketKeys = TicketKeys()
  ) throws -> ServerContext {
    try ServerContext(
      identities: [identity("server", for: names)], clients: clients, protocols: protocols, tickets: tickets)
  }
}
