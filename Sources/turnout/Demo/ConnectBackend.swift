import Bytes
import Gateway
import HTTPModel
import ProtoJSON
import ProtobufSchema
import RPC

/// The demo's new side: a Connect service, unary, codecs proto and JSON, GET for methods without side effects.
struct ConnectBackend: Sendable {
  private struct Procedure: Sendable {
    var method: DemoMethod
    var input: Int
    var output: Int
    var allowsGet: Bool
  }

  private let store: DemoStore
  private let bugs: DemoBugs
  private let codec: JSONCodec
  /// By path.
  private let procedures: [String: Procedure]

  init(store: DemoStore, schema: Schema, bugs: DemoBugs = DemoBugs(isThere: false)) {
    self.store = store
    self.bugs = bugs
    codec = JSONCodec(schema: schema, profile: .standard)
    var procedures: [String: Procedure] = [:]
    for service in schema.services {
      for method in service.methods {
        guard let known = DemoMethod(rawValue: "\(service.fullName)/\(method.name)") else { continue }
        procedures["/\(known.rawValue)"] = Procedure(
          method: known, input: method.input, output: method.output,
          allowsGet: method.idempotency == .noSideEffects)
      }
    }
    self.procedures = procedures
  }

  func respond(to request: LocalRequest) -> LocalResponse {
    var response: LocalResponse
    do throws(RPCError) {
      response = try answer(request)
    } catch {
      var body = ByteBuffer()
      ConnectErrorBody.write(error, into: &body)
      response = .json(body.bytes, status: error.httpStatus ?? error.code.httpStatus)
      response.fields += error.headers
    }
    response.fields.append(("x-demo-backend", "connect"))
    return response
  }

  private func answer(_ request: LocalRequest) throws(RPCError) -> LocalResponse {
    if request.path == DemoBugs.path, request.method == .post {
      bugs.mend()
      return .text("mended\n")
    }
    guard let procedure = procedures[request.path] else {
      throw RPCError(.unimplemented, "no such procedure", httpStatus: 404)
    }
    let (messageCodec, message) = try Self.message(of: request, procedure.allowsGet)
    let call = try read(message, messageCodec, procedure.input)
    switch store.answer(procedure.method, call) {
    case .success(let answer):
      let body = try write(try bugs.spoil(procedure.method, answer), messageCodec, procedure.output)
      return LocalResponse(
        status: 200, fields: [("content-type", "\(messageCodec.unaryContentType)")], body: body)
    case .failure(let error): throw error
    }
  }

  private static func message(
    of request: LocalRequest, _ allowsGet: Bool
  ) throws(RPCError) -> (MessageCodec, [UInt8]) {
    switch request.method {
    case .post:
      guard let codec = MessageCodec.allCases.first(where: { request.hasContentType($0.unaryContentType) }) else {
        throw .unsupportedMediaType()
      }
      try refuseCompression(request.body.isEmpty ? "" : request.field("content-encoding") ?? "")
      return (codec, request.body)
    case .get where allowsGet:
      var message = ByteBuffer()
      let query = try ConnectGetQuery.parse(Array(request.query.utf8).span, message: &message)
      try refuseCompression(message.isEmpty ? "" : query.compression)
      return (query.codec, message.bytes)
    default: throw .methodNotAllowed(allowsGet: allowsGet)
    }
  }

  private static func refuseCompression(_ coding: String) throws(RPCError) {
    guard coding.isEmpty || coding == "identity" else {
      throw RPCError(.unimplemented, "unknown compression \"\(coding)\": supported is identity")
    }
  }

  /// A request message as the store reads it. JSON goes through the schema too, which refuses what it does not know.
  private func read(_ message: [UInt8], _ messageCodec: MessageCodec, _ type: Int) throws(RPCError) -> JSONValue {
    do {
      let wire = messageCodec == .json ? try decode(message, type) : message
      return try JSONValue(parsing: try encode(wire, type))
    } catch let error as JSONError {
      throw .badRequest(field: error.path, error.reason)
    } catch {
      throw RPCError(.internal, "a message that was read could not be written")
    }
  }

  private func write(_ answer: JSONValue, _ messageCodec: MessageCodec, _ type: Int) throws(RPCError) -> [UInt8] {
    do throws(JSONError) {
      let wire = try decode(answer.bytes, type)
      return messageCodec == .json ? try encode(wire, type) : wire
    } catch {
      throw RPCError(.internal, error.message)
    }
  }

  private func decode(_ json: [UInt8], _ type: Int) throws(JSONError) -> [UInt8] {
    var outcome = DecodingOutcome()
    var wire = ByteBuffer()
    try codec.decode(json.span, message: type, outcome: &outcome, into: &wire)
    return wire.bytes
  }

  private func encode(_ wire: [UInt8], _ type: Int) throws(JSONError) -> [UInt8] {
    var json = ByteBuffer()
    try codec.encode(wire.span, message: type, into: &json)
    return json.bytes
  }
}
