import Bytes
import EventLoops
import Redis

@testable import Gateway

/// A Redis server on a test's own loop: each command goes to a script, which says what is answered.
final class ScriptedRedis: ReadinessHandler {
  enum Answer {
    case reply(String)
    /// Nothing, ever.
    case silence
    case hangUp
  }

  let listener: ListeningSocket
  private let loop: EventLoop
  private let script: (_ command: [String], _ connection: Int) -> Answer
  private var registration: Registration?
  private var peers: [Peer] = []
  private(set) var commands: [[String]] = []
  private(set) var connections = 0

  init(loop: EventLoop, _ script: @escaping (_ command: [String], _ connection: Int) -> Answer) throws {
    self.loop = loop
    self.script = script
    guard let address = SocketAddress(host: "127.0.0.1", port: 0) else { throw RedisFault(.protocol, "no address") }
    listener = try ListeningSocket(address: address)
    registration = try loop.register(listener.descriptor, .readable, handler: self)
  }

  func ready(_ readiness: Readiness) {
    guard case .socket(let socket, _) = listener.accept() else { return }
    connections += 1
    if let peer = try? Peer(socket, number: connections, server: self) { peers.append(peer) }
  }

  /// Sends bytes to all that are connected.
  func push(_ text: String) { for peer in peers { peer.write(text) } }

  private func answer(_ command: [String], _ connection: Int) -> Answer {
    commands.append(command)
    return command.first == "SELECT" ? .reply("+OK\r\n") : script(command, connection)
  }

  private final class Peer: ReadinessHandler {
    private var transport: Transport?
    private var registration: Registration?
    private let number: Int
    private unowned let server: ScriptedRedis
    private let reader = RedisReplyReader()

    init(_ socket: consuming Socket, number: Int, server: ScriptedRedis) throws {
      self.number = number
      self.server = server
      let descriptor = socket.descriptor
      transport = Transport(socket)
      registration = try server.loop.register(descriptor, .readable, handler: self)
    }

    func ready(_ readiness: Readiness) {
      var input = ByteBuffer()
      guard case .transferred? = transport?.read(into: &input, room: 65_536) else { return close() }
      try? reader.feed(input.span)
      while transport != nil, let value = try? reader.next() {
        let command = (value.elements ?? []).compactMap(\.text)
        switch server.answer(command, number) {
        case .reply(let text): write(text)
        case .silence: break
        case .hangUp: close()
        }
      }
    }

    func write(_ text: String) {
      var output = ByteBuffer(text.utf8)
      _ = transport?.write(from: &output)
    }

    private func close() {
      if let registration { server.loop.deregister(registration) }
      registration = nil
      transport = nil
    }
  }
}
