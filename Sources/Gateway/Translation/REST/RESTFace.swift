import Bytes
import Configuration
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// A caller that uses the REST binding of a route.
struct RESTFace: Face {
  let number: Int

  init(binding: Int) { number = binding }

  var kind: FaceKind { .rest }
  var binding: Int? { number }
  var request: ProcedureRequest? { nil }
  var readsPlainBody: Bool { true }

  func checkHead(_ call: Call) throws(RPCError) {}

  func agrees(with upstream: UpstreamDialect, _ call: Call) throws(RPCError) -> Bool {
    upstream.protocol == .rest
  }

  func timeout(_ call: Call) throws(RPCError) -> Duration? { nil }

  func decodeRequest(_ call: Call, body: Span<UInt8>) throws(RPCError) -> Payload {
    try decode(call, body, typedBy: call.head.fields.firstIndex(of: .contentType))
  }

  /// Reads one message.
  ///
  /// - Parameter contentType: the field that says what the body is; nil: JSON.
  func decode(_ call: Call, _ body: Span<UInt8>, typedBy contentType: Int?) throws(RPCError) -> Payload {
    guard let route = call.route else { throw RPCError(.internal, "no route") }
    let payload = call.worker.takePayload()
    var unknown: [String] = []
    try Self.withRequest(call, typedBy: contentType) { (path, query, type) throws(RPCError) in
      try decode(call, route.plan, path, query, type, body, &unknown, payload)
    }
    if !unknown.isEmpty { call.reportUnknownFields(unknown) }
    return payload
  }

  /// Calls the body with path, query and Content-Type of the request.
  static func withRequest(
    _ call: Call, _ body: (Span<UInt8>, Span<UInt8>, Span<UInt8>?) throws(RPCError) -> Void
  ) throws(RPCError) {
    try withRequest(call, typedBy: call.head.fields.firstIndex(of: .contentType), body)
  }

  private static func withRequest(
    _ call: Call, typedBy contentType: Int?, _ body: (Span<UInt8>, Span<UInt8>, Span<UInt8>?) throws(RPCError) -> Void
  ) throws(RPCError) {
    try call.head.withPath { (path) throws(RPCError) in
      try call.head.withQuery { (query) throws(RPCError) in
        if let contentType {
          try call.head.fields.withValue(at: contentType) { (type) throws(RPCError) in try body(path, query, type) }
        } else {
          try body(path, query, nil)
        }
      }
    }
  }

  private func decode(
    _ call: Call, _ route: Route, _ path: Span<UInt8>, _ query: Span<UInt8>, _ type: Span<UInt8>?,
    _ body: Span<UInt8>, _ unknown: inout [String], _ payload: Payload
  ) throws(RPCError) {
    let binding = route.bindings[number]
    try AnswerNegotiation.check(call, binding)
    try binding.decodeRequest(
      path: path, captures: call.captures, query: query, contentType: type, body: body, unknown: &unknown,
      into: &payload.buffer)
  }

  func encodeReply(_ call: Call, _ payload: Payload, into answer: Answer) throws(RPCError) {
    guard let route = call.route else { throw RPCError(.internal, "no route") }
    let message = try payload.converted(to: .proto, call)
    answer.status = route.plan.settings.successStatus
    let binding = route.plan.bindings[number]
    let form = binding.answersRaw ? .json : AnswerNegotiation.form(call, binding) ?? .json
    let type = try message.withSpan { (wire) throws(RPCError) in
      try binding.encodeResponse(wire, envelope: route.plan.settings.envelope, as: form, into: &answer.body)
    }
    MetadataCarrying.copyReply(call.replyMetadata, to: answer.fields)
    MetadataCarrying.copyTrailers(call.replyTrailers, to: answer.fields)
    answer.fields.append(.contentType, type)
    answer.fitToStatus()
    if route.plan.settings.makesEntityTags { EntityTags.apply(call, to: answer) }
    if let plan = route.plan.compression { call.compress(answer, plan) }
    if binding.speaksProtobuf, binding.hasProtobufAnswer { answer.fields.vary(by: "Accept") }
  }

  /// Writes the head of an answer whose raw body follows as it comes.
  static func writeRawHead(_ call: Call, _ contentType: String, into answer: Answer) {
    answer.status = call.route?.plan.settings.successStatus ?? 200
    MetadataCarrying.copyReply(call.replyMetadata, to: answer.fields)
    MetadataCarrying.copyTrailers(call.replyTrailers, to: answer.fields)
    answer.fields.append(.contentType, contentType)
  }

  func encodeError(_ call: Call, _ error: RPCError, into answer: Answer) {
    var error = error
    // What the gateway refuses with a status of its own keeps it: 413 says more than the code does.
    error.httpStatus = error.httpStatus ?? call.route?.plan.errorStatuses?[error.code]
    answer.status = error.httpStatus ?? error.code.httpStatus
    MetadataCarrying.copyReply(call.replyMetadata, to: answer.fields)
    MetadataCarrying.copyTrailers(call.replyTrailers, to: answer.fields)
    switch AnswerNegotiation.errorForm(call, call.route?.plan.bindings[number]) {
    case .protobuf(let type):
      RESTErrors.writeProtobuf(error, into: &answer.body)
      answer.fields.append(.contentType, type.text)
    case .json:
      let codec = call.route?.plan.profileCodec ?? call.plans.snapshot.errorCodec
      let format = call.route?.plan.errorFormat ?? .status
      answer.fields.append(.contentType, RESTErrors.write(error, format: format, codec: codec, into: &answer.body))
    }
    for header in error.headers { answer.fields.append(header.name, header.value) }
    answer.fitToStatus()
  }
}
