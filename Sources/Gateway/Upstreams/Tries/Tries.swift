import Configuration
import EventLoops
import HTTPModel
import Metrics
import Policies
import RPC

/// What an attempt that may be made again keeps: how often it was, and what would have to be sent once more.
///
/// Only attempts with a ``RetryPlan`` have one.
final class Tries {
  let plan: RetryPlan
  private let deadline: Instant?
  private unowned let worker: Worker
  /// Retries that were made.
  private var made = 0
  /// An answer that is not passed on: what comes of it is dropped, and another try follows.
  private(set) var isHolding = false
  private var dropped = 0
  /// Why there is a pause before another try.
  private var reason: RetryPlan.Condition?
  /// What the last try came to, unless it was an answer.
  var failure: UpstreamFailure?
  /// Whether the answer was passed on, so that there is no other try.
  private(set) var isSettled = false

  /// Set once, by the attempt, which holds this.
  unowned var attempt: Attempt?
  private lazy var pauseTimer = Timer(loop: worker.loop) { [unowned self] in attempt?.tryAgain() }
  private lazy var tryTimer = Timer(loop: worker.loop) { [unowned self] in attempt?.tryIsLate() }

  /// Bytes of an answer that is not passed on, so that its connection can be used again; of a longer one it is closed.
  static let longestDropped = 64 << 10

  init(_ plan: RetryPlan, deadline: Instant?, worker: Worker) {
    self.plan = plan
    self.deadline = deadline
    self.worker = worker
  }

  // MARK: Tries

  /// A try begins.
  func begin(_ request: UpstreamRequest) {
    isHolding = false
    if let perTry = plan.perTry { tryTimer.schedule(after: perTry) }
    if made > 0 || plan.perTry != nil { request.write(timeLeft: timeLeft) }
  }

  /// For the upstream: the smaller of the deadline and a try's time.
  private var timeLeft: Duration? {
    guard let deadline else { return nil }
    let left = deadline - worker.loop.now
    return plan.perTry.map { Swift.min($0, left) } ?? left
  }

  /// Whether there may be another try, and takes it: then ``begin(_:)`` follows after a pause.
  ///
  /// - Parameter asked: the pause that the upstream asks for.
  func takeRetry(of upstream: UpstreamState, _ reason: RetryPlan.Condition, asked: UInt64? = nil) -> Bool {
    guard !isSettled, made < plan.attempts else { return false }
    let left = deadline.map { $0.nanoseconds(since: worker.loop.now) }
    guard
      let pause = RetryPause.choose(
        plan.backoff, retry: made + 1, asked: asked, longest: plan.longestRetryAfter, left: left,
        random: .random(in: 0 ... .max))
    else { return false }
    let second = worker.loop.now.nanoseconds / 1_000_000_000
    guard upstream.budget.take(at: second, share: plan.budget, minimum: plan.minimumPerSecond) else {
      worker.metrics.upstreams.budgetExhausted.child([upstream.name]).add(1, shard: worker.index)
      return false
    }
    made += 1
    self.reason = reason
    if plan.perTry != nil { tryTimer.cancel() }
    pauseTimer.schedule(after: .nanoseconds(Int64(clamping: pause)))
    return true
  }

  /// The pause is over, and the try that was taken is made.
  func countRetry(of upstream: UpstreamState) {
    guard let reason else { return }
    self.reason = nil
    worker.metrics.upstreams.retries.child([upstream.name, reason.rawValue]).add(1, shard: worker.index)
  }

  /// The request is not at hand any more: there is nothing to wait for.
  func endPause() {
    guard reason != nil else { return }
    pauseTimer.schedule(after: .zero)
  }

  /// The answer of this try is dropped, or kept for the case that there is no other.
  func hold() {
    isHolding = true
    failure = nil
    dropped = 0
  }

  /// There is no other try.
  func stopHolding() {
    isHolding = false
    reason = nil
  }

  /// Counts what was dropped; false when it is too much.
  func drop(_ count: Int) -> Bool {
    dropped += count
    return dropped <= Self.longestDropped
  }

  /// The answer of this try is passed on.
  func settle() {
    isSettled = true
    if plan.perTry != nil { tryTimer.cancel() }
  }

  func end() {
    if made > 0 { pauseTimer.cancel() }
    if plan.perTry != nil { tryTimer.cancel() }
    isHolding = false
  }
}

extension UpstreamRequest {
  /// Tells the upstream anew how long it may take, in the field of its protocol; a request without one stays without.
  func write(timeLeft: Duration?) {
    guard let timeLeft else { return }
    let milliseconds = Swift.max(1, Int(clamping: timeLeft.wholeNanoseconds / 1_000_000))
    if fields.contains(.connectTimeoutMs) {
      fields.remove(.connectTimeoutMs)
      fields.append(.connectTimeoutMs, decimal: milliseconds)
    }
    if fields.contains(.grpcTimeout) {
      fields.remove(.grpcTimeout)
      GRPCTimeout.write(milliseconds: milliseconds, into: fields)
    }
  }
}
