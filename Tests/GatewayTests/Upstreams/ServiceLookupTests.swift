import EventLoops
import Glibc
import Testing

@testable import Gateway

@Suite struct ServiceLookupTests {
  /// What a lookup waits for must not keep the resolver whose name servers are no longer asked.
  @Test func whoLooksAServiceUpIsToldAtOnceThatOtherNameServersAreAsked() throws {
    let silent = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
    defer { close(silent) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(silent, $0, length) == 0 && getsockname(silent, $0, &length) == 0
      }
    }
    try #require(isBound)
    let loop = try EventLoop(name: "lookup", mailbox: Mailbox())
    loop.nameServers = "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    var outcome: ServiceLookup.Outcome?
    ServiceLookup(loop.resolver, "_http._tcp.shop.test").run { outcome = $0 }
    #expect(outcome == nil)
    loop.nameServers = "127.0.0.1:9"
    guard case .failure(let error)? = outcome else {
      Issue.record("it still waits for the old name server")
      return
    }
    #expect(error.kind == .cancelled)
  }
}
