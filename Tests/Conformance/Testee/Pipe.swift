import Bytes
import Glibc

/// Messages with their length in front, on standard input and output: four bytes, the lowest first.
enum Pipe {
  enum Failure: Error {
    case endsInsideMessage
    case system(Int32)
  }

  /// A runner's requests are far smaller; more is no runner.
  private static let maximumLength = 256 << 20

  /// The next message; nil when the runner has closed its end.
  static func read() throws(Failure) -> ByteBuffer? {
    var head = ByteBuffer()
    guard try fill(&head, upTo: 4) else { return nil }
    var length = 0
    for index in 0..<4 { length |= Int(head[index]) << (index * 8) }
    guard length <= maximumLength else { throw .endsInsideMessage }
    var message = ByteBuffer(minimumCapacity: length)
    if length > 0, try !fill(&message, upTo: length) { throw .endsInsideMessage }
    return message
  }

  /// Reads until the buffer has a length; false when nothing came at all.
  private static func fill(_ buffer: inout ByteBuffer, upTo length: Int) throws(Failure) -> Bool {
    while buffer.count < length {
      let wanted = length - buffer.count
      let count = buffer.appendWithUnsafeRoom(wanted) { room in
        Glibc.read(STDIN_FILENO, room.baseAddress, wanted)
      }
      if count < 0 {
        guard errno == EINTR else { throw .system(errno) }
      } else if count == 0 {
        guard buffer.isEmpty else { throw .endsInsideMessage }
        return false
      }
    }
    return true
  }

  static func write(_ message: borrowing ByteBuffer) throws(Failure) {
    var output = ByteBuffer(minimumCapacity: message.count + 4)
    for index in 0..<4 { output.append(UInt8(truncatingIfNeeded: message.count >> (index * 8))) }
    output.append(message.span)
    while !output.isEmpty {
      let count = output.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count >= 0 {
        output.consume(count)
      } else if errno != EINTR {
        throw .system(errno)
      }
    }
  }
}
