import Bytes

/// Collects what a decompressor writes, block by block, and stops it behind the limit.
///
/// Memory never exceeds the limit by more than a block, whatever the input claims.
struct BoundedOutput: ~Copyable {
  static let block = 65_536

  let limit: Int
  private(set) var buffer: ByteBuffer

  /// - Parameter expected: bytes that the result will probably have; a hint from outside, bounded here.
  init(limit: Int, expected: Int) {
    self.limit = min(max(0, limit), Int.max / 8)
    buffer = ByteBuffer(minimumCapacity: min(max(expected, 512), self.limit, 16 * Self.block) + 1)
  }

  /// Lets the body write into the next block and keeps as many bytes as it reports.
  ///
  /// One byte more than the limit allows is offered, to tell a result of exactly the limit from a greater one.
  ///
  /// - Throws: `tooLarge` when that byte was written.
  mutating func write(_ body: (UnsafeMutableRawBufferPointer) -> Int) throws(CompressionError) {
    let rest = limit - buffer.count + 1
    if buffer.capacity == buffer.count { grow() }
    let offered = min(rest, buffer.capacity - buffer.count)
    buffer.appendWithUnsafeRoom(offered) { room in
      body(UnsafeMutableRawBufferPointer(rebasing: room[..<offered]))
    }
    if buffer.count > limit { throw .tooLarge(limit: limit) }
  }

  /// Doubles like a buffer of its own, but not beyond the limit and its one byte.
  private mutating func grow() {
    var greater = ByteBuffer(minimumCapacity: min(max(buffer.count * 2, Self.block), limit + 1))
    greater.append(buffer.span)
    buffer = greater
  }

  consuming func finish() -> ByteBuffer { buffer }
}
