import HTTPModel
import RPC

/// Something that applies to calls whatever their protocol: it may refuse a call, change its metadata, look at how it
/// ended.
///
/// Interceptors see calls, never HTTP: a refusal is an error value, which the face writes in the caller's own
/// protocol. They are shared by all loops, so state of their own must be Sendable; what belongs to one call is kept
/// in the call.
protocol Interceptor: Sendable {
  /// The call begins; no byte of its body has been read. Outermost first.
  func onCall(_ call: Call) -> InterceptorVerdict
  /// The answer's head is about to be sent, with these fields, which may be changed. Innermost first; only for
  /// interceptors that were entered. The status is ``Call/status``.
  func onReply(_ call: Call, _ fields: FieldBlock)
  /// The call is over. Innermost first; exactly once for every interceptor that was entered.
  func onEnd(_ call: Call)
}

extension Interceptor {
  func onCall(_ call: Call) -> InterceptorVerdict { .proceed }
  func onReply(_ call: Call, _ fields: FieldBlock) {}
  func onEnd(_ call: Call) {}
}

/// What an interceptor says of a call.
enum InterceptorVerdict {
  case proceed
  /// The call ends here with this error, in the caller's protocol.
  case refuse(RPCError)
  /// The interceptor will say later, on the call's own loop, through ``Call/resume(_:)``. The call's deadline goes on,
  /// and a caller that leaves ends the wait.
  case wait
}
