import Bytes
import EventLoops
import HTTP1
import HTTPModel
import RPC

/// The beginning of an answer whose protocol tells errors at its end: held back while it may yet turn out to be an error
/// without any message, which can be answered by another try as long as nobody has seen its head.
final class HeldAnswer {
  /// Where an error without messages stands.
  enum End {
    /// gRPC: in the trailers of HTTP.
    case trailers
    /// Connect and gRPC-Web: in the only envelope.
    case envelope(EnvelopeDialect)
  }

  private(set) var head: ResponseHead
  let framing: BodyFraming
  let end: End
  /// The first bytes of the body, as long as they may be the end.
  private(set) var bytes = ByteBuffer()
  /// Of an answer that is whole and waits for a newer token.
  private(set) var trailers: FieldBlock?

  /// Bytes of an envelope that ends an answer; of a longer one nothing hangs on its error.
  private static let longestEnd = 64 << 10

  /// Nil when the answer's error, if it is one, stands in the head, or when it is in no such protocol.
  init?(_ head: ResponseHead, _ framing: BodyFraming) {
    guard head.status == 200, !head.fields.contains(.grpcStatus),
      let index = head.fields.firstIndex(of: .contentType)
    else { return nil }
    let end: End? = head.fields.withValue(at: index) { type in
      if let parts = GRPCContentType.parts(type) {
        if !parts.isWeb { return .trailers }
        // Base64 has to be decoded first, which is not worth it.
        return parts.isText ? nil : .envelope(.grpcWeb)
      }
      return MediaType.begins(type, "application/connect+") ? .envelope(.connect) : nil
    }
    guard let end else { return nil }
    self.head = head
    self.framing = framing
    self.end = end
  }

  /// Takes the next bytes of the body; false when there is a message, so that the answer is the answer. The bytes are
  /// taken in any case.
  func take(_ buffer: inout ByteBuffer, _ count: Int) -> Bool {
    BodyFramer.frame(&buffer, count, as: .none, into: &bytes)
    guard case .envelope(let dialect) = end, !bytes.isEmpty else { return bytes.isEmpty }
    return bytes.withSpan { $0[0] & dialect.endFlag != 0 } && bytes.count <= Self.longestEnd
  }

  func takeBytes() -> ByteBuffer {
    var taken = ByteBuffer()
    swap(&taken, &bytes)
    return taken
  }

  /// The error that the whole answer is; nil: none, or not only that.
  func error(_ trailers: FieldBlock) -> Code? {
    switch end {
    case .trailers: return GRPCStatus.code(in: trailers)
    case .envelope(let dialect):
      var tap = StreamTap(dialect: dialect, decompress: ReplyTap.decompression(head, dialect))
      bytes.withSpan { tap.observe($0) }
      return tap.messages == 0 && tap.isComplete ? tap.error?.code : nil
    }
  }

  /// The exchange is over, and its head and trailers are used for the next one.
  func outlive(_ trailers: FieldBlock) {
    head = head.copy()
    let kept = FieldBlock()
    kept.append(contentsOf: trailers)
    self.trailers = kept
  }
}
