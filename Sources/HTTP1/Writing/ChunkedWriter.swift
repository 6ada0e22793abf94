public import Bytes
public import HTTPModel

/// Writes the chunked coding (RFC 9112 section 7.1).
public enum ChunkedWriter {
  /// Bytes around the data of a chunk at most: its size, and two ends of line.
  public static let overhead = 20

  /// Appends one chunk; nothing for no data, because an empty chunk is the last one.
  public static func chunk(_ data: Span<UInt8>, into output: inout ByteBuffer) {
    guard !data.isEmpty else { return }
    output.reserve(data.count &+ overhead)
    output.append(hexadecimal: data.count)
    output.append("\r\n")
    output.append(data)
    output.append("\r\n")
  }

  /// Appends one chunk of a range of a buffer's unread bytes.
  public static func chunk(_ data: borrowing ByteBuffer, _ range: Range<Int>, into output: inout ByteBuffer) {
    chunk(data.span.extracting(range), into: &output)
  }

  /// Appends the last chunk and the trailer section.
  public static func end(trailers: FieldBlock?, into output: inout ByteBuffer) {
    output.append("0\r\n")
    trailers?.write(into: &output)
    output.append("\r\n")
  }
}
