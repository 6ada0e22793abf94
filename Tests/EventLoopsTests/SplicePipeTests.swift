import Bytes
import Testing

@testable import EventLoops

/// Bytes from one socket to another through a pipe, without passing the process.
@Suite struct SplicePipeTests {
  @Test func movesBytesInOrderAndCountsWhatIsInside() throws {
    let bytes = pattern(100_000)
    var source = ByteBuffer(bytes)
    var received = ByteBuffer()
    let from = try Pair()
    let to = try Pair()
    let pipe = try SplicePipe()
    while received.count < bytes.count {
      if !source.isEmpty { _ = from.left.write(from: &source) }
      if case .transferred(let count) = pipe.fill(from: from.right, limit: 30_000) {
        #expect(count <= 30_000)
        #expect(pipe.count == count)
      }
      while !pipe.isEmpty { _ = pipe.drain(into: to.left) }
      _ = to.right.read(into: &received, room: 65_536)
    }
    #expect(received.bytes == bytes)
    keep(from)
    keep(to)
  }

  @Test func anEmptySourceWouldBlockAndAnEndedOneIsClosed() throws {
    let from = try Pair()
    let pipe = try SplicePipe()
    #expect(pipe.fill(from: from.right, limit: 1000) == .wouldBlock)
    from.left.shutdownWriting()
    #expect(pipe.fill(from: from.right, limit: 1000) == .closed)
    #expect(pipe.isEmpty)
    keep(from)
  }

  @Test func aTargetThatTakesNoMoreLeavesTheRestInside() throws {
    let from = try Pair()
    let to = try Pair()
    let pipe = try SplicePipe()
    var source = ByteBuffer(pattern(1_000_000))
    var blocked = false
    // Nobody reads at the other end of the target.
    for _ in 0..<10_000 where !blocked {
      if source.isEmpty { source = ByteBuffer(pattern(1_000_000)) }
      _ = from.left.write(from: &source)
      _ = pipe.fill(from: from.right, limit: 1 << 20)
      if !pipe.isEmpty, pipe.drain(into: to.left) == .wouldBlock { blocked = true }
    }
    #expect(blocked)
    #expect(!pipe.isEmpty)
    keep(from)
    keep(to)
  }
}
