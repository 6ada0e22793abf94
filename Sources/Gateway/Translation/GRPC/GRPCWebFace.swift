import Bytes
import Compression
import Configuration
import HTTPModel
import RPC

/// A caller that speaks gRPC-Web, binary or as text (base64), over any version of HTTP. Its status stands in the last
/// envelope of the body, which scripts can read whatever the head shows them.
struct GRPCWebFace: Face {
  /// Nil for one that is not known here: its messages pass through or not at all.
  let codec: MessageCodec?
  let isText: Bool

  var kind: FaceKind { .grpcWeb }
  var binding: Int? { nil }
  var request: ProcedureRequest? { .grpcWeb(codec: codec, isText: isText) }
  var stream: (any StreamFace)? { self }

  func checkHead(_ call: Call) throws(RPCError) { try StreamRules.check(call) }

  func agrees(with upstream: UpstreamDialect, _ call: Call) throws(RPCError) -> Bool {
    upstream.protocol == .grpcWeb && !isText && (codec == nil || codec == upstream.messageCodec)
  }

  func timeout(_ call: Call) throws(RPCError) -> Duration? { try GRPCTimeout.duration(call.head.fields) }

  func bodyLimit(_ message: Int) -> Int {
    let bytes = message + EnvelopeHead.size
    // Text may be padded in several places.
    return isText ? bytes * 2 : bytes
  }

  func acceptedCodings(_ call: Call) -> AcceptEncoding { AcceptEncoding(call.head.fields, .grpcAcceptEncoding) }

  func decodeRequest(_ call: Call, body: Span<UInt8>) throws(RPCError) -> Payload {
    guard isText else { return try GRPCRequests.message(call, body, .grpcWeb, codec) }
    var bytes = ByteBuffer()
    var decoder = GRPCWebText.Decoder(direction: .request)
    try decoder.decode(body, into: &bytes)
    try decoder.finish(into: &bytes)
    return try GRPCRequests.message(call, bytes.span, .grpcWeb, codec)
  }

  func encodeReply(_ call: Call, _ payload: Payload, into answer: Answer) throws(RPCError) {
    let message = try payload.kept(in: call.replyCodec, call) { call.callerAccepts($0) }
    writeHead(call, coding: message.coding, into: answer.fields)
    var body = ByteBuffer()
    GRPCRequests.write(message, into: &body)
    writeEnvelopedEnd(call, nil, into: &body)
    append(&body, to: answer)
  }

  func encodeError(_ call: Call, _ error: RPCError, into answer: Answer) {
    writeHead(call, coding: .identity, into: answer.fields)
    for header in error.headers { answer.fields.append(header.name, header.value) }
    writeEnd(call, error, into: &answer.body, trailers: answer.trailers)
  }

  private func append(_ body: inout ByteBuffer, to answer: Answer) {
    if isText { Base64.encode(body.span, into: &answer.body) } else { answer.body.take(from: &body) }
  }

  private func writeEnvelopedEnd(_ call: Call, _ error: RPCError?, into body: inout ByteBuffer) {
    let trailers = FieldBlock()
    GRPCStatus.write(error, into: trailers)
    MetadataCarrying.copyTrailingMetadata(call.replyTrailers, to: trailers)
    GRPCWebTrailers.write(trailers, into: &body)
  }
}

extension GRPCWebFace: StreamFace {
  var endsAnywhere: Bool { false }

  func source(_ call: Call) throws(RPCError) -> MessageSource {
    MessageSource(
      form: isText ? .text(.grpcWeb) : .envelopes(.grpcWeb), codec: try GRPCRequests.known(codec),
      coding: try GRPCRequests.coding(call))
  }

  func sink(_ call: Call) throws(RPCError) -> MessageSink {
    MessageSink(form: isText ? .text : .envelopes, codec: try GRPCRequests.known(codec))
  }

  func writeHead(_ call: Call, coding: ContentCoding, into fields: FieldBlock) {
    GRPCRequests.writeAnswerHead(call, coding, into: fields)
  }

  func writeEnd(_ call: Call, _ error: RPCError?, into body: inout ByteBuffer, trailers: FieldBlock) {
    guard isText else { return writeEnvelopedEnd(call, error, into: &body) }
    var end = ByteBuffer()
    writeEnvelopedEnd(call, error, into: &end)
    Base64.encode(end.span, into: &body)
  }
}
