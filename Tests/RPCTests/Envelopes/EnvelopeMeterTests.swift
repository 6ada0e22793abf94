import Bytes
import Testing

@testable import RPC

/// What a passing stream may carry, however its bytes are cut.
@Suite struct EnvelopeMeterTests {
  private func envelope(_ flags: UInt8, _ length: Int) -> [UInt8] {
    [flags] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
      + [UInt8](repeating: 0xff, count: length)
  }

  /// Whether each cut into pieces of one size passes; all must agree.
  private func passes(_ bytes: [UInt8], _ limit: Int, _ dialect: EnvelopeDialect) -> Set<Bool> {
    Set(
      (1...bytes.count).map { size in
        var meter = EnvelopeMeter(limit: limit, dialect: dialect)
        return stride(from: 0, to: bytes.count, by: size).allSatisfy { start in
          meter.observe(bytes.span.extracting(start..<min(start + size, bytes.count)))
        }
      })
  }

  @Test(arguments: [EnvelopeDialect.connect, .grpc, .grpcWeb])
  func eachMessageIsMeasuredByItself(dialect: EnvelopeDialect) {
    #expect(passes(envelope(0, 9) + envelope(0, 0) + envelope(1, 9), 9, dialect) == [true])
    #expect(passes(envelope(0, 9) + envelope(1, 10), 9, dialect) == [false])
  }

  /// It holds an error with its details, or trailers.
  @Test func theEndOfAnAnswerIsNoMessage() {
    #expect(passes(envelope(0, 3) + envelope(0b10, 50), 9, .connect) == [true])
    #expect(passes(envelope(0, 3) + envelope(0b11, 50), 9, .connect) == [true])
    #expect(passes(envelope(0, 3) + envelope(0x80, 50), 9, .grpcWeb) == [true])
    #expect(passes(envelope(0x80, 50), 9, .connect) == [false])
    #expect(passes(envelope(0b10, 50), 9, .grpc) == [false])
  }

  @Test(arguments: [(1 << 16, true), (1 << 16 | 1, false)])
  func theEndHasABoundOfItsOwn(length: Int, isGood: Bool) {
    #expect(passes(Array(envelope(0b10, length).prefix(8)), 9, .connect) == [isGood])
  }
}
