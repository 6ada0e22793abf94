import Bytes
import REST

/// The data of a raw answer on its way through.
///
/// The last byte is held back until the message is whole: what stands behind the data may contradict it, and an answer
/// that its client has whole cannot be taken back.
final class RawDownload {
  /// Bytes behind the data that are looked at; HttpBody has hardly any.
  private static let longestTail = 64 << 10

  private let reply: RawReply
  private let data: RawReply.Data
  /// Bytes of the data that may pass before the end.
  private var free: Int
  private var last = ByteBuffer()
  private var tail = ByteBuffer()

  init(_ reply: RawReply, _ data: RawReply.Data) {
    self.reply = reply
    self.data = data
    free = data.length - 1
  }

  /// Takes bytes of the message from the front of a buffer.
  ///
  /// - Returns: how many of them may pass; those are left in the buffer, the others are consumed by ``keep(_:_:)``.
  func passing(of count: Int) -> Int {
    let passing = Swift.min(count, free)
    free -= passing
    return passing
  }

  /// Takes and consumes bytes that do not pass now.
  ///
  /// - Returns: false when there are more of them than a message can have there.
  func keep(_ buffer: inout ByteBuffer, _ count: Int) -> Bool {
    guard count > 0 else { return true }
    var rest = count
    if last.isEmpty {
      last.append(buffer, 0..<1)
      buffer.consume(1)
      rest -= 1
    }
    guard tail.count + rest <= Self.longestTail else {
      buffer.consume(rest)
      return false
    }
    tail.append(buffer, 0..<rest)
    buffer.consume(rest)
    return true
  }

  /// The byte that was held back, once the message is over and is what it seemed to be; nil when it is not.
  func takeLast() -> ByteBuffer? {
    guard !last.isEmpty, tail.withSpan(nil, { reply.ends(data, with: $0) }) else { return nil }
    var byte = ByteBuffer()
    swap(&byte, &last)
    return byte
  }
}
