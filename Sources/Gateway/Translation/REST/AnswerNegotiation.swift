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
    let names = FieldNames(.accept).union(FieldNames(.contentType))
    // Who says nothing is answered in JSON.
    guard fields.mayContain(names) else { return .json }
    var accepted = AcceptedMedia()
    var own: ProtobufMediaType?
    var next = fields.nextIndex(in: names, from: 0)
    while let index = next {
      if fields.entry(at: index).name == .accept {
        fields.withValue(at: index) { accepted.add($0) }
      } else {
        own = fields.withValue(at: index) { ProtobufMediaType($0) }
      }
      next = fields.nextIndex(in: names, from: index &+ 1)
    }
    return accepted.form(own: own, hasProtobuf: hasProtobuf)
  }
}
