import HTTPModel
import ProtobufSchema
import RPC

/// What every RPC face asks of a stream.
enum StreamRules {
  /// Messages both ways at the same time need HTTP/2: over HTTP/1.1 one side would wait for the other for ever.
  ///
  /// - Throws: 505 where the protocol has statuses, and the connection ends with it, because what the caller still sends
  ///   would be taken for a request.
  static func check(_ call: Call) throws(RPCError) {
    guard call.head.version != .http2, let type = call.route?.plan.type, type.isClientStreaming, type.isServerStreaming
    else { return }
    throw RPCError(.unimplemented, "a bidirectional stream needs HTTP/2", httpStatus: 505)
  }
}

extension StreamRelay {
  /// A method that has one message in this direction was given another number of them (as Connect's and gRPC's own
  /// runtimes say it).
  static func wrongCount(_ direction: EnvelopeReader.Direction, _ found: String) -> RPCError {
    switch direction {
    case .request: RPCError(.unimplemented, "the method takes one message, and the request has \(found)")
    case .response: RPCError(.unimplemented, "the method answers with one message, and the upstream sent \(found)")
    }
  }
}
