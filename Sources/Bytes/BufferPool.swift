/// Big read buffers of one loop, handed out while a connection has bytes to handle and taken back when it has none.
///
/// Last in, first out, so that the memory in use stays warm; at most `limit` are kept.
package struct BufferPool: ~Copyable {
  /// Bytes of each buffer.
  package let bufferCapacity: Int
  private let limit: Int
  private var free: [Lease] = []

  /// Owns one spare buffer; a class because arrays hold no noncopyable values.
  private final class Lease {
    var buffer = ByteBuffer()
  }

  package init(bufferCapacity: Int = 65_536, limit: Int = 32) {
    self.bufferCapacity = bufferCapacity
    self.limit = limit
  }

  package mutating func take() -> ByteBuffer {
    guard let lease = free.popLast() else { return ByteBuffer(minimumCapacity: bufferCapacity) }
    var taken = ByteBuffer()
    swap(&taken, &lease.buffer)
    return taken
  }

  /// Takes a buffer back; one that has grown past the pool's size or comes over the limit is freed.
  package mutating func give(_ buffer: consuming ByteBuffer) {
    guard free.count < limit, buffer.capacity >= bufferCapacity, buffer.capacity <= bufferCapacity * 2 else { return }
    let lease = Lease()
    lease.buffer = buffer
    lease.buffer.removeAll()
    free.append(lease)
  }
}
