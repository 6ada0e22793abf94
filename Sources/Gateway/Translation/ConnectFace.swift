import Bytes
import Compression
import HTTPModel
import RPC

/// A caller that speaks Connect: unary by POST, unary by GET, or a stream that is passed on as it is.
struct ConnectFace: Face {
  private let asked: ProcedureRequest

  init(request: ProcedureRequest) { asked = request }

  var kind: FaceKind { .connect }
  var binding: Int? { nil }
  var request: ProcedureRequest? { asked }

  /// Whether a request that has no route comes from a Connect client, who is then told so in Connect.
  static func speaks(_ head: RequestHead) -> Bool {
    if head.fields.contains(.connectProtocolVersion) { return true }
    guard let index = head.fields.firstIndex(of: .contentType) else { return false }
    return head.fields.withValue(at: index) { type in
      MediaType.matches(type, "application/proto") || MediaType.matches(type, "application/connect+proto")
        || MediaType.matches(type, "application/connect+json")
    }
  }

  func checkHead(_ call: Call) throws(RPCError) {
    switch asked {
    case .connectUnary:
      try ConnectVersion.check(call.head.fields)
      if call.isStreamingRoute {
        throw RPCError(
          .unimplemented, "the method streams: use application/connect+proto or application/connect+json",
          httpStatus: 415, headers: [("accept-post", "application/connect+proto, application/connect+json")])
      }
      _ = try call.requestCoding()
    case .connectGet:
      // A GET has no body (Connect protocol, Unary-Get-Request).
      if call.hasRequestBody {
        throw RPCError(.invalidArgument, "a Connect GET has no body", httpStatus: 415)
      }
    case .connectStreaming:
      try ConnectVersion.check(call.head.fields)
      if !call.isStreamingRoute {
        throw RPCError(
          .unimplemented, "the method does not stream: use application/proto or application/json", httpStatus: 415,
          headers: [("accept-post", RPCError.unaryContentTypes)])
      }
    case .methodNotAllowed:
      let allow = call.route?.plan.allowsGet == true ? "GET, POST" : "POST"
      throw RPCError(
        .unimplemented, "\(call.head.method.name) is not allowed on a procedure; allowed: \(allow)", httpStatus: 405,
        headers: [("allow", allow)])
    case .grpc, .grpcWeb, .unsupportedMediaType:
      throw RPCError(
        .unimplemented, "a procedure takes application/proto or application/json", httpStatus: 415,
        headers: [("accept-post", RPCError.unaryContentTypes)])
    }
  }

  func timeout(_ call: Call) throws(RPCError) -> Duration? {
    guard let milliseconds = try ConnectTimeout.milliseconds(call.head.fields) else { return nil }
    return .milliseconds(milliseconds)
  }

  func decodeRequest(_ call: Call, body: Span<UInt8>) throws(RPCError) -> Payload {
    let payload = Payload()
    switch asked {
    case .connectUnary(let codec):
      payload.codec = codec
      payload.buffer.append(body)
    case .connectGet:
      var raw = ByteBuffer()
      let query = try call.head.withQuery { (query) throws(RPCError) in
        try ConnectGetQuery.parse(query, message: &raw)
      }
      payload.codec = query.codec
      let coding = try call.coding(named: query.compression)
      if coding == .identity || raw.isEmpty {
        swap(&payload.buffer, &raw)
      } else {
        try call.decompress(raw.span, as: coding, into: &payload.buffer)
      }
    default:
      throw RPCError(.unimplemented, "a stream cannot be translated", httpStatus: 415)
    }
    if payload.codec == .json { try payload.checkJSON(call) }
    return payload
  }

  func encodeReply(_ call: Call, _ payload: Payload, into answer: Answer) throws(RPCError) {
    let codec = call.replyCodec
    let message = try payload.converted(to: codec, call)
    MetadataCarrying.copyReply(call.replyMetadata, to: answer.fields)
    MetadataCarrying.copyTrailers(call.replyTrailers, to: answer.fields)
    answer.fields.append(.contentType, codec.unaryContentType)
    answer.body.append(message.buffer)
    if case .connectGet = asked { answer.fields.append(.vary, "Accept-Encoding") }
    call.compress(answer)
  }

  func encodeError(_ call: Call, _ error: RPCError, into answer: Answer) {
    answer.status = error.httpStatus ?? error.code.httpStatus
    MetadataCarrying.copyReply(call.replyMetadata, to: answer.fields)
    MetadataCarrying.copyTrailers(call.replyTrailers, to: answer.fields)
    for header in error.headers { answer.fields.append(header.name, header.value) }
    if case .connectStreaming(let codec) = asked, error.httpStatus == nil {
      // A streaming answer is always 200; its error stands in the end-of-stream message.
      answer.status = 200
      answer.fields.append(.contentType, codec.streamingContentType)
      var end = ByteBuffer()
      ConnectEndOfStream.write(error: error, trailers: nil, into: &end)
      EnvelopeHead(flags: EnvelopeHead.endOfStream, length: end.count).write(into: &answer.body)
      answer.body.append(end)
      return
    }
    answer.fields.append(.contentType, "application/json")
    ConnectErrorBody.write(error, into: &answer.body)
  }
}
