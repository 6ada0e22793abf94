import Bytes
import Compression
import Configuration
import HTTPModel
import RPC

/// A caller that speaks Connect: unary by POST, unary by GET, or a stream that is passed on as it is.
struct ConnectFace: Face {
  private let asked: ProcedureRequest

  init(request: ProcedureRequest) { asked = request }

  var kind: FaceKind { .connect }
  var binding: Int? { nil }
  var request: ProcedureRequest? { asked }
  var stream: (any StreamFace)? {
    if case .connectStreaming = asked { self } else { nil }
  }

  /// Whether a request that has no route comes from a Connect client, who is then told so in Connect.
  static func speaks(_ head: RequestHead) -> Bool {
    if head.fields.contains(.connectProtocolVersion) { return true }
    guard let index = head.fields.firstIndex(of: .contentType) else { return false }
    return head.fields.withValue(at: index) { type in
      MediaType.matches(type, "application/proto") || MediaType.matches(type, "application/connect+proto")
        || MediaType.matches(type, "application/connect+json")
    }
  }

  private static let getWithBody = RPCError(.unknown, "a Connect GET has no body", httpStatus: 415)

  func checkHead(_ call: Call) throws(RPCError) {
    // What only passes through is the upstream's to check.
    if call.route == nil { return }
    switch asked {
    case .connectUnary:
      try ConnectVersion.check(call.head.fields)
      if call.isStreamingRoute {
        throw RPCError(
          .unknown, "the method streams: use application/connect+proto or application/connect+json",
          httpStatus: 415, headers: [("accept-post", "application/connect+proto, application/connect+json")])
      }
      _ = try call.requestCoding()
    case .connectGet:
      // A GET has no body (Connect protocol, Unary-Get-Request).
      // Over HTTP/2 an empty frame may end it, so that the head does not say.
      if call.hasRequestBody, !call.mayTurnOutEmpty { throw Self.getWithBody }
    case .connectStreaming:
      try ConnectVersion.check(call.head.fields)
      try StreamRules.check(call)
      if !call.isStreamingRoute {
        throw RPCError(
          .unknown, "the method does not stream: use application/proto or application/json", httpStatus: 415,
          headers: [("accept-post", RPCError.unaryContentTypes)])
      }
    case .methodNotAllowed:
      let allow = call.route?.plan.allowsGet == true ? "GET, POST" : "POST"
      throw RPCError(
        .unknown, "\(call.head.method.name) is not allowed on a procedure; allowed: \(allow)", httpStatus: 405,
        headers: [("allow", allow)])
    case .grpc, .grpcWeb, .unsupportedMediaType:
      throw RPCError(
        .unknown, "a procedure takes application/proto or application/json", httpStatus: 415,
        headers: [("accept-post", RPCError.unaryContentTypes)])
    }
  }

  func agrees(with upstream: UpstreamDialect, _ call: Call) throws(RPCError) -> Bool {
    guard upstream.protocol == .connect else { return false }
    switch asked {
    case .connectUnary(let codec), .connectStreaming(let codec): return codec == upstream.messageCodec
    case .connectGet:
      var target = ByteBuffer()
      let query = try ConnectGetTarget.write(call, into: &target)
      _ = try call.coding(named: query.compression)
      return query.codec == upstream.messageCodec && target.count <= ConnectGetTarget.maximum
    case .grpc, .grpcWeb, .unsupportedMediaType, .methodNotAllowed: return false
    }
  }

  func acceptedCodings(_ call: Call) -> AcceptEncoding {
    if case .connectStreaming = asked { return AcceptEncoding(call.head.fields, .connectAcceptEncoding) }
    return AcceptEncoding(call.head.fields, .acceptEncoding)
  }

  func timeout(_ call: Call) throws(RPCError) -> Duration? {
    guard let milliseconds = try ConnectTimeout.milliseconds(call.head.fields) else { return nil }
    return .milliseconds(milliseconds)
  }

