import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import Migration
import ProtobufSchema
import RPC

/// `fallback:` of a route where it can mean something.
struct FallbackPlan: Sendable {
  /// Whether calls that may have side effects are asked again too.
  let unsafe: Bool
  /// Bytes that are kept of a request that passes, and of its answer.
  let maximumBody: Int

  /// Nil where nothing is asked again: it is off, the route is a stream, may change something, or has one side only.
  init?(_ settings: RouteSettings, isStreaming: Bool, isSafe: Bool, hasBothSides: Bool) {
    let fallback = settings.fallback
    guard fallback.isOn, !isStreaming, isSafe || fallback.unsafe, hasBothSides else { return nil }
    unsafe = fallback.unsafe
    maximumBody = fallback.maxBody
  }
}

/// What a call keeps so that it can be asked once more on the other side, and what came of that (decision 0028).
///
/// Only calls of routes with `fallback:` have one. What is translated is gathered anyway. Of a request that passes, the
/// fields and the body are kept; its answer is held back as long as it may turn out to be a failure.
final class SideFallback {
  /// The label of a metric.
  enum Outcome: String, CaseIterable {
    /// The other side answered, if only with a fault of the caller.
    case answered
    /// It failed too.
    case failed
    /// The caller left before it answered.
    case canceled
    // The other side was not asked, or could not be:
    /// Translation has no words for the request there.
    case refused
    /// The request, or the answer that turned out to be a failure, is longer than what is kept.
    case tooLarge = "too_large"
    /// `limits.buffers` had no room.
    case buffers
    /// No time was left.
    case late
  }

  enum Phase: Equatable {
    /// The chosen side is asked.
    case ready
    /// Only the chosen side may answer, for this reason.
    case unable(Outcome)
    /// The chosen side's answer passes.
    case passed
    /// The other side answers.
    case turned
  }

  /// The call holds this, and whoever calls this holds the call as long as it may end meanwhile. What could outlive both
  /// is cancelled in ``end()``.
  unowned let call: Call
  let worker: Worker
  let maximumBody: Int
  var phase = Phase.ready
  /// Whether the request's body, if it has one, has come whole.
  var hasWholeRequest: Bool
  /// Behind the request's body: for the other side too, if it is asked with the body as it came.
  private(set) var trailers: FieldBlock?
  /// As they were before a request that passes made them its own; nil for one that is translated.
  var fields: FieldBlock?
  /// The failure of the chosen side, once the other was turned to.
  var failure: RPCError?
  var wasRefused = false
  /// The comparison, which is about the chosen side's answer.
  var shadow: Shadow?

  /// How long the chosen side alone is waited for.
  private(set) lazy var patienceTimer = Timer(loop: worker.loop) { [unowned self] in patienceIsOver() }
  var isPatient = false

  // Of an answer that is held back.
  var tap: ReplyTap?
  var held = ByteBuffer()
  var heldReserved = 0
  /// Until the end of its exchange.
  var heldTrailers: FieldBlock?

  /// What is left of an answer that is not passed on: it is read for as long as it is short, so that its connection can
  /// be used again.
  var dropped: Attempt?
  var droppedBytes = 0
  static let longestDropped = 64 << 10

  private init(_ call: Call, _ plan: FallbackPlan) {
    self.call = call
    worker = call.worker
    maximumBody = plan.maximumBody
    hasWholeRequest = !call.hasRequestBody
  }

  /// For a call whose side was chosen and that was sent nowhere yet; nil when only that side may answer.
  static func begin(for call: Call, _ route: Route, _ plan: FallbackPlan, _ decision: StageDecision) -> SideFallback? {
    guard call.onRequest == nil, target(of: call, route, plan, decision) != nil else { return nil }
    return SideFallback(call, plan)
  }

  /// The upstream that is asked after a failure of the chosen side; nil: none.
  static func target(of call: Call, _ route: Route, _ plan: FallbackPlan, _ decision: StageDecision) -> Int? {
    // Testers want to see the side that they name. A tunnel is no call.
    guard decision.reason != .override, !call.options.upgradeToWebSocket, plan.unsafe || call.hasNoSideEffects(route)
    else { return nil }
    switch (decision.stage, decision.side) {
    case (.canary, .rest):
      // Nobody is led to a side from which a guard, or somebody, has taken all callers.
      let now = route.presentContent
      guard !now.isTripped, now.setting.share != .none else { return nil }
    case (.canary, _), (.rpc, _): break
    case (.rest, _), (.shadow, _): return nil
    }
    return route.upstream(of: decision.side.other)
  }

  // MARK: The request

  /// The head is about to become that of a request that passes.
  func keepHead() {
    guard phase == .ready, fields == nil else { return }
    let copy = FieldBlock()
    copy.append(contentsOf: call.head.fields)
    fields = copy
    if case .length(let length) = call.requestFraming, length > maximumBody { giveUp(.tooLarge) }
  }

  /// Keeps body bytes that pass.
  func keep(_ buffer: borrowing ByteBuffer, _ count: Int) {
    guard phase == .ready else { return }
    guard call.requestBody.count + count <= maximumBody else { return giveUp(.tooLarge) }
    guard reserve(count) else { return giveUp(.buffers) }
    call.reserved += count
    call.requestBody.append(buffer, 0..<count)
  }

  /// The request to either side. What passes to the chosen one comes back through here; the other one is asked once,
  /// without retries.
  func attempt(_ request: UpstreamRequest, _ pool: UpstreamPool) -> Attempt {
    let isHeld = phase == .ready && call.state == .passing
    let retries = phase == .turned ? nil : call.route?.plan.retries ?? pool.retries
    if phase == .ready, retries?.perTry == nil { beginPatience() }
    return Attempt(
      pool: pool, request: request, owner: isHeld ? self : call, retries: retries, deadline: call.deadline,
      key: pool.key(of: call))
  }

  /// The request has come whole.
  func requestEnded(_ trailers: FieldBlock) {
    hasWholeRequest = true
    guard phase == .ready, !trailers.isEmpty else { return }
    let copy = FieldBlock()
    copy.append(contentsOf: trailers)
    self.trailers = copy
  }

  func reserve(_ bytes: Int) -> Bool {
    worker.shared.buffers.reserve(bytes, limit: worker.limits.buffers)
  }

  private func giveUp(_ reason: Outcome) {
    phase = .unable(reason)
    fields = nil
    call.release(call.requestBody.count)
    worker.discard(&call.requestBody)
  }
}

extension StageDecision.Side {
  var other: StageDecision.Side {
    switch self {
    case .rest: .rpc
    case .rpc: .rest
    case .none: .none
    }
  }
}

extension Call {
  /// Whether asking somebody besides does no harm: a method is safe as a whole, but a REST request has to look so too,
  /// since a route may have other bindings.
  func hasNoSideEffects(_ plan: Route) -> Bool {
    if plan.type.idempotency == .noSideEffects { return true }
    return plan.isSafe && (face.kind != .rest || head.method.isSafe)
  }
}
