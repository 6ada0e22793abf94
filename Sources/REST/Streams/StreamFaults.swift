import RPC

/// What is wrong with a body of messages, told to whom it concerns.
enum StreamFaults {
  /// - Parameter message: its number, from 1.
  static func tooLarge(_ side: StreamReader.Side, message: Int, limit: Int) -> RPCError {
    let what = "message \(message) of the stream is over the limit of \(limit) bytes"
    return switch side {
    case .caller: RPCError(.resourceExhausted, what, httpStatus: 413)
    case .upstream: RPCError(.resourceExhausted, "the upstream's answer: \(what)", httpStatus: 502)
    }
  }

  /// - Parameter messages: how many were good.
  static func malformed(_ side: StreamReader.Side, _ reason: String, behind messages: Int) -> RPCError {
    let what = "\(reason) (after \(messages) messages of the stream)"
    return switch side {
    case .caller: .badRequest(field: "", what)
    case .upstream:
      RPCError(
        .internal, "the upstream's answer: \(what)", httpStatus: 502, misfit: RPCError.Misfit(path: "", reason: reason))
    }
  }
}
