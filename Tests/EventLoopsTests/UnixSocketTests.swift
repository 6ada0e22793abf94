import Glibc
import Testing

@testable import EventLoops

@Suite struct UnixSocketTests {
  @Test func nobodyListens() {
    #expect(throws: SystemError.self) { _ = try Socket.connect(toPath: "/nowhere/at/all.sock") }
  }

  @Test func aPathThatDoesNotFitIsRefused() {
    #expect(throws: SystemError.self) {
      _ = try Socket.connect(toPath: "/" + String(repeating: "x", count: 200))
    }
    #expect(throws: SystemError.self) { _ = try Socket.connect(toPath: "/tmp/\0") }
  }
}
