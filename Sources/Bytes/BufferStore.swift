/// The buffers of one loop in three sizes: small ones for what waits to be sent together, big ones for reads, and very
/// big ones for bodies that come in bulk.
///
/// Memory is lent for as long as there are bytes to handle, so that what is idle holds none, and what is busy asks the
/// C library for none.
public final class BufferStore {
  // Unchecked, for a pool calls nobody who could come back here: each is used some ten times for a request.
  @exclusivity(unchecked) private var small = BufferPool(bufferCapacity: BufferStore.smallCapacity, limit: 64)
  @exclusivity(unchecked) private var big = BufferPool()
  @exclusivity(unchecked) private var bulk = BufferPool(bufferCapacity: BufferStore.bulkCapacity, limit: 2)
  /// Very big buffers in use.
  private var bulkLent = 0

  /// Bytes of a small buffer, 4 KiB.
  public static let smallCapacity = 4 << 10
  /// Bytes of a big buffer, 64 KiB.
  public static let bigCapacity = 64 << 10
  /// Bytes of a very big buffer, 1 MiB.
  public static let bulkCapacity = 1 << 20
  /// How many very big buffers may be in use at the same time: so many megabytes can slow clients make this loop hold.
  private static let maximumBulk = 16

  public init() {}

  /// A buffer of 64 KiB.
  public func take() -> ByteBuffer { unsafe big.take() }

  /// A buffer that is small if this many bytes fit, else one of 64 KiB: more than that goes into several.
  public func take(for bytes: Int) -> ByteBuffer {
    bytes <= Self.smallCapacity ? unsafe small.take() : unsafe big.take()
  }

  /// A buffer of 1 MiB, or one of 64 KiB while too many of them are in use.
  public func takeBulk() -> ByteBuffer {
    guard bulkLent < Self.maximumBulk else { return unsafe big.take() }
    bulkLent += 1
    return unsafe bulk.take()
  }

  /// Takes the memory of a buffer back, whatever is in it and wherever it is from.
  public func give(_ buffer: consuming ByteBuffer) {
    switch buffer.capacity {
    case 0: break
    case Self.bulkCapacity...:
      bulkLent = max(0, bulkLent - 1)
      unsafe bulk.give(buffer)
    case unsafe big.bufferCapacity...: unsafe big.give(buffer)
    default: unsafe small.give(buffer)
    }
  }

  /// Takes the memory of a buffer back that stays in its place.
  public func discard(_ buffer: inout ByteBuffer) {
    guard buffer.capacity > 0 else { return }
    var taken = ByteBuffer()
    swap(&taken, &buffer)
    give(taken)
  }
}
