import Bytes
import Configuration
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// What is kept of the stream of one REST caller.
final class RESTStream: MessageReader, MessageWriter {
  /// How messages are written.
  let form: StreamWriter.Form
  /// Of the answer; that of raw bytes is known with the first message.
  private(set) var contentType: String
  /// The message of an answer that is no stream.
  private(set) var reply: Payload?

  private let face: RESTFace
  private let route: Route
  private let binding: RESTBinding
  private var reader: StreamReader?
  private var writer: StreamWriter
  /// Bytes of the budget that a message takes which is not whole.
  private var claimed = 0

  /// - Throws: for a request body that is no stream of messages.
  init(_ face: RESTFace, _ call: Call) throws(RPCError) {
    guard let route = call.route?.plan else { throw RPCError(.internal, "no route") }
    self.face = face
    self.route = route
    binding = route.bindings[face.number]
    if route.type.isClientStreaming {
      reader = StreamReader(
        try binding.requestForm(call.head.fields), maximumMessage: call.requestMessageLimit)
    }
    if binding.answersRaw {
      form = .raw
      contentType = "application/octet-stream"
    } else {
      let choice = StreamForm.choose(call.head.fields, own: route.streamForm)
      form = .json(choice.form)
      contentType = choice.contentType
    }
    writer = StreamWriter(form, events: route.events)
  }

  // MARK: Reading

  func next(_ input: inout ByteBuffer, _ call: Call) throws(RPCError) -> Payload? {
    try next(&input, call, isLast: false)
  }

  func finish(_ input: inout ByteBuffer, _ call: Call) throws(RPCError) -> Payload? {
    try next(&input, call, isLast: true)
  }

  private func next(_ input: inout ByteBuffer, _ call: Call, isLast: Bool) throws(RPCError) -> Payload? {
    guard case .message(let count)? = try reader?.next(&input, isLast: isLast) else {
      try hold(input.count, call)
      return nil
    }
    // Of raw bytes the request says what they are; a message of JSON has no type of its own.
    let type = reader?.isRaw == true ? call.head.fields.firstIndex(of: .contentType) : nil
    let message: Payload
    do throws(RPCError) {
      message = try input.withSpan(0..<count) { (bytes) throws(RPCError) in
        try face.decode(call, bytes, typedBy: type)
      }
    } catch {
      throw located(error)
    }
    input.consume(count)
    try hold(0, call)
    return message
  }

  /// The fields of all messages have the same names: which message it is tells them apart.
  private func located(_ error: RPCError) -> RPCError {
    guard let reader, !reader.isRaw else { return error }
    var error = error
    error.message = "message \(reader.messages) of the stream: \(error.message)"
    return error
  }

  private func hold(_ bytes: Int, _ call: Call) throws(RPCError) {
    if bytes > claimed { try call.claim(bytes - claimed) } else { call.release(claimed - bytes) }
    claimed = bytes
  }

  // MARK: Writing

  func write(_ message: Payload, _ call: Call, into output: inout ByteBuffer) throws(RPCError) {
    guard route.type.isServerStreaming else {
      try call.claim(message.buffer.count)
      reply = message
      return
    }
    let wire = try message.converted(to: .proto, call)
    let type = try wire.withSpan { (bytes) throws(RPCError) in
      try writer.write(bytes, binding, envelope: route.settings.envelope, into: &output)
    }
    if form == .raw, writer.messages == 1 { contentType = type }
  }

  func finish(_ error: RPCError?, _ route: Route, into output: inout ByteBuffer) {
    _ = writer.finish(error, format: route.errorFormat, codec: route.profileCodec, into: &output)
  }
}
