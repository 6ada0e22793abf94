import Glibc
import Testing

@testable import EventLoops

@Suite struct UnixSocketTests {
  @Test func nobodyListens() {
    #expect(throws: SystemError.self) { _ = try Socket.connect(toUnixSocket: "/nowhere/at/all.sock") }
  }

  @Test func aPathThatDoesNotFitIsRefused() {
    #expect(throws: SystemError.self) {
      _ = try Socket.connect(toUnixSocket: "/" + String(repeating: "x", count: 200))
    }
    #expect(throws: SystemError.self) { _ = try Socket.connect(toUnixSocket: "/tmp/\0") }
  }
}
