import Bytes

/// What waits to be written to an HTTP/1.1 connection. While the peer takes nothing it grows by buffers of the loop, so
/// that what waits is not copied again and no larger memory is asked for.
struct QueuedOutput: ~Copyable {
  /// Where bytes are put, in the room that was made for them.
  var last = ByteBuffer()
  /// What goes before them.
  private var earlier = ByteQueue()

  var isEmpty: Bool { last.isEmpty && earlier.isEmpty }
  /// Bytes that wait.
  var count: Int { last.count + earlier.count }
  /// Bytes of memory held.
  var capacity: Int { last.capacity + earlier.capacity }

  /// Sees to it that the last buffer has room for a head, and for what follows it in the same tick.
  mutating func makeRoom(from store: BufferStore) {
    guard last.room <= BufferStore.smallCapacity else { return }
    setAside(store)
    if last.capacity == 0 { last = store.take() }
  }

  /// Sees to it that the last buffer has room for so many bytes.
  mutating func makeRoom(for bytes: Int, from store: BufferStore) {
    guard last.room < bytes else { return }
    setAside(store)
    if last.capacity < bytes { store.discard(&last) }
    guard last.capacity == 0 else { return }
    last = bytes > BufferStore.bigCapacity ? store.takeBulk() : store.take(for: bytes)
  }

  /// Sees to it that a buffer of so many bytes can be moved behind what waits.
  mutating func makePlace(for bytes: Int, from store: BufferStore) {
    if last.room < bytes { setAside(store) }
  }

  private mutating func setAside(_ store: BufferStore) {
    if !last.isEmpty { earlier.append(&last, last.count, from: store) }
  }

  /// Calls the body with one buffer after the other, for as long as it consumes them whole.
  ///
  /// - Returns: what it said last.
  mutating func write(
    givingTo store: BufferStore, _ body: (inout ByteBuffer) -> Transport.Outcome
  ) -> Transport.Outcome {
    while !earlier.isEmpty {
      let (outcome, isWhole) = earlier.takeFirst(givingTo: store) { (body(&$0), $0.isEmpty) }
      guard isWhole, case .transferred = outcome, !(earlier.isEmpty && last.isEmpty) else { return outcome }
    }
    return body(&last)
  }

  /// Gives memory back that holds nothing.
  mutating func rest(_ store: BufferStore) {
    if last.isEmpty { store.discard(&last) }
  }

  /// Drops what waits.
  mutating func removeAll(givingTo store: BufferStore) {
    store.discard(&last)
    earlier.removeAll(givingTo: store)
  }
}
