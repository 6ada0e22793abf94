import Bytes
import Compression
import RPC

/// One message as bytes of a codec: the hub's form, shared by the attempts of a call and never changed once made.
final class Payload {
  // Unchecked, as all of this file that says so (decision 52): codecs write it and read it, who know nobody.
  @exclusivity(unchecked) var buffer = ByteBuffer()
  /// How ``buffer`` is to be read.
  var codec = MessageCodec.proto
  /// What ``buffer`` is compressed with: a side that takes it so gets it as it came. An empty one never is.
  var coding = ContentCoding.identity

  private var store: BufferStore?

  init() {}

  /// One that is used up soon: its memory is the loop's.
  ///
  /// - Parameter bytes: as many will be written, and more of them.
  init(from store: BufferStore, for bytes: Int) { borrow(from: store, for: bytes) }

  deinit { giveBack() }

  /// Takes memory of the loop's; there is nothing in the payload yet.
  func borrow(from store: BufferStore, for bytes: Int) {
    self.store = store
    buffer = store.take(for: bytes)
  }

  private func giveBack() {
    guard let store else { return }
    self.store = nil
    // One that has grown so far is not the store's, which would take it for one that it has lent.
    if buffer.capacity < BufferStore.bulkCapacity { store.discard(&buffer) }
  }

  /// Bytes of its own memory that a payload keeps for its next use.
  private static let keptBytes = 1 << 10

  /// Makes the payload as new.
  func reset() {
    giveBack()
    if buffer.capacity > Self.keptBytes { buffer.releaseStorage() } else { buffer.removeAll() }
    codec = .proto
    coding = .identity
  }

  func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    try buffer.withSpan(nil, body)
  }
}
