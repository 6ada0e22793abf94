import EventLoopsTestSupport
import Glibc
import Synchronization
import Testing

@testable import EventLoops
@testable import Gateway

@Suite struct LocalAcceptorTests {
  /// Else an operator whose admin endpoint hangs up on everybody would find nothing in the log.
  @Test func connectionsThatCannotBeWatchedAreToldOnceForEachSeries() throws {
    let told = Mutex<[String]>([])
    let listener = try ListeningSocket(address: try #require(SocketAddress(host: "127.0.0.1", port: 0)))
    let loop = try EventLoop(name: "test", mailbox: Mailbox())
    let acceptor = LocalAcceptor(
      loop: loop, listener: listener,
      configuration: LocalServerConfiguration(
        name: "admin", limits: LocalServerLimits(), security: nil,
        failed: { message in told.withLock { $0.append(message) } }, handler: { _ in .text("") }))
    try acceptor.open()
    let epoll = dup(loop.epoll)
    let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
    try #require(epoll >= 0 && other >= 0)
    func clientsComeIn(_ count: Int, watched: Bool) throws -> [RawClient] {
      let clients = try (0..<count).map { _ in try RawClient(listener.address) }
      try #require(dup2(watched ? epoll : other, loop.epoll) == loop.epoll)
      acceptor.ready(.readable)
      return clients
    }
    var clients: [RawClient] = []
    for series in 1...2 {
      for client in try clientsComeIn(3, watched: false) { #expect(client.waitForEnd() == .closed) }
      #expect(told.withLock { $0.count } == series)
      clients += try clientsComeIn(1, watched: true)
      #expect(told.withLock { $0.count } == series)
    }
    let first = try #require(told.withLock { $0.first })
    #expect(first.hasPrefix("admin: a connection of 127.0.0.1:"), "\(first)")
    #expect(first.contains(" is closed: epoll_ctl: "), "\(first)")
    acceptor.closeAll()
    close(epoll)
    close(other)
  }
}
