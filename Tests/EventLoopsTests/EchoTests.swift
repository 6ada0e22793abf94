import Bytes
import Synchronization
import Testing

@testable import EventLoops

@Suite struct EchoTests {
  /// Sends back what it gets, and ends when the client has ended and all is sent.
  private final class EchoConnection: ReadinessHandler {
    private let loop: EventLoop
    private let socket: Socket
    private var registration: Registration?
    private var buffer = ByteBuffer()
    private var isEnding = false
    private let ended: (EchoConnection) -> Void

    init(_ loop: EventLoop, _ socket: consuming Socket, ended: @escaping (EchoConnection) -> Void) throws {
      self.loop = loop
      self.socket = socket
      self.ended = ended
      registration = try loop.register(self.socket.descriptor, .readable, handler: self)
    }

    func ready(_ readiness: Readiness) {
      guard let registration else { return }
      if readiness.contains(.readable), !isEnding {
        switch socket.read(into: &buffer, room: 4_096) {
        case .transferred, .wouldBlock: break
        case .closed: isEnding = true
        case .failed(let error): Issue.record(error)
        }
      }
      if case .failed(let error) = socket.write(from: &buffer) { Issue.record(error) }
      if buffer.isEmpty && isEnding {
        loop.deregister(registration)
        self.registration = nil
        ended(self)
        return
      }
      loop.change(registration, to: buffer.isEmpty ? .readable : .writable)
    }
  }

  private final class EchoServer: ReadinessHandler {
    private let loop: EventLoop
    private let listener: ListeningSocket
    private let accepted: @Sendable () -> Void
    private var connections: [ObjectIdentifier: EchoConnection] = [:]

    init(_ loop: EventLoop, _ listener: ListeningSocket, accepted: @escaping @Sendable () -> Void) {
      self.loop = loop
      self.listener = listener
      self.accepted = accepted
    }

    func ready(_ readiness: Readiness) {
      while true {
        switch listener.accept() {
        case .socket(let socket, let peer):
          #expect(peer == socket.peerAddress)
          accepted()
          do {
            let connection = try EchoConnection(loop, socket) { [unowned self] in
              connections[ObjectIdentifier($0)] = nil
            }
            connections[ObjectIdentifier(connection)] = connection
          } catch {
            Issue.record(error)
          }
        case .wouldBlock: return
        case .outOfDescriptors:
          Issue.record("out of descriptors")
          return
        case .failed(let error):
          Issue.record(error)
          return
        }
      }
    }
  }

  /// Sends its bytes, ends its direction, and collects what comes back until the other direction ends.
  private final class Client: ReadinessHandler {
    private let loop: EventLoop
    private let socket: Socket
    private var registration: Registration?
    private var toSend: ByteBuffer
    private(set) var received = ByteBuffer()
    private let ended: () -> Void

    init(_ loop: EventLoop, _ address: SocketAddress, _ bytes: [UInt8], ended: @escaping () -> Void) throws {
      self.loop = loop
      toSend = ByteBuffer(bytes)
      self.ended = ended
      socket = try Socket.connect(to: address)
      registration = try loop.register(socket.descriptor, [.readable, .writable], handler: self)
    }

    func ready(_ readiness: Readiness) {
      guard let registration else { return }
      if readiness.contains(.writable), !toSend.isEmpty {
        if case .failed(let error) = socket.write(from: &toSend) { Issue.record(error) }
        if toSend.isEmpty {
          socket.shutdownWriting()
          loop.change(registration, to: .readable)
        }
      }
      guard readiness.contains(.readable) else { return }
      switch socket.read(into: &received, room: 16_384) {
      case .transferred, .wouldBlock: break
      case .closed:
        loop.deregister(registration)
        self.registration = nil
        ended()
      case .failed(let error):
        Issue.record(error)
        ended()
      }
    }
  }

  @Test(arguments: ["127.0.0.1", "::1"]) func twoLoopsShareAListeningSocketAndEchoToManyClients(host: String) throws {
    guard let listener = try listen(host) else { return }
    let accepted = Mutex(0)
    let mailboxes = try (0..<2).map { _ in try Mailbox() }
    let servers = try mailboxes.enumerated().map { number, mailbox in
      try LoopThread.start(name: "echo\(number)") {
        do {
          let loop = try EventLoop(name: "echo\(number)", mailbox: mailbox)
          let server = EchoServer(loop, listener) { accepted.withLock { $0 += 1 } }
          _ = try loop.register(listener.descriptor, .readable, exclusive: true, handler: server)
          loop.run()
        } catch {
          Issue.record(error)
        }
      }
    }
    let clients = 50
    try withLoop { loop in
      var left = clients
      let all = try (0..<clients).map { number in
        try Client(loop, listener.address, pattern(20_000 + number, seed: UInt64(number))) {
          left -= 1
          if left == 0 { loop.stop() }
        }
      }
      loop.run()
      for (number, client) in all.enumerated() {
        let isEqual = client.received.withSpan {
          ASCII.equal($0, pattern(20_000 + number, seed: UInt64(number)).span)
        }
        #expect(isEqual, "client \(number)")
      }
    }
    for mailbox in mailboxes { mailbox.post { $0.stop() } }
    for server in servers { server.join() }
    #expect(accepted.withLock { $0 } == clients)
  }

  /// Nil on a machine without that kind of address.
  private func listen(_ host: String) throws -> ListeningSocket? {
    let address = try #require(SocketAddress(host: host, port: 0))
    do throws(SystemError) {
      return try ListeningSocket(address: address)
    } catch {
      if address.isIPv6 { return nil }
      throw error
    }
  }
}
