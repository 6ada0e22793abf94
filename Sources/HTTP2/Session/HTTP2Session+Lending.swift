package import Bytes

/// Body bytes that somebody lends while frames are made of them, so that they are copied once: from where they came to
/// the frame. Bytes that wait on their stream are copied twice.
@safe
struct LentBytes {
  let stream: HTTP2Stream
  /// Valid while ``HTTP2Session/sendNow(_:_:on:)`` runs.
  var rest: UnsafeRawBufferPointer
}

extension HTTP2Session {
  /// Less than this waits for more to share a frame with, unless it is the first of its stream: copying it once more
  /// costs less than a frame does.
  private static let smallestFrame = 2 << 10
  /// Frames in one buffer, and in all that wait to be taken.
  private static let pieceLimit = 48 << 10
  private static let madeLimit = 128 << 10

  /// Sends body bytes: takes and consumes the first `count` of the buffer.
  ///
  /// As ``send(_:_:on:)``, but as far as the windows and the output have room their frames are made now, straight from
  /// the buffer. For a body whose end is not known yet, because the last frame of one that is sent so cannot say that
  /// it is the last.
  package func sendNow(_ buffer: inout ByteBuffer, _ count: Int, on stream: HTTP2Stream) {
    guard isUsable(stream), !stream.hasOutputEnded, isWorthFrame(stream, count) else {
      return send(&buffer, count, on: stream)
    }
    stream.lastBatch = batch
    let rest = unsafe buffer.withUnsafeBytes { bytes in
      unsafe lent = LentBytes(stream: stream, rest: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      resume(stream)
      makeFrames()
      defer { lent = nil }
      return lentCount(to: stream)
    }
    // Where a window is closed nothing was written.
    if sink.isEmpty { workspace.buffers.discard(&sink) }
    buffer.consume(count &- rest)
    if rest > 0 { send(&buffer, rest, on: stream) }
  }

  private func isWorthFrame(_ stream: HTTP2Stream, _ count: Int) -> Bool {
    let waiting = unsafe stream.output.count
    guard !isRunning, count > 0, waiting < Self.smallestFrame else { return false }
    return waiting &+ count >= Self.smallestFrame || stream.lastBatch != batch && waiting == 0
  }

  /// Makes frames until what is lent is used up, or cannot be sent now.
  private func makeFrames() {
    while let stream = lent?.stream, lentCount(to: stream) > 0 {
      if sink.count >= Self.pieceLimit {
        guard made.count < Self.madeLimit else { return }
        made.append(&sink, sink.count, from: workspace.buffers)
      }
      if sink.capacity == 0 { sink = workspace.buffers.take() }
      makeFrames(limit: Self.pieceLimit)
      guard sink.count >= Self.pieceLimit else { return }
    }
  }

  func lentCount(to stream: HTTP2Stream) -> Int {
    guard let lent = lent, lent.stream === stream, !stream.isOver else { return 0 }
    return unsafe lent.rest.count
  }

  /// Moves lent bytes behind those of the sink; there have to be as many.
  func takeLent(_ count: Int) {
    guard var taken = lent else { return }
    unsafe sink.append(UnsafeRawBufferPointer(rebasing: taken.rest[..<count]))
    unsafe taken.rest = UnsafeRawBufferPointer(rebasing: taken.rest[count...])
    lent = taken
  }

  /// Whether frames wait to be taken.
  var hasMade: Bool { !sink.isEmpty || !made.isEmpty }

  /// Bytes of memory that they hold.
  package var madeCapacity: Int { sink.capacity + made.capacity }

  /// The frames that were made first go first; the memory of an empty output is given for theirs.
  func takeMade(into output: inout ByteBuffer) {
    guard hasMade else { return }
    var first = ByteBuffer()
    if made.isEmpty { swap(&first, &sink) } else { first = made.popFirst() }
    guard output.isEmpty else { return output.append(first) }
    swap(&first, &output)
    workspace.buffers.give(first)
  }
}
