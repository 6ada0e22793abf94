import Bytes
import Compression
import Configuration
import HTTPModel
import RPC

/// A caller that speaks gRPC (gRPC over HTTP/2). Its status stands in trailers, so it needs HTTP/2; whatever happens,
/// it is answered with status 200 and `grpc-status`, over HTTP/1.1 in the head: there a client may see no trailers.
struct GRPCFace: Face {
  /// Nil for one that is not known here: its messages pass through or not at all.
  let codec: MessageCodec?

  var kind: FaceKind { .grpc }
  var binding: Int? { nil }
  var request: ProcedureRequest? { .grpc(codec: codec) }
  var stream: (any StreamFace)? { self }

  func checkHead(_ call: Call) throws(RPCError) {
    if call.head.version != .http2, call.route != nil {
      throw RPCError(.unimplemented, "gRPC needs HTTP/2; over HTTP/1.1 use gRPC-Web or Connect", httpStatus: 505)
    }
  }

  func agrees(with upstream: UpstreamDialect, _ call: Call) throws(RPCError) -> Bool {
    upstream.protocol == .grpc && (codec == nil || codec == upstream.messageCodec)
  }

  func timeout(_ call: Call) throws(RPCError) -> Duration? { try GRPCTimeout.duration(call.head.fields) }

  func bodyLimit(_ message: Int) -> Int { message + EnvelopeHead.size }

  func acceptedCodings(_ call: Call) -> AcceptEncoding { AcceptEncoding(call.head.fields, .grpcAcceptEncoding) }

  func decodeRequest(_ call: Call, body: Span<UInt8>) throws(RPCError) -> Payload {
    try GRPCRequests.message(call, body, .grpc, codec)
  }

  func encodeReply(_ call: Call, _ payload: Payload, into answer: Answer) throws(RPCError) {
    let message = try payload.kept(in: call.replyCodec, call) { call.callerAccepts($0) }
    writeHead(call, coding: message.coding, into: answer.fields)
    GRPCRequests.write(message, into: &answer.body)
    writeEnd(call, nil, into: &answer.body, trailers: answer.trailers)
  }

  func encodeError(_ call: Call, _ error: RPCError, into answer: Answer) {
    writeHead(call, coding: .identity, into: answer.fields)
    for header in error.headers { answer.fields.append(header.name, header.value) }
    let hasTrailers = call.head.version == .http2
    if call.replyMetadata.isEmpty || !hasTrailers {
      // Trailers-Only: one section, and nothing else. HTTP/1.1 has to be told that no byte follows.
      answer.isHeadOnly = hasTrailers
      writeEnd(call, error, into: &answer.body, trailers: answer.fields)
    } else {
      writeEnd(call, error, into: &answer.body, trailers: answer.trailers)
    }
  }
}

extension GRPCFace: StreamFace {
  var endsAnywhere: Bool { true }

  func source(_ call: Call) throws(RPCError) -> MessageSource {
    MessageSource(
      form: .envelopes(.grpc), codec: try GRPCRequests.known(codec), coding: try GRPCRequests.coding(call))
  }

  func sink(_ call: Call) throws(RPCError) -> MessageSink {
    MessageSink(form: .envelopes, codec: try GRPCRequests.known(codec))
  }

  func writeHead(_ call: Call, coding: ContentCoding, into fields: FieldBlock) {
    GRPCRequests.writeAnswerHead(call, coding, into: fields)
  }

  func writeEnd(_ call: Call, _ error: RPCError?, into body: inout ByteBuffer, trailers: FieldBlock) {
    GRPCStatus.write(error, into: trailers)
    MetadataCarrying.copyTrailingMetadata(call.replyTrailers, to: trailers)
  }
}
