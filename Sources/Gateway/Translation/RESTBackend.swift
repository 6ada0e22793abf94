import Bytes
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// The legacy service: the call becomes the request of the route's first binding.
struct RESTBackend: Backend {
  let route: Route
  let upstream: UpstreamConfiguration

  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError) {
    guard let binding = route.bindings.first else {
      throw RPCError(.unimplemented, "the method has no REST binding, and its stage is rest")
    }
    let message = try payload.converted(to: .proto, call)
    var target = ByteBuffer()
    let body = Payload()
    var contentType: String?
    try message.withSpan { (wire) throws(RPCError) in
      try binding.encodeRequest(wire, as: bodyType, target: &target, body: &body.buffer, contentType: &contentType)
    }
    request.method = HTTPMethod(binding.httpMethod == "*" ? "POST" : binding.httpMethod)
    if !route.settings.stripPrefix { request.target.append(text: route.settings.prefix) }
    request.target.append(target)
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

  private var bodyType: BodyType { upstream.codec == .proto ? .protobuf : .json }

  /// Answers are read by what they say that they are; this is what is asked for.
  private func accepted(_ binding: RESTBinding) -> StaticString {
    if binding.answersRaw { return "*/*" }
    guard bodyType == .protobuf, binding.hasProtobufAnswer else { return "application/json" }
    return "application/x-protobuf, application/json;q=0.5"
  }

  func decodeReply(_ call: Call, _ head: ResponseHead, body: Span<UInt8>, into payload: Payload) throws(RPCError) {
    call.replyMetadata.append(contentsOf: head.fields)
    var unknown: [String] = []
    let fields = head.fields
    if let type = fields.firstIndex(of: .contentType) {
      try fields.withValue(at: type) { (type) throws(RPCError) in
        try decode(head.status, type, body, &unknown, payload)
      }
    } else {
      try decode(head.status, nil, body, &unknown, payload)
    }
    if !unknown.isEmpty { call.reportUnknownFields(unknown) }
  }

  private func decode(
    _ status: Int, _ type: Span<UInt8>?, _ body: Span<UInt8>, _ unknown: inout [String], _ payload: Payload
  ) throws(RPCError) {
    guard status >= 200, status < 300, let binding = route.bindings.first else {
      throw RESTErrors.read(status: status, contentType: type, body: body, codec: route.profileCodec)
    }
    payload.codec = .proto
    try binding.decodeResponse(
      status: status, contentType: type, body: body, envelope: route.settings.envelope, unknown: &unknown,
      into: &payload.buffer)
  }
}
