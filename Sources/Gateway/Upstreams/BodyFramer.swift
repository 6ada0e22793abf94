import Bytes
import HTTP1
import HTTPModel

/// Where output that waits for a connection or for the end of the tick is so much that its source is asked to wait.
enum Watermark {
  static let high = 256 << 10
}

/// Writes body bytes in the framing that their head announced.
enum BodyFramer {
  /// Takes and consumes the first `count` bytes of `source`; without framing around them, and all of a buffer at
  /// once, they are moved and not copied.
  static func frame(
    _ source: inout ByteBuffer, _ count: Int, as framing: BodyFraming, into output: inout ByteBuffer
  ) {
    guard count > 0 else { return }
    switch framing {
    case .chunked:
      ChunkedWriter.chunk(source, 0..<count, into: &output)
      source.consume(count)
    case .none, .length, .untilClose:
      if count == source.count {
        output.take(from: &source)
      } else {
        output.append(source, 0..<count)
        source.consume(count)
      }
    }
  }

  static func frameEnd(_ trailers: FieldBlock?, as framing: BodyFraming, into output: inout ByteBuffer) {
    if framing == .chunked { ChunkedWriter.end(trailers: trailers, into: &output) }
  }
}
