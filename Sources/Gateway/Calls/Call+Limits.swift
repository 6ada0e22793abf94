import Configuration
import HTTP1
import HTTPModel
import RPC

/// How large bodies may be: `limits` of the route, else `limits.message` of what is held; what passes has no other bound.
extension Call {
  private var routeLimits: RouteSettings.Limits? { route?.plan.settings.limits }

  /// Bytes of a request message that is held.
  var requestMessageLimit: Int { routeLimits?.request ?? worker.limits.message }
  /// Bytes of an answer's message that is held.
  var replyMessageLimit: Int { routeLimits?.response ?? worker.limits.message }

  /// The limit that a passing request is over, by what its head says.
  var exceededRequestLimit: Int? {
    guard let limit = routeLimits?.request, case .length(let length) = requestFraming, length > limit else {
      return nil
    }
    return limit
  }

  /// Whether the request body that has come so far may pass; else the call has ended.
  func checkPassingRequest() -> Bool {
    guard let limit = routeLimits?.request, receivedBytes > limit, !isStreamingRoute else { return true }
    fail(tooLarge(limit: limit))
    return false
  }

  /// Whether an answer may pass, by what its head says.
  func checkPassingReply(_ framing: BodyFraming) -> Bool {
    guard let limit = routeLimits?.response, case .length(let length) = framing, length > limit, head.method != .head
    else { return true }
    failTooLarge("over limits.response")
    return false
  }

  /// Whether so many more bytes of the answer's body may pass; else the call has ended.
  func checkPassingReply(more count: Int) -> Bool {
    guard let limit = routeLimits?.response, !isStreamingRoute else { return true }
    passedBytes += count
    guard passedBytes > limit else { return true }
    failTooLarge("over limits.response")
    return false
  }
}
