import Bytes
import Testing

/// Misuse stops the process at once, and does not touch memory outside.
@Suite("Byte buffer misuse")
struct BufferMisuseTests {
  @Test("consuming, truncating, reading and opening gaps outside the bytes traps")
  func traps() async {
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer([1, 2, 3])
      buffer.consume(4)
    }
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer([1, 2, 3])
      buffer.truncate(to: 4)
    }
    await #expect(processExitsWith: .failure) {
      let buffer = ByteBuffer([1, 2, 3])
      _ = buffer[3]
    }
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer([1, 2, 3])
      buffer[-1] = 0
    }
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer([1, 2, 3])
      buffer.openGap(at: 4, width: 1)
    }
    await #expect(processExitsWith: .failure) {
      let buffer = ByteBuffer([1, 2, 3])
      _ = buffer.withSpan(2..<4) { span in span.count }
    }
  }
}
