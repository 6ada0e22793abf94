import Configuration
import HTTPModel
import RPC

/// Something that applies to calls whatever their protocol: it may refuse a call, change its metadata, look at how it
/// ended.
///
/// Interceptors see calls, never HTTP: a refusal is an error value, which the face writes in the caller's own
/// protocol. They are shared by all loops, so state of their own must be Sendable; what belongs to one call is kept
/// in the call.
protocol Interceptor: Sendable {
  /// The call begins; no byte of its body has been read. Outermost first. The fields of the call's head may be
  /// changed: they go upstream, passed on or translated.
  func onCall(_ call: Call) -> InterceptorVerdict
  /// One request of the call is about to go to an upstream; its head may be changed. Outermost first, and for the copy
  /// that a shadow sends too. A retry sends the same request again and is not told.
  func onAttempt(_ call: Call, _ request: UpstreamRequest, _ upstream: UpstreamConfiguration)
  /// The request that should answer the call is over; not told of shadows. Innermost first.
  func onAttemptEnd(_ call: Call, _ end: AttemptEnd)
  /// The answer's head is about to be sent, with these fields, which may be changed: those of the upstream's answer
  /// when it passes through, else those that the face wrote. Innermost first; only for interceptors that were
  /// entered. The status is ``Call/status``.
  func onReply(_ call: Call, _ fields: FieldBlock)
  /// The call is over. Innermost first; exactly once for every interceptor that was entered.
  func onEnd(_ call: Call)
}

extension Interceptor {
  func onCall(_ call: Call) -> InterceptorVerdict { .proceed }
  func onAttempt(_ call: Call, _ request: UpstreamRequest, _ upstream: UpstreamConfiguration) {}
  func onAttemptEnd(_ call: Call, _ end: AttemptEnd) {}
  func onReply(_ call: Call, _ fields: FieldBlock) {}
  func onEnd(_ call: Call) {}
}

/// What an interceptor says of a call.
enum InterceptorVerdict {
  case proceed
  /// The call ends here with this error, in the caller's protocol.
  case refuse(RPCError)
  /// The call ends here, well, with this status and no body; the fields are added in ``Interceptor/onReply(_:_:)``.
  case answer(status: Int)
  /// The interceptor will say later, on the call's own loop, through ``Call/resume(_:)``. The call's deadline goes on,
  /// and a caller that leaves ends the wait.
  case wait
}

/// How a request to an upstream ended.
struct AttemptEnd {
  var upstream: String
  /// Of the answer's head; nil when none came.
  var status: Int?
  /// Nil: the answer was whole, or nobody waited for it any more.
  var failure: UpstreamFailure.Kind?
}
