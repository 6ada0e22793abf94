import CNghttp2

/// What the sessions of one loop share: the library's tables of callbacks, the memory in which field sections are laid
/// out before they are sent, and streams that are over.
@safe
package final class HTTP2Workspace {
  /// Nil when there is no memory.
  let callbacks: OpaquePointer?
  var layout = FieldLayout()
  private var spare: [HTTP2Stream] = []

  /// Streams that are kept for the next requests.
  private static let maximumSpare = 64

  package init() {
    unsafe callbacks = SessionCallbacks.make()
  }

  deinit {
    unsafe nghttp2_session_callbacks_del(callbacks)
  }

  /// A stream as new.
  func takeStream() -> HTTP2Stream {
    while var stream = spare.popLast() {
      // Who held it when it closed may do so still.
      if isKnownUniquelyReferenced(&stream), stream.reset() { return stream }
    }
    return HTTP2Stream()
  }

  /// A stream is over. Others may still hold it: that is looked at when it is taken.
  func give(_ stream: HTTP2Stream) {
    if spare.count < Self.maximumSpare { spare.append(stream) }
  }
}
