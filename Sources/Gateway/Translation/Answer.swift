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

  /// Leaves out a body that the status does not have, and its type (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5).
  func fitToStatus() {
    guard status == 204 || status == 205 || status == 304 else { return }
    body.removeAll()
    fields.remove(.contentType)
  }

  var framing: BodyFraming {
    if isHeadOnly || status == 204 || status == 304 { return .none }
    return trailers.isEmpty ? .length(body.count) : .chunked
  }
}