  func decodeRequest(_ call: Call, body: Span<UInt8>) throws(RPCError) -> Payload {
    let payload = call.worker.takePayload()
    switch asked {
    case .connectUnary(let codec):
      payload.codec = codec
      payload.coding = body.isEmpty ? .identity : try call.requestCoding()
      payload.buffer.append(body)
    case .connectGet:
      guard body.isEmpty else { throw Self.getWithBody }
      var raw = ByteBuffer()
      let query = try call.head.withQuery { (query) throws(RPCError) in
        try ConnectGetQuery.parse(query, message: &raw)
      }
      if raw.count > call.requestMessageLimit { throw call.tooLarge() }
      payload.codec = query.codec
      // An unknown coding is refused also where there is nothing to decompress, as with POST.
      let coding = try call.coding(named: query.compression)
      payload.coding = raw.isEmpty ? .identity : coding
      swap(&payload.buffer, &raw)
    default:
      throw RPCError(.unimplemented, "a stream cannot be translated", httpStatus: 415)
    }
    if payload.codec == .json { try payload.checkJSON(call) }
    return payload
  }

  func encodeReply(_ call: Call, _ payload: Payload, into answer: Answer) throws(RPCError) {
    let codec = call.replyCodec
    let message = try payload.kept(in: codec, call) { call.callerAccepts($0) }
    MetadataCarrying.copyReply(call.replyMetadata, to: answer.fields)
    MetadataCarrying.copyTrailers(call.replyTrailers, to: answer.fields)
    answer.fields.append(.contentType, codec.unaryContentType)
    answer.body.append(message.buffer)
    if case .connectGet = asked { answer.fields.vary(by: "Accept-Encoding") }
    call.compress(answer, alreadyAs: message.coding)
  }

  func encodeError(_ call: Call, _ error: RPCError, into answer: Answer) {
    answer.status = Self.status(of: error)
    MetadataCarrying.copyReply(call.replyMetadata, to: answer.fields)
    MetadataCarrying.copyTrailers(call.replyTrailers, to: answer.fields)
    for header in error.headers { answer.fields.append(header.name, header.value) }
    if let stream, !Self.isHTTPRefusal(error) {
      // A streaming answer is always 200; its error stands in the end-of-stream message.
      answer.removeAll()
      stream.writeHead(call, coding: .identity, into: answer.fields)
      for header in error.headers { answer.fields.append(header.name, header.value) }
      stream.writeEnd(call, error, into: &answer.body, trailers: answer.trailers)
      return
    }
    if isUnknownCaller(call, error) {
      answer.fields.append(.contentType, "text/plain; charset=utf-8")
      answer.body.append(text: error.message)
      answer.body.append("\n")
      return
    }
    answer.fields.append(.contentType, "application/json")
    ConnectErrorBody.write(error, into: &answer.body)
  }

  /// Whether nothing says in which protocol the caller would read why it is refused: clients of each have their code from
  /// the status, and people read the sentence.
  private func isUnknownCaller(_ call: Call, _ error: RPCError) -> Bool {
    guard error.httpStatus == 405 || error.httpStatus == 415 else { return false }
    return (asked == .unsupportedMediaType || asked == .methodNotAllowed) && !Self.speaks(call.head)
  }

  /// Clients may have the code from the status alone, so it is the one of the code: what REST callers are told of an
  /// upstream that is broken (502) would be another code to them (Connect protocol, Error Codes).
  private static func status(of error: RPCError) -> Int {
    guard let status = error.httpStatus, status != 502 else { return error.code.httpStatus }
    return status
  }

  /// Whether an error is one of HTTP's own, told by the status also to who asked for a stream.
  private static func isHTTPRefusal(_ error: RPCError) -> Bool {
    switch error.httpStatus {
    case 404, 405, 415, 421, 431, 505: true
    default: false
    }
  }
}
