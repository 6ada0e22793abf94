import Bytes
import Compression
import Configuration
import HTTPModel
import ProtobufSchema
import RPC

/// What gRPC and gRPC-Web have in common: how they ask, and how callers are answered.
enum GRPCRequests {
  private static let acceptField = "grpc-accept-encoding"

  /// The codec of a caller whose messages have to be read here.
  static func known(_ codec: MessageCodec?) throws(RPCError) -> MessageCodec {
    if let codec { return codec }
    throw RPCError(.unimplemented, "the codec of the content type is not known; use +proto or +json")
  }

  /// The coding of a caller's compressed messages.
  static func coding(_ call: Call) throws(RPCError) -> ContentCoding {
    try call.messageCoding(.grpcEncoding, acceptField: acceptField)
  }

  /// Reads the one message of a caller's body.
  static func message(
    _ call: Call, _ body: Span<UInt8>, _ dialect: EnvelopeDialect, _ codec: MessageCodec?
  ) throws(RPCError) -> Payload {
    let payload = call.worker.takePayload()
    payload.codec = try known(codec)
    let coding = try coding(call)
    let found = try EnvelopedBody(
      body, dialect, .request, maximumMessage: call.requestMessageLimit, hasCoding: coding != .identity)
    guard found.messages == 1 else {
      throw StreamRelay.wrongCount(.request, found.messages == 0 ? "none" : "more than one")
    }
    if found.isCompressed, !found.message.isEmpty { payload.coding = coding }
    payload.buffer.append(body.extracting(found.message))
    if payload.codec == .json { try payload.checkJSON(call) }
    return payload
  }

  /// Appends a message in its envelope.
  static func write(_ message: Payload, into body: inout ByteBuffer) {
    envelope(of: message).write(into: &body)
    body.append(message.buffer)
  }

  static func envelope(of message: Payload) -> EnvelopeHead {
    EnvelopeHead(
      flags: message.coding == .identity ? 0 : EnvelopeHead.compressed, length: message.buffer.count)
  }

  /// The head of an answer: the caller's own content type, the metadata.
  static func writeAnswerHead(_ call: Call, _ coding: ContentCoding, into fields: FieldBlock) {
    GRPCContentType.mirror(call.head.fields, into: fields)
    MetadataCarrying.copyReply(call.replyMetadata, to: fields)
    MetadataCarrying.removeUnprintable(from: fields)
    if coding != .identity { fields.append(.grpcEncoding, coding.rawValue) }
  }

  /// The head of a request to an upstream.
  static func writeRequestHead(
    _ call: Call, _ route: Route, _ contentType: StaticString, _ codec: MessageCodec, _ coding: ContentCoding,
    into request: UpstreamRequest
  ) throws(RPCError) {
    request.method = .post
    request.target.append(route.target)
    request.isIdempotent = route.type.idempotency != .unknown
    let fields = request.fields
    MetadataCarrying.copyRequest(call.head.fields, to: fields)
    try MetadataCarrying.checkBinary(fields, from: call.face.kind)
    MetadataCarrying.removeUnprintable(from: fields)
    fields.append(.contentType, contentType)
    if let left = call.millisecondsLeft { GRPCTimeout.write(milliseconds: left, into: fields) }
    if coding != .identity { fields.append(.grpcEncoding, coding.rawValue) }
    if let codings = call.codingsToPass(codec) { fields.append(.grpcAcceptEncoding, codings) }
  }
}
