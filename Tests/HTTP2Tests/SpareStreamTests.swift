import Bytes
import HTTPModel
import Testing

@testable import HTTP2

/// What the streams that are kept for the next requests may hold together.
struct SpareStreamTests {
  private func over(holding bytes: Int) -> HTTP2Stream {
    let stream = HTTP2Stream()
    stream.isOver = true
    stream.request.target = ByteBuffer(minimumCapacity: bytes)
    return stream
  }

  @Test func theyAreUsedAgain() {
    let workspace = HTTP2Workspace()
    workspace.give(over(holding: 1024))
    #expect(workspace.spareBytes >= 1024)
    #expect(workspace.takeStream().request.target.capacity >= 1024)
    #expect(workspace.spareBytes == 0)
    #expect(workspace.takeStream().request.target.capacity == 0)
  }

  @Test(arguments: [100, 4_000, 60_000, 300_000])
  func theirBytesAreBounded(_ size: Int) {
    let workspace = HTTP2Workspace()
    for _ in 0..<200 { workspace.give(over(holding: size)) }
    #expect(workspace.spareBytes <= HTTP2Workspace.maximumSpareBytes)
    // Large ones go when they are taken, so that nothing large comes back.
    for _ in 0..<HTTP2Workspace.maximumSpare {
      #expect(workspace.takeStream().request.target.capacity <= HTTP2Stream.keptBytes)
    }
    #expect(workspace.spareBytes == 0)
  }
}
