import Bytes
import Configuration
import EventLoops
import HTTPModel
import Policies
import RPC

/// `retries:` of an upstream or a route, ready to be asked.
final class RetryPlan: Sendable {
  typealias Condition = RetryConfiguration.Condition

  let attempts: Int
  let perTry: Duration?
  let backoff: Backoff
  /// Nanoseconds.
  let longestRetryAfter: UInt64
  /// Parts per 10,000.
  let budget: Int
  let minimumPerSecond: Int
  /// Bytes of a passing body.
  let body: Int
  private let conditions: Set<Condition>

  init(_ configuration: RetryConfiguration) {
    attempts = configuration.attempts
    perTry = configuration.perTryTimeout
    backoff = Backoff(
      base: UInt64(clamping: configuration.backoffBase.wholeNanoseconds),
      longest: UInt64(clamping: configuration.longestBackoff.wholeNanoseconds))
    longestRetryAfter = UInt64(clamping: configuration.longestRetryAfter.wholeNanoseconds)
    budget = configuration.budget
    minimumPerSecond = configuration.minimumPerSecond
    body = configuration.body
    conditions = configuration.conditions
  }

  /// Why a request that failed so may be sent again; nil: it may not.
  func reason(_ kind: UpstreamFailure.Kind) -> Condition? {
    let condition: Condition
    switch kind {
    case .connect, .resolve: condition = .connect
    case .refused: condition = .refused
    case .closed, .reset: condition = .reset
    case .timeout: condition = .timeout
    case .malformed, .tooLarge, .overloaded, .credentials: return nil
    }
    return conditions.contains(condition) ? condition : nil
  }

  /// Why a request whose answer begins so may be sent again; nil: the answer is the answer.
  func reason(_ head: ResponseHead, from upstream: UpstreamConfiguration.BackendProtocol) -> Condition? {
    let possible: [Condition]
    switch head.status {
    case 200 where upstream == .grpc || upstream == .grpcWeb:
      // An error without messages stands in the head.
      switch GRPCStatus.code(in: head.fields) {
      case .unavailable?: possible = [.unavailable]
      case .resourceExhausted?: possible = [.resourceExhausted]
      case .internal?: possible = [.internal]
      case .unknown?: possible = [.unknown]
      default: return nil
      }
    case 429: possible = [.status429, .resourceExhausted]
    case 500: possible = upstream.isRPC ? [.status500, .internal, .unknown] : [.status500]
    case 502: possible = [.status502]
    case 503: possible = [.status503, .unavailable]
    case 504: possible = [.status504]
    default: return nil
    }
    return possible.first { conditions.contains($0) }
  }

  /// The pause that an answer asks for, in nanoseconds; nil: none, or not in seconds.
  static func asked(_ fields: FieldBlock) -> UInt64? {
    if let index = fields.firstIndex(of: .retryAfter),
      let seconds = fields.withValue(at: index, { ASCII.decimal($0) })
    {
      return UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000).overflow
        ? .max : UInt64(seconds) * 1_000_000_000
    }
    guard let index = fields.firstIndex(of: pushback.span) else { return nil }
    // What is no number, and a negative one, says not to try again (gRPC, retry design A6).
    guard let milliseconds = fields.withValue(at: index, { ASCII.decimal($0) }) else { return .max }
    return UInt64(milliseconds).multipliedReportingOverflow(by: 1_000_000).overflow
      ? .max : UInt64(milliseconds) * 1_000_000
  }

  private static let pushback = Array("grpc-retry-pushback-ms".utf8)
}

extension GRPCStatus {
  /// The code of a field section; nil when it has none, for success, and for what is no code.
  static func code(in fields: FieldBlock) -> Code? {
    guard let index = fields.firstIndex(of: .grpcStatus) else { return nil }
    let number = fields.withValue(at: index) { ASCII.decimal($0) }
    return number.flatMap { UInt8(exactly: $0) }.flatMap(Code.init(rawValue:))
  }
}
