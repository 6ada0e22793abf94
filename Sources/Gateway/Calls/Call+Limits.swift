import Bytes
import Configuration
import HTTP1
import HTTPModel
import RPC

/// How large bodies may be: `limits` of the route, else `limits.message` of what is held; what passes has no other bound.
///
/// Of a stream of messages each one is measured, whether it is translated or passes; what has no messages that can be told
/// apart (a unary body, raw bytes, base64) is measured as a whole.
extension Call {
  private var routeLimits: RouteSettings.Limits? {
    if let route { return route.plan.limits }
    return fallbackUpstream == nil ? nil : plans.snapshot.fallback?.limits
  }

  /// Bytes of a request message that is held.
  var requestMessageLimit: Int { routeLimits?.request ?? worker.limits.message }
  /// Bytes of a request message that passes; nil: any number.
  var passingRequestLimit: Int? { routeLimits?.request }
  /// Bytes of an answer's message that is held.
  var replyMessageLimit: Int { routeLimits?.response ?? worker.limits.message }

  /// The limit that a passing request is over, by what its head says.
  var exceededRequestLimit: Int? {
    guard let limit = routeLimits?.request, case .length(let length) = requestFraming, length > limit, !passesMessages
    else { return nil }
    return limit
  }

  /// Whether the request body that has come so far may pass; else the call has ended.
  func checkRequestLength() -> Bool {
    guard let limit = routeLimits?.request, receivedBytes > limit, !passesMessages else { return true }
    fail(tooLarge(limit: limit))
    return false
  }

  /// The same of a stream's messages, by its next bytes.
  func checkRequestMessages(_ buffer: borrowing ByteBuffer, _ count: Int) -> Bool {
    guard let limit = routeLimits?.request, passesMessages else { return true }
    var meter = requestMeter ?? EnvelopeMeter(limit: limit, dialect: .grpc)
    let isGood = buffer.withSpan(0..<count) { meter.observe($0) }
    requestMeter = meter
    if !isGood { fail(tooLarge(limit: limit)) }
    return isGood
  }

  /// Whether bodies that pass are streams of envelopes.
  var passesMessages: Bool {
    switch face.request {
    case .grpc?, .connectStreaming?: true
    case .grpcWeb(_, let isText)?: !isText
    case .connectUnary?, .connectGet?, .unsupportedMediaType?, .methodNotAllowed?, nil: false
    }
  }

  /// How the messages and the end of an answer that passes are told apart.
  private var passingDialect: EnvelopeDialect {
    switch face.request {
    case .connectStreaming?: .connect
    case .grpcWeb?: .grpcWeb
    default: .grpc
    }
  }

  /// Whether an answer may pass, by what its head says; else the call has ended.
  func checkReplyLength(_ framing: BodyFraming) -> Bool {
    guard let limit = routeLimits?.response, case .length(let length) = framing, length > limit, head.method != .head,
      !passesMessages
    else { return true }
    failTooLarge("over limits.response")
    return false
  }

  /// Whether the next bytes of the answer's body may pass; else the call has ended.
  func checkReplyBytes(_ buffer: borrowing ByteBuffer, _ count: Int) -> Bool {
    guard let limit = routeLimits?.response else { return true }
    if passesMessages, status == 200 {
      var meter = replyMeter ?? EnvelopeMeter(limit: limit, dialect: passingDialect)
      let isGood = buffer.withSpan(0..<count) { meter.observe($0) }
      replyMeter = meter
      if isGood { return true }
    } else {
      passedBytes += count
      if passedBytes <= limit { return true }
    }
    failTooLarge("over limits.response")
    return false
  }

  /// Whether every byte of a passing answer has to be seen for its limit.
  var metersReply: Bool { passesMessages && routeLimits?.response != nil }
}
