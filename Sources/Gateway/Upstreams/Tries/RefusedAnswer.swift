import Bytes
import HTTP1
import HTTPModel

/// An answer in whose place another try may come: kept as it comes in, because it is the answer when there is no other
/// try after all.
///
/// That may turn out late. More of a body can come than is kept of it, and a newer token can fail to come.
final class RefusedAnswer {
  /// A copy: its exchange may be over long before it is known whether it is wanted.
  let head: ResponseHead
  let framing: BodyFraming
  /// Whether it waits for a newer token; else for the pause before the next try.
  let awaitsToken: Bool
  private var bytes: ByteBuffer
  /// Set when it is whole.
  private(set) var trailers: FieldBlock?
  /// Whether its connection has ended inside of it.
  private(set) var isBroken = false
  /// Whether its connection was told to wait, since enough of the body is kept.
  private(set) var isFull = false

  /// Bytes of a body beyond which the rest stays with the upstream.
  private static let longestKept = 64 << 10

  init(
    _ head: ResponseHead, _ framing: BodyFraming, awaitsToken: Bool = false, bytes: consuming ByteBuffer = ByteBuffer(),
    trailers: FieldBlock? = nil
  ) {
    self.head = head.copy()
    self.framing = framing
    self.awaitsToken = awaitsToken
    self.bytes = bytes
    if let trailers { end(trailers) }
  }

  /// Takes the next bytes of the body; false when no more should be read.
  func take(_ buffer: inout ByteBuffer, _ count: Int) -> Bool {
    BodyFramer.frame(&buffer, count, as: .none, into: &bytes)
    isFull = bytes.count > Self.longestKept
    return !isFull
  }

  /// The exchange is over, and its trailers are used for the next one.
  func end(_ trailers: FieldBlock) {
    let kept = FieldBlock()
    kept.append(contentsOf: trailers)
    self.trailers = kept
  }

  /// Its connection is gone. What came of a body that is not whole would be taken for all of it, so it goes without: the
  /// status and the fields are what counts of a refusal.
  func connectionEnded() {
    guard trailers == nil else { return }
    isBroken = true
    bytes = ByteBuffer()
    for name: FieldName in [.contentLength, .contentEncoding, .contentType] { head.fields.remove(name) }
    end(FieldBlock())
  }

  func takeBytes() -> ByteBuffer {
    var taken = ByteBuffer()
    swap(&taken, &bytes)
    return taken
  }
}

/// What becomes of it.
extension Attempt {
  /// There is no other try: passes on what was kept.
  func deliverRefused() {
    guard let answer = refused else { return }
    refused = nil
    tries?.stopHolding()
    deliver(answer.head, framing: answer.isBroken ? .length(0) : answer.framing)
    var bytes = answer.takeBytes()
    if !bytes.isEmpty, !isOver { owner?.attempt(self, body: &bytes, count: bytes.count) }
    guard !isOver else { return }
    if let trailers = answer.trailers {
      finish(endWith: trailers)
    } else if answer.isFull {
      resumeReading()
    }
  }
}
