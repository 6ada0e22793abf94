import Bytes
import Compression
import Configuration
import EventLoops
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// Reads the messages of a REST service's answer as they come, by its content type; one for each call.
final class RESTStreamAnswer: MessageReader {
  private let route: Route
  private let binding: RESTBinding
  private let status: Int
  private let contentType: [UInt8]?
  private let maximumMessage: Int
  private let form: AnsweredStream
  private var values: StreamReader
  private var events: EventReader
  /// The list that an envelope held in the place of a message.
  private var enclosed = ByteBuffer()
  private var enclosedValues: StreamReader?
  private let decompressor: StreamDecompressor?
  /// What was decompressed and is not read yet.
  private var plain = ByteBuffer()
  /// Why nothing more can be decompressed; told when what came before it was read.
  private var fault: RPCError?
  private var messages = 0
  /// Bytes of the budget that what is not whole takes, and the decoder.
  private var claimed = 0

  /// What is decompressed at once, beyond what a message needs.
  private static let piece = 64 << 10

  /// - Throws: for a content type that holds no messages, and a coding that is unknown.
  init(_ route: Route, _ call: Call, _ head: ResponseHead) throws(RPCError) {
    self.route = route
    binding = route.bindings[call.restBinding]
    status = head.status
    contentType = head.fields.firstIndex(of: .contentType).map { index in
      head.fields.withValue(at: index) { value in value.indices.map { value[$0] } }
    }
    maximumMessage = call.replyMessageLimit
    if !route.type.isServerStreaming || Self.isBodyless(head.status) {
      form = .values(.whole)
    } else if let contentType {
      form = try binding.answeredStream(status: head.status, contentType: contentType.span)
    } else {
      form = try binding.answeredStream(status: head.status, contentType: nil)
    }
    if case .values(let form) = form {
      values = StreamReader(form, of: .upstream, maximumMessage: maximumMessage)
    } else {
      values = StreamReader(.whole, of: .upstream, maximumMessage: 0)
    }
    events = EventReader(maximumMessage: maximumMessage)
    let coding = try call.replyCoding(head)
    decompressor = StreamDecompressor(coding)
    if coding != .identity, decompressor == nil { throw RPCError(.internal, "no memory for a decoder") }
  }

  /// Of a stream they say that there is no message, of one message that it is empty.
  private static func isBodyless(_ status: Int) -> Bool { status == 204 || status == 205 }

  // MARK: Reading

  /// Whether the service said that nothing follows, whatever its connection does.
  var isOver: Bool { events.hasEnded }

  func next(_ input: inout ByteBuffer, _ call: Call) throws(RPCError) -> Payload? {
    try next(&input, call, isLast: false)
  }

  func finish(_ input: inout ByteBuffer, _ call: Call) throws(RPCError) -> Payload? {
    try next(&input, call, isLast: true)
  }

  private func next(_ input: inout ByteBuffer, _ call: Call, isLast: Bool) throws(RPCError) -> Payload? {
    if Self.isBodyless(status), route.type.isServerStreaming {
      input.removeAll()
      return nil
    }
    if isOver {
      input.removeAll()
      plain.removeAll()
      return nil
    }
    let message: Payload?
    if let decompressor {
      message = try next(decompressor, &input, call, isLast)
      call.worker.recycle(&plain)
    } else {
      message = try take(&input, call, isLast: isLast)
    }
    let held = input.count + plain.count + enclosed.count + events.data.count + (decompressor?.memory ?? 0)
    // The budget is shared by all loops: not for each message of many that came together. What a long one took is its
    // output's from here on.
    if message == nil || held > claimed || claimed - held > Watermark.high { try hold(held, call) }
    return message
  }

  private func next(
    _ decompressor: StreamDecompressor, _ input: inout ByteBuffer, _ call: Call, _ isLast: Bool
  ) throws(RPCError) -> Payload? {
    var unpacked = 0
    while true {
      if let message = try take(&plain, call, isLast: false) { return message }
      if let fault { throw fault }
      // Blanks and comments make no message, however much of them unpacks.
      if unpacked > maximumMessage + 2 * Self.piece {
        throw RPCError(
          .resourceExhausted, "the upstream's answer unpacks to too much without a message", httpStatus: 502)
      }
      let before = plain.count
      call.worker.lendBuffer(to: &plain)
      do throws(CompressionError) {
        let isFull = try decompressor.decompress(&input, limit: Self.piece, into: &plain)
        unpacked += plain.count - before
        if isFull || plain.count > before { continue }
        guard isLast else { return nil }
        try decompressor.finish()
      } catch {
        fault = RPCError(
          .internal, "the upstream's answer cannot be decompressed", httpStatus: 502, logDetail: "\(error)")
        continue
      }
      return try take(&plain, call, isLast: true)
    }
  }

