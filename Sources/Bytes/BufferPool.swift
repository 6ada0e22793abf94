/// Big read buffers of one loop, handed out while a connection has bytes to handle and taken back when it has none.
///
/// Last in, first out, so that the memory in use stays warm; at most `limit` are kept.
@safe
public struct BufferPool: ~Copyable {
  /// Bytes of each buffer.
  public let bufferCapacity: Int
  private let limit: Int
  /// Bytes of the greatest buffer that is kept.
  private let maximumCapacity: Int
  /// Memory without its buffer: arrays hold no noncopyable values, and an object around each would be made and freed
  /// for every read.
  private var free: [Spare] = []

  @safe
  private struct Spare {
    let base: UnsafeMutablePointer<UInt8>
    let capacity: Int
  }

  /// - Parameter maximumCapacity: bytes of the greatest buffer that is kept; nil: twice those of a new one.
  public init(bufferCapacity: Int = 65_536, limit: Int = 32, maximumCapacity: Int? = nil) {
    self.bufferCapacity = bufferCapacity
    self.limit = limit
    self.maximumCapacity = maximumCapacity ?? bufferCapacity * 2
    free.reserveCapacity(limit)
  }

  deinit {
    for spare in free { unsafe ByteBuffer.free(spare.base) }
  }

  public mutating func take() -> ByteBuffer {
    guard let spare = free.popLast() else { return ByteBuffer(minimumCapacity: bufferCapacity) }
    return unsafe ByteBuffer(owning: spare.base, capacity: spare.capacity)
  }

  /// Takes a buffer back; one that has grown too large or comes over the limit is freed.
  public mutating func give(_ buffer: consuming ByteBuffer) {
    guard free.count < limit, buffer.capacity >= bufferCapacity, buffer.capacity <= maximumCapacity else { return }
    if let memory = unsafe buffer.release() {
      free.append(unsafe Spare(base: memory.base, capacity: memory.capacity))
    }
  }
}
