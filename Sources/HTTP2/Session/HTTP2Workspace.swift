import Bytes
import CNghttp2

/// What the sessions of one loop share: the library's tables of callbacks, and the memory in which field sections are
/// laid out before they are sent.
@safe
package final class HTTP2Workspace {
  /// Nil when there is no memory.
  let callbacks: OpaquePointer?
  var text = ByteBuffer()
  var places: [FieldPlace] = []
  var fields: [nghttp2_nv] = unsafe []

  /// Where a name and its value lie in ``text``.
  struct FieldPlace {
    var name: Int
    var nameLength: Int
    var value: Int
    var valueLength: Int
    var isSensitive: Bool
  }

  package init() {
    unsafe callbacks = SessionCallbacks.make()
  }

  deinit {
    unsafe nghttp2_session_callbacks_del(callbacks)
  }
}
