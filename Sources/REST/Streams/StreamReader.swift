package import Bytes
package import RPC

/// Takes the body of a REST caller's client stream, or of a REST backend's answer, apart into messages, as it arrives and
/// without copying.
///
/// JSON comes as values one behind the other, with blanks between them or without (newline-delimited JSON is that), or
/// as one array of them. Only where each value begins and ends is found here; whether it is JSON, and the right one, is
/// the codec's to judge. Raw bytes become `google.api.HttpBody` messages of what arrived together.
package struct StreamReader: Sendable {
  /// Whose body it is, and so whose its faults are.
  package enum Side: Sendable {
    case caller
    case upstream
  }

  package enum Form: Sendable, Equatable {
    case lines
    case array
    /// `application/json`: an array if it begins with a bracket, else values one behind the other.
    case json
    /// Values with a record separator (0x1E) before each (RFC 7464). Nothing goes on behind one: a value that it cuts is
    /// a message that no codec reads.
    case sequence
    case raw
    /// The body is one message.
    case whole
  }

  package enum Event: Equatable, Sendable {
    case needsMore
    /// The first bytes of the input are one message, this many.
    case message(Int)
    /// The body was complete and has no further message.
    case end
  }

  private enum Place {
    case start
    /// In an array, where a value or its end is due.
    case firstElement
    case element
    /// In an array, behind a value.
    case behindElement
    /// Between values that are in no array.
    case between
    case value
    /// Behind the array.
    case end
  }

  /// Bytes of the greatest piece of raw bytes that becomes one message.
  static let maximumPiece = 65_536

  private static let recordSeparator: UInt8 = 0x1E

  private let form: Form
  private let side: Side
  private let maximumMessage: Int
  private var place: Place
  private var isInArray = false
  /// Bytes of the open value that were looked at.
  private var scanned = 0
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// Messages that were found.
  package private(set) var messages = 0

  /// - Parameter maximumMessage: bytes of the longest message that is taken.
  package init(_ form: Form, of side: Side = .caller, maximumMessage: Int) {
    self.form = form
    self.side = side
    self.maximumMessage = maximumMessage
    place = form == .lines || form == .sequence ? .between : .start
  }

  /// Whether messages are raw bytes.
  package var isRaw: Bool { form == .raw }

  /// The next event; consumes what stands between messages.
  ///
  /// After `.message(n)` the caller takes and consumes exactly n bytes of the input before the next call.
  ///
  /// - Parameter isLast: whether the input holds the end of the body.
  /// - Throws: for an array that is none, or for a body that ends early, `invalid_argument`, and `internal` where it is an
  ///   upstream's; `resource_exhausted` for a message over the limit, with status 413 or 502.
  package mutating func next(_ input: inout ByteBuffer, isLast: Bool) throws(RPCError) -> Event {
    if form == .raw { return raw(input, isLast) }
    if form == .whole { return try whole(input, isLast) }
    while true {
      if place == .value {
        guard let length = end(of: input, isLast) else {
          try check(length: scanned)
          if isLast { throw fault("the body ends inside a message") }
          return .needsMore
        }
        try check(length: length)
        begin(isInArray ? .behindElement : .between)
        messages &+= 1
        return .message(length)
      }
      skipBlanks(&input)
      guard !input.isEmpty else {
        if !isLast { return .needsMore }
        guard place == .between || place == .end || place == .start && form == .json else {
          throw fault("the body ends inside its array")
        }
        return .end
      }
      if try !punctuation(&input) { begin(.value) }
    }
  }

  private mutating func raw(_ input: borrowing ByteBuffer, _ isLast: Bool) -> Event {
    // An empty upload is a message too.
    if input.isEmpty, !isLast { return .needsMore }
    if input.isEmpty, messages > 0 { return .end }
    messages &+= 1
    return .message(min(input.count, Self.maximumPiece, maximumMessage))
  }

  private mutating func whole(_ input: borrowing ByteBuffer, _ isLast: Bool) throws(RPCError) -> Event {
    if messages > 0 { return .end }
    try check(length: input.count)
    guard isLast else { return .needsMore }
    messages = 1
    return .message(input.count)
  }

  /// Consumes a bracket or a comma that belongs to the array.
  ///
  /// - Returns: false where a value begins.
  private mutating func punctuation(_ input: inout ByteBuffer) throws(RPCError) -> Bool {
    let byte = input[0]
    switch (place, byte) {
    case (.start, UInt8(ascii: "[")):
      isInArray = true
      begin(.firstElement)
    case (.start, _):
      if form == .array { throw fault("a JSON array is expected") }
      return false
    case (.firstElement, UInt8(ascii: "]")), (.behindElement, UInt8(ascii: "]")):
      begin(.end)
    case (.behindElement, UInt8(ascii: ",")):
      begin(.element)
    case (.behindElement, _):
      throw fault("\",\" or \"]\" is expected behind a message")
    case (.end, _):
      throw fault("nothing may follow the array")
    case (.firstElement, UInt8(ascii: ",")), (.element, UInt8(ascii: ",")), (.element, UInt8(ascii: "]")):
      throw fault("a message is expected")
    default:
      return false
    }
    input.consume(1)
    return true
  }

  private mutating func begin(_ place: Place) {
    self.place = place
    scanned = 0
    depth = 0
    isInString = false
    isEscaped = false
  }

  /// The length of the value that the input begins with; nil while its end is not there.
  private mutating func end(of input: borrowing ByteBuffer, _ isLast: Bool) -> Int? {
    let bytes = input.span
    while scanned < bytes.count {
      let byte = bytes[scanned]
      if byte == Self.recordSeparator, form == .sequence { return max(1, scanned) }
      if isInString {
        scanned &+= 1
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          if depth == 0 { return scanned }
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        // Directly behind a bare word: another value.
        if depth == 0, scanned > 0 { return scanned }
        isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if depth == 0, scanned > 0 { return scanned }
        depth &+= 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return max(1, scanned) }
        depth &-= 1
        if depth == 0 {
          scanned &+= 1
          return scanned
        }
      case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
        // A bare word ends here. A comma that begins a value is a value of one byte, for the codec to refuse.
        if depth == 0 { return max(1, scanned) }
      default: break
      }
      scanned &+= 1
    }
    return isLast && depth == 0 && !isInString && scanned > 0 ? scanned : nil
  }

  private func skipBlanks(_ input: inout ByteBuffer) {
    var count = 0
    input.withSpan { bytes in
      while count < bytes.count {
        switch bytes[count] {
        case 0x20, 0x09, 0x0A, 0x0D: count &+= 1
        case Self.recordSeparator where form == .sequence: count &+= 1
        default: return
        }
      }
    }
    input.consume(count)
  }

  private func check(length: Int) throws(RPCError) {
    guard length <= maximumMessage else {
      throw StreamFaults.tooLarge(side, message: messages + 1, limit: maximumMessage)
    }
  }

  private func fault(_ reason: String) -> RPCError { StreamFaults.malformed(side, reason, behind: messages) }
}
