import Bytes
import HTTPModel

/// A whole answer to a request of the gateway's own.
final class InternalReply {
  let status: Int
  let fields = FieldBlock()
  var body = ByteBuffer()

  init(_ head: ResponseHead) {
    status = head.status
    fields.append(contentsOf: head.fields)
  }

  var isSuccess: Bool { status / 100 == 2 }
}

/// Why there is no whole answer to a request of the gateway's own.
struct InternalFailure: Error {
  enum Kind: String {
    /// The server could not be reached, or ended the exchange.
    case exchange
    /// The time ran out.
    case timeout
    /// The answer is larger than it may be.
    case tooLarge = "too_large"
    /// The answer came, and is of no use.
    case unusable
    /// The loop ends.
    case closing
  }

  var kind: Kind
  /// For the log.
  var reason: String
}
