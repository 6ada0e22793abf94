import Bytes
import HTTP1
import HTTPModel

/// A whole answer of the gateway's own making.
final class Answer {
  var status = 200
  let fields = FieldBlock()
  var body = ByteBuffer()
  /// Sent behind the body; a body that they follow has no length.
  let trailers = FieldBlock()
  /// Whether the head is all there is, and says no length.
  var isHeadOnly = false

  func removeAll() {
    status = 200
    fields.removeAll()
    body.removeAll()
    trailers.removeAll()
    isHeadOnly = false
  }

  var framing: BodyFraming {
    if isHeadOnly || status == 204 || status == 304 { return .none }
    return trailers.isEmpty ? .length(body.count) : .chunked
  }
}
