import Bytes
import ProtoJSON
import ProtobufSchema
import RPC

extension Payload {
  /// The message in another codec; the same object when nothing has to change.
  ///
  /// Whether it is the request or the reply of the call is told by ``Call/isReplying``: only a request's faults are
  /// the client's.
  func converted(to target: MessageCodec, _ call: Call) throws(RPCError) -> Payload {
    guard codec != target else { return self }
    guard let route = call.route?.plan else { throw RPCError(.internal, "no route") }
    let result = Payload()
    result.codec = target
    let message = call.isReplying ? route.type.output : route.type.input
    do throws(JSONError) {
      try withSpan { (bytes) throws(JSONError) in
        switch target {
        case .proto:
          var outcome = DecodingOutcome()
          try route.codec.decode(bytes, message: message, bound: [], outcome: &outcome, into: &result.buffer)
        case .json:
          try route.codec.encode(bytes, message: message, omitting: [], into: &result.buffer)
        }
      }
    } catch {
      throw call.isReplying
        ? RPCError(
          .internal, "the upstream's answer does not fit the schema", httpStatus: 502, logDetail: error.message)
        : RPCError.badRequest(field: error.path, error.reason)
    }
    return result
  }

  /// An empty body is no JSON; it is refused before anything is sent (Connect protocol; an empty proto message is fine).
  func checkJSON(_ call: Call) throws(RPCError) {
    if buffer.isEmpty { throw RPCError(.invalidArgument, "the body is empty; an empty message is {}") }
  }
}
