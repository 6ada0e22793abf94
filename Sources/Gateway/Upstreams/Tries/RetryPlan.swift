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
      // An error without messages can stand in the head.
      return GRPCStatus.code(in: head.fields).flatMap { self.reason($0) }
    case 429: possible = [.status429, .resourceExhausted]
    case 500: possible = upstream.isRPC ? [.status500, .internal, .unknown] : [.status500]
    case 502: possible = [.status502]
    case 503: possible = [.status503, .unavailable]
    case 504: possible = [.status504]
    default: return nil
    }
    return possible.first { conditions.contains($0) }
  }

  /// Why a request whose answer is nothing but this error may be sent again; nil: the answer is the answer.
  func reason(_ code: Code) -> Condition? {
    let condition: Condition
    switch code {
    case .unavailable: condition = .unavailable
    case .resourceExhausted: condition = .resourceExhausted
    case .internal: condition = .internal
    case .unknown: condition = .unknown
    default: return nil
    }
    return conditions.contains(condition) ? condition : nil
  }

  /// The pause that an answer asks for, in nanoseconds; nil: none.
  ///
  /// A `Retry-After` is a number of seconds or a date (RFC 9110 section 10.2.3); one that is neither asks for nothing.
  static func asked(_ fields: FieldBlock, now: WallTime) -> UInt64? {
    if let index = fields.firstIndex(of: .retryAfter),
      let pause = fields.withValue(at: index, { retryAfter($0, now: now) })
    {
      return pause
    }
    guard let index = fields.firstIndex(of: pushback.span) else { return nil }
    // What is no number, and a negative one, says not to try again (gRPC, retry design A6).
    guard let milliseconds = fields.withValue(at: index, { ASCII.decimal($0) }) else { return .max }
    return UInt64(milliseconds).multipliedReportingOverflow(by: 1_000_000).overflow
      ? .max : UInt64(milliseconds) * 1_000_000
  }

  private static func retryAfter(_ value: Span<UInt8>, now: WallTime) -> UInt64? {
    if let seconds = ASCII.decimal(value) {
      let (nanoseconds, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
      return overflow ? .max : nanoseconds
    }
    guard let date = HTTPDate.read(value, now: now.seconds) else { return nil }
    // The second that it names is the first in which it is over. What is long past, as the year 1 that stands for no
    // time at all in some languages, is over too, and does not count as beyond what can be said.
    let end = WallTime(seconds: date)
    if end <= now { return 0 }
    let wait = end.sinceEpoch.subtractingReportingOverflow(now.sinceEpoch)
    return wait.overflow ? .max : UInt64(Swift.max(0, wait.partialValue))
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
