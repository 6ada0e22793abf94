package import Bytes
import CNghttp2

/// What the sessions of one loop share: the library's tables of callbacks and its memory, the memory in which field
/// sections are laid out before they are sent and body bytes wait, and streams that are over.
@safe
package final class HTTP2Workspace {
  /// Nil when there is no memory.
  let callbacks: OpaquePointer?
  let memory = SessionMemory()
  let buffers: BufferStore
  var layout = FieldLayout()
  /// An array for whoever needs one for a moment.
  var spareList: [HTTP2Stream] = []
  private var spare: [(stream: HTTP2Stream, bytes: Int)] = []
  private(set) var spareBytes = 0

  /// Streams that are kept for the next requests, and bytes of what they hold together.
  static let maximumSpare = 64
  static let maximumSpareBytes = 256 << 10

  /// - Parameter buffers: the loop's.
  package init(buffers: BufferStore = BufferStore()) {
    self.buffers = buffers
    unsafe callbacks = SessionCallbacks.make()
  }

  deinit {
    unsafe nghttp2_session_callbacks_del(callbacks)
  }

  /// A stream as new.
  func takeStream() -> HTTP2Stream {
    while var last = spare.popLast() {
      spareBytes -= last.bytes
      // Who held it when it closed may do so still.
      if isKnownUniquelyReferenced(&last.stream), last.stream.reset() { return last.stream }
    }
    return HTTP2Stream()
  }

  /// A stream is over. Others may still hold it: that is looked at when it is taken.
  func give(_ stream: HTTP2Stream) {
    guard spare.count < Self.maximumSpare else { return }
    let bytes = stream.heldBytes
    guard spareBytes + bytes <= Self.maximumSpareBytes else { return }
    spareBytes += bytes
    spare.append((stream, bytes))
  }
}
