import Bytes
import Compression
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// Streams of a REST caller. What the bodies look like is said in ``StreamWriter`` and ``StreamReader``.
extension RESTFace: StreamFace {
  var stream: (any StreamFace)? { self }

  /// An end stands in the body, behind whole messages.
  var endsAnywhere: Bool { false }

  func gathersRequest(_ call: Call) -> Bool { call.route?.plan.type.isClientStreaming == false }

  func source(_ call: Call) throws(RPCError) -> MessageSource {
    try StreamRules.check(call)
    guard try call.requestCoding() == .identity else {
      throw RPCError(
        .invalidArgument, "a stream is read without content-encoding", httpStatus: 415,
        headers: [(name: "accept-encoding", value: "identity")])
    }
    return MessageSource(form: .other(try state(of: call)), codec: .proto)
  }

  func sink(_ call: Call) throws(RPCError) -> MessageSink {
    MessageSink(form: .other(try state(of: call)), codec: .proto)
  }

  private func state(of call: Call) throws(RPCError) -> RESTStream {
    if let state = call.restStream { return state }
    let state = try RESTStream(self, call)
    call.restStream = state
    return state
  }

  /// An event source is open for its page as soon as it has a head. The one answer to a client's stream is no event.
  func headWaits(_ call: Call) -> Bool {
    call.route?.plan.type.isServerStreaming != true || call.restStream?.form != .json(.sse)
  }

  func tellsErrors(_ call: Call) -> Bool { call.restStream.map { $0.form != .raw } ?? false }

  func wholeReply(_ call: Call) -> Payload? { call.restStream?.reply }

  func writeHead(_ call: Call, coding: ContentCoding, into fields: FieldBlock) {
    MetadataCarrying.copyReply(call.replyMetadata, to: fields)
    guard let stream = call.restStream else { return }
    fields.append(.contentType, stream.contentType)
    guard case .json(let form) = stream.form else { return }
    fields.vary(by: "Accept")
    if form == .sse, !fields.contains(.cacheControl) { fields.append(.cacheControl, "no-cache") }
  }

  func writeEnd(_ call: Call, _ error: RPCError?, into body: inout ByteBuffer, trailers: FieldBlock) {
    guard let route = call.route?.plan else { return }
    call.restStream?.finish(error, route, into: &body)
  }
}
