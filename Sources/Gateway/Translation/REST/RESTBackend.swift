import Bytes
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// The legacy service: the call becomes the request of the first of the route's bindings that can carry it.
final class RESTBackend: Backend {
  let route: Route
  /// What messages are sent as.
  let codec: MessageCodec

  init(route: Route, codec: MessageCodec) {
    self.route = route
    self.codec = codec
  }

  var readsPlainBody: Bool { true }

  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError) {
    guard !route.bindings.isEmpty else {
      throw RPCError(.unimplemented, "the method has no REST binding, and its stage is rest")
    }
    let message = try payload.converted(to: .proto, call)
    var target = ByteBuffer()
    let body = Payload()
    var contentType: String?
    let binding = try choose(call) { (binding) throws(RPCError) in
      target.removeAll()
      body.buffer.removeAll()
      try message.withSpan { (wire) throws(RPCError) in
        try binding.encodeRequest(
          wire, as: bodyType, target: &target, body: &body.buffer, contentType: &contentType)
      }
    }
    request.method = HTTPMethod(binding.httpMethod == "*" ? "POST" : binding.httpMethod)
    try writeTarget(target, binding, call, into: request)
    request.isIdempotent = request.method.isIdempotent || route.type.idempotency != .unknown
    MetadataCarrying.copyRequest(call.head.fields, to: request.fields)
    request.fields.append(.accept, accepted(binding))
    request.fields.append(.acceptEncoding, "identity")
    if let contentType {
      request.fields.append(.contentType, contentType)
      request.framing = .length(body.buffer.count)
      request.body = body
    } else if request.method == .post || request.method == .put || request.method == .patch {
      request.framing = .length(0)
      request.body = body
    }
    request.authority.append(call.head.authority)
  }

  /// A value must not make the path of another method, which somebody else may call.
  private func writeTarget(
    _ target: borrowing ByteBuffer, _ binding: RESTBinding, _ call: Call, into request: UpstreamRequest
  ) throws(RPCError) {
    request.target.append(text: route.settings.prefix)
    request.target.append(target)
    if !binding.template.captures.isEmpty {
      let leaves = request.target.withSpan { call.worker.router.spelling.leaves($0, request, call, route) }
      if leaves {
        throw RPCError(.invalidArgument, "a value of the path makes it a path of another method of the REST backend")
      }
    }
    if route.settings.stripPrefix { request.target.consume(route.settings.prefix.utf8.count) }
  }

  /// The first binding that carries the message; the refusal of the first one if none does.
  private func choose(
    _ call: Call, _ encode: (RESTBinding) throws(RPCError) -> Void
  ) throws(RPCError) -> RESTBinding {
    var refusal: RPCError?
    for index in route.reverseBindings {
      do throws(RPCError) {
        try encode(route.bindings[index])
        call.restBinding = index
        return route.bindings[index]
      } catch {
        refusal = refusal ?? error
      }
    }
    if let refusal { throw refusal }
    // No binding has a reverse: it says why.
    try encode(route.bindings[0])
    return route.bindings[0]
  }

  private var bodyType: BodyType { codec == .proto ? .protobuf : .json }

  /// Answers are read by what they say that they are; this is what is asked for.
  private func accepted(_ binding: RESTBinding) -> StaticString {
    if binding.answersRaw { return "*/*" }
    if route.type.isServerStreaming { return AnsweredStream.accepted }
    guard bodyType == .protobuf, binding.hasProtobufAnswer else { return "application/json" }
    return "application/x-protobuf, application/json;q=0.5"
  }

  func decodeReply(
    _ call: Call, _ head: ResponseHead, body: Span<UInt8>, trailers: FieldBlock, into payload: Payload
  ) throws(RPCError) {
    call.replyMetadata.append(contentsOf: head.fields)
    Metadata.splitTrailers(call.replyMetadata, into: call.replyTrailers)
    Metadata.appendTrailers(trailers, to: call.replyTrailers)
    if (300..<400).contains(head.status) { throw redirect(head) }
    var unknown: [String] = []
    let fields = head.fields
    if let type = fields.firstIndex(of: .contentType) {
      try fields.withValue(at: type) { (type) throws(RPCError) in
        try decode(call, head.status, type, body, &unknown, payload)
      }
    } else {
      try decode(call, head.status, nil, body, &unknown, payload)
    }
    if !unknown.isEmpty { call.reportUnknownFields(unknown) }
  }

  func redirect(_ head: ResponseHead) -> RPCError {
    guard let index = head.fields.firstIndex(of: .location) else {
      return RESTErrors.readRedirect(status: head.status, location: nil)
    }
    return head.fields.withValue(at: index) { RESTErrors.readRedirect(status: head.status, location: $0) }
  }

  private func decode(
    _ call: Call, _ status: Int, _ type: Span<UInt8>?, _ body: Span<UInt8>, _ unknown: inout [String],
    _ payload: Payload
  ) throws(RPCError) {
    guard status >= 200, status < 300 else {
      throw RESTErrors.read(
        status: status, contentType: type, body: body, codec: route.profileCodec, format: route.errorFormat)
    }
    if let error = route.successErrors?.error(
      contentType: type, body: body, codec: route.profileCodec, format: route.errorFormat)
    {
      throw error
    }
    payload.codec = .proto
    try route.bindings[call.restBinding].decodeResponse(
      status: status, contentType: type, body: body, envelope: route.settings.envelope,
      codec: call.isCopy ? route.comparison.tolerantCodec : nil,
      // A comparison is to find it: REST callers will miss it once the other side answers.
      marker: call.isCopy ? nil : route.successErrors?.member, unknown: &unknown, into: &payload.buffer)
  }
}