  private func hold(_ bytes: Int, _ call: Call) throws(RPCError) {
    if bytes > claimed { try call.claim(bytes - claimed) } else { call.release(claimed - bytes) }
    claimed = bytes
  }

  /// The next message that is whole.
  private func take(_ buffer: inout ByteBuffer, _ call: Call, isLast: Bool) throws(RPCError) -> Payload? {
    while true {
      if let message = try takeEnclosed(call) { return message }
      if case .events = form {
        switch try events.next(&buffer, isLast: isLast) {
        case .needsMore, .end: return nil
        case .error: throw events.data.withSpan { readError($0) }
        case .message:
          let message = try events.data.withSpan { (bytes) throws(RPCError) in
            try decode(bytes, call, envelope: route.settings.envelope)
          }
          if let message { return message }
        }
        continue
      }
      guard case .message(let count) = try values.next(&buffer, isLast: isLast) else { return nil }
      let message = try buffer.withSpan(0..<count) { (bytes) throws(RPCError) in
        try decode(bytes, call, envelope: route.settings.envelope)
      }
      buffer.consume(count)
      if let message { return message }
    }
  }

  private func takeEnclosed(_ call: Call) throws(RPCError) -> Payload? {
    guard case .message(let count)? = try enclosedValues?.next(&enclosed, isLast: true) else {
      if enclosedValues != nil { enclosed = ByteBuffer() }
      enclosedValues = nil
      return nil
    }
    let message = try enclosed.withSpan(0..<count) { (bytes) throws(RPCError) in
      try decode(bytes, call, envelope: nil)
    }
    enclosed.consume(count)
    return message
  }

  // MARK: Messages

  /// - Parameter envelope: what is around this message.
  /// - Returns: nil where it was a list of them.
  private func decode(_ bytes: Span<UInt8>, _ call: Call, envelope: String?) throws(RPCError) -> Payload? {
    switch form {
    case .values(.raw):
      // The first one says what they are.
      return try decode(bytes, call, envelope, isTyped: messages == 0)
    case .values(.whole):
      return try decode(bytes, call, envelope, isTyped: true)
    case .values, .events:
      if let error = successError(nil, bytes) { throw error }
      if binding.isStreamError(bytes, envelope: route.settings.envelope) { throw readError(bytes) }
      if let envelope, let list = binding.enclosedArray(bytes, envelope: envelope) {
        enclosed.append(bytes.extracting(list))
        enclosedValues = StreamReader(.array, of: .upstream, maximumMessage: maximumMessage)
        return nil
      }
      return try decode(bytes, call, envelope, isTyped: false)
    }
  }

  private func decode(
    _ bytes: Span<UInt8>, _ call: Call, _ envelope: String?, isTyped: Bool
  ) throws(RPCError) -> Payload {
    messages += 1
    let payload = Payload(from: call.worker.loop.buffers, for: bytes.count)
    payload.codec = .proto
    var unknown: [String] = []
    do throws(RPCError) {
      if isTyped, let contentType {
        try decode(bytes, contentType.span, envelope, &unknown, payload)
      } else {
        try decode(bytes, nil, envelope, &unknown, payload)
      }
    } catch {
      throw located(error)
    }
    if !unknown.isEmpty { call.reportUnknownFields(unknown) }
    return payload
  }

  private func decode(
    _ bytes: Span<UInt8>, _ type: Span<UInt8>?, _ envelope: String?, _ unknown: inout [String], _ payload: Payload
  ) throws(RPCError) {
    if form == .values(.whole), let error = successError(type, bytes) { throw error }
    try binding.decodeResponse(
      status: status, contentType: type, body: bytes, envelope: envelope, marker: route.successErrors?.member,
      unknown: &unknown, into: &payload.buffer)
  }

  private func successError(_ type: Span<UInt8>?, _ bytes: Span<UInt8>) -> RPCError? {
    route.successErrors?.error(contentType: type, body: bytes, codec: route.profileCodec, format: route.errorFormat)
  }

  private func readError(_ bytes: Span<UInt8>) -> RPCError {
    RESTErrors.readInStream(bytes, codec: route.profileCodec, format: route.errorFormat)
  }

  private func located(_ error: RPCError) -> RPCError {
    guard route.type.isServerStreaming else { return error }
    var error = error
    error.message = "message \(messages) of the stream: \(error.message)"
    return error
  }
}
