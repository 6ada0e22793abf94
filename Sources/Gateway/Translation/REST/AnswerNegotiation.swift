import Bytes
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// JSON or protobuf: what a REST caller is answered in, by its Accept and its own body.
enum AnswerNegotiation {
  /// Refuses a caller whom no answer of the route would serve, before anybody is asked.
  static func check(_ call: Call, _ binding: RESTBinding) throws(RPCError) {
    // Of a stream's forms one is always written.
    if binding.answersRaw || call.route?.plan.type.isServerStreaming == true { return }
    if form(call, binding) == nil { throw RESTBinding.notAcceptable }
  }

  /// - Returns: nil when the caller reads protobuf only and the route has none.
  static func form(_ call: Call, _ binding: RESTBinding) -> AnswerForm? {
    form(call, hasProtobuf: binding.speaksProtobuf && binding.hasProtobufAnswer)
  }

  /// Errors have a protobuf form on every route that speaks it, and where there is no route.
  static func errorForm(_ call: Call, _ binding: RESTBinding?) -> AnswerForm {
    form(call, hasProtobuf: binding?.speaksProtobuf ?? true) ?? .json
  }

  private static func form(_ call: Call, hasProtobuf: Bool) -> AnswerForm? {
    let fields = call.head.fields
    var accepted = AcceptedMedia()
    var own: ProtobufMediaType?
    for index in fields.indices {
      let entry = fields.entry(at: index)
      if entry.isRemoved { continue }
      switch entry.name {
      case .accept: fields.withValue(at: index) { accepted.add($0) }
      case .contentType: own = fields.withValue(at: index) { ProtobufMediaType($0) }
      default: break
      }
    }
    return accepted.form(own: own, hasProtobuf: hasProtobuf)
  }
}
