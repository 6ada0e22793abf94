import Bytes
import Configuration
import HTTPModel

/// A body that passes, as far as it was sent: kept in its framing up to a bound, so that it can be sent once more.
final class KeptBody {
  private var bytes = ByteBuffer()
  private var trailers: FieldBlock?
  private let limit: Int
  /// Bytes of `limits.buffers` that are taken.
  private var reserved = 0
  /// Whether nothing of it is missing.
  private(set) var isWhole = true

  /// Of a body that is kept for a newer token only: what unary calls commonly send.
  static let usualLimit = 64 << 10

  /// - Parameter limit: bytes; longer bodies are not kept.
  init(limit: Int) { self.limit = limit }

  /// Keeps what is sent as well.
  func keep(_ worker: Worker, _ write: (inout ByteBuffer) -> Void) {
    guard isWhole else { return }
    write(&bytes)
    let more = bytes.count - reserved
    if bytes.count <= limit, worker.shared.buffers.reserve(more, limit: worker.limits.buffers) {
      reserved += more
    } else {
      forget(worker)
    }
  }

  func keep(trailers: FieldBlock?) { if isWhole { self.trailers = trailers } }

  /// Appends the body as far as it was sent.
  func replay(into pending: inout ByteBuffer) -> FieldBlock? {
    pending.append(bytes)
    return trailers
  }

  /// It will not be sent again.
  func forget(_ worker: Worker) {
    isWhole = false
    worker.shared.buffers.release(reserved)
    reserved = 0
    bytes = ByteBuffer()
    trailers = nil
  }
}
