package import Bytes
package import RPC

/// Takes server-sent events apart (WHATWG HTML, section 9.2.6), as they arrive and however they are cut.
///
/// The data of an event, its lines joined, is one message. Comments, `id`, `retry` and unknown fields say nothing of
/// messages, and neither does an event without data, of which servers make heartbeats. Two names mean something, as
/// ``StreamWriter`` writes them: `error` and `end`. All others are names that a service gives its messages. Services
/// without names end with the data `[DONE]`.
package struct EventReader: ~Copyable {
  package enum Event: Equatable, Sendable {
    case needsMore
    /// Its text is in ``data``.
    case message
    /// The stream failed; what the service says of it is in ``data``, maybe nothing.
    case error
    /// The body was complete, or said that it is.
    case end
  }

  private enum Name {
    case message
    case error
    case end
  }

  private let maximumMessage: Int
  /// The lines of the open event's data; of the last one until the next call.
  package private(set) var data = ByteBuffer()
  private var hasData = false
  private var name = Name.message
  private var isAtStart = true
  /// A carriage return ended a line: a line feed behind it is part of that.
  private var mayHaveLineFeed = false
  /// Bytes of the open line that were looked at.
  private var scanned = 0
  private var isTold = false
  /// The service said that nothing follows.
  package private(set) var hasEnded = false
  /// Messages that were found.
  package private(set) var messages = 0

  /// - Parameter maximumMessage: bytes of the longest data that is taken, and of the longest line.
  package init(maximumMessage: Int) { self.maximumMessage = maximumMessage }

  /// The next event; consumes what it has read.
  ///
  /// - Parameter isLast: whether the input holds the end of the body.
  /// - Throws: `internal` for a body that ends inside an event; `resource_exhausted` for an event over the limit.
  package mutating func next(_ input: inout ByteBuffer, isLast: Bool) throws(RPCError) -> Event {
    if isTold { reset() }
    if isAtStart, !skipMark(&input, isLast) { return .needsMore }
    while !hasEnded {
      guard let length = lineLength(&input) else {
        guard scanned <= maximumMessage + Self.longestName else { throw tooLarge }
        guard isLast else { return .needsMore }
        try finish(input)
        break
      }
      guard length <= maximumMessage + Self.longestName else { throw tooLarge }
      let event = try input.withSpan(0..<length) { (line) throws(RPCError) in try take(line) }
      mayHaveLineFeed = input[length] == UInt8(ascii: "\r")
      input.consume(length + 1)
      scanned = 0
      guard let event else { continue }
      isTold = true
      if event == .message { messages &+= 1 }
      // What the service says of its end is no message.
      if event == .end { break }
      return event
    }
    hasEnded = true
    input.removeAll()
    return .end
  }

  /// Bytes of `data: `, which stand before a line's data.
  private static let longestName = 6
  private static let keptBytes = 64 << 10

  private mutating func reset() {
    // A quiet stream does not hold the memory of its longest event.
    if data.capacity > Self.keptBytes { data = ByteBuffer() } else { data.removeAll() }
    hasData = false
    name = .message
    isTold = false
  }

  /// A byte order mark may begin the stream; false while it cannot be told.
  private mutating func skipMark(_ input: inout ByteBuffer, _ isLast: Bool) -> Bool {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let present = min(mark.count, input.count)
    let isMark = (0..<present).allSatisfy { input[$0] == mark[$0] }
    if isMark, present < mark.count, !isLast { return false }
    isAtStart = false
    if isMark, present == mark.count { input.consume(present) }
    return true
  }

  /// Bytes of the first line without what ends it; nil while that is not there.
  private mutating func lineLength(_ input: inout ByteBuffer) -> Int? {
    if mayHaveLineFeed, !input.isEmpty {
      mayHaveLineFeed = false
      if input[0] == UInt8(ascii: "\n") { input.consume(1) }
    }
    var at = scanned
    let isEnded = input.withSpan { bytes in
      while at < bytes.count {
        if bytes[at] == UInt8(ascii: "\n") || bytes[at] == UInt8(ascii: "\r") { return true }
        at &+= 1
      }
      return false
    }
    scanned = at
    return isEnded ? at : nil
  }

  /// Reads a line; the event that it ends.
  private mutating func take(_ line: Span<UInt8>) throws(RPCError) -> Event? {
    guard !line.isEmpty else { return dispatch() }
    var colon = 0
    while colon < line.count, line[colon] != UInt8(ascii: ":") { colon &+= 1 }
    var start = min(colon &+ 1, line.count)
    if start < line.count, line[start] == UInt8(ascii: " ") { start &+= 1 }
    let (field, value) = (line.extracting(0..<colon), line.extracting(start..<line.count))
    if ASCII.equal(field, "data") {
      if hasData { data.append(UInt8(ascii: "\n")) }
      hasData = true
      guard data.count + value.count <= maximumMessage else { throw tooLarge }
      data.append(value)
    } else if ASCII.equal(field, "event") {
      name = ASCII.equal(value, "error") ? .error : ASCII.equal(value, "end") ? .end : .message
    }
    return nil
  }

  /// A blank line ends an event.
  private mutating func dispatch() -> Event? {
    switch name {
    case .error: return .error
    case .end: return .end
    case .message:
      guard !data.isEmpty else {
        reset()
        return nil
      }
      return ASCII.equal(data.span, "[DONE]") ? .end : .message
    }
  }

  /// A browser drops an event that its stream does not end; here it would be a message that is lost.
  private func finish(_ rest: borrowing ByteBuffer) throws(RPCError) {
    let isComment = rest.isEmpty || rest[0] == UInt8(ascii: ":")
    guard isComment, !hasData, name == .message else {
      throw StreamFaults.malformed(.upstream, "the stream ends inside an event", behind: messages)
    }
  }

  private var tooLarge: RPCError {
    StreamFaults.tooLarge(.upstream, message: messages + 1, limit: maximumMessage)
  }
}
