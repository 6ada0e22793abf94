import Bytes
import Configuration
import EventLoops
import HTTPModel
import RPC

/// A detached attempt: a copy of a call that goes to the other backend while the first one answers.
///
/// It has a byte and a time budget of its own, and outlives the caller. Its answer is read as the backend's protocol
/// has it and counted; nothing of it reaches the client, and nothing of it delays the answering side.
final class ShadowObserver: AttemptOwner {
  private let worker: Worker
  private let route: RouteState
  private let limit: Int
  private var attempt: Attempt?
  private var received = 0
  private var tap: ReplyTap
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in end(as: .error) }

  private init(worker: Worker, route: RouteState, upstream: UpstreamConfiguration) {
    tap = ReplyTap(upstream: upstream.protocol)
    self.worker = worker
    self.route = route
    limit = worker.limits.message
  }

  /// Sends the copy, if the call may have one: a safe method without a body.
  static func launch(for call: Call, route: RouteState) {
    let metrics = call.worker.metrics
    let shard = call.worker.index
    guard call.head.method.isSafe, !call.hasRequestBody, !route.plan.isStreaming else {
      metrics.shadow(route.plan, .skipped, shard: shard)
      return
    }
    let shadow = route.plan.settings.shadow
    guard shadow.sample >= 10_000 || Int.random(in: 0..<10_000) < shadow.sample,
      call.worker.shadows.count < maximumInFlight, let upstream = route.plan.rpcUpstream
    else {
      metrics.shadow(route.plan, .skipped, shard: shard)
      return
    }
    let request = UpstreamRequest()
    do throws(RPCError) {
      let payload = try call.requestPayload()
      let backend = Backends.backend(for: route.plan, call.plans.snapshot.upstreams[upstream])
      try backend.encodeRequest(call, payload, into: request)
    } catch {
      // What translation refuses, the flip would break.
      metrics.shadow(route.plan, .error, shard: shard)
      return
    }
    call.prepare(request, upstream: upstream)
    let observer = ShadowObserver(
      worker: call.worker, route: route, upstream: call.plans.snapshot.upstreams[upstream])
    let attempt = Attempt(pool: call.plans.pool(upstream), request: request, owner: observer)
    observer.attempt = attempt
    call.worker.shadows[ObjectIdentifier(observer)] = observer
    observer.timer.schedule(after: route.plan.timeout ?? call.worker.timeouts.streamIdle)
    attempt.start()
  }

  /// Copies of one loop that may be under way at the same time.
  private static let maximumInFlight = 256

  func attempt(_ attempt: Attempt, interim head: ResponseHead) {}
  func attempt(_ attempt: Attempt, head: ResponseHead) { tap.begin(head) }

  func attempt(_ attempt: Attempt, body buffer: inout ByteBuffer, count: Int) {
    received += count
    if tap.watchesBody { buffer.withSpan(0..<count) { tap.observe($0) } }
    buffer.consume(count)
    if received > limit { end(as: .error) }
  }

  func attempt(_ attempt: Attempt, endedWith trailers: FieldBlock) {
    end(as: attempt.head?.status == 200 && tap.outcome(trailers) == nil ? .answered : .error)
  }

  func attempt(_ attempt: Attempt, failed failure: UpstreamFailure) { end(as: .error) }
  func attemptCongested(_ attempt: Attempt) {}
  func attemptDrained(_ attempt: Attempt) {}

  /// Ends without being counted.
  func cancel() {
    attempt?.cancel()
    attempt = nil
    timer.cancel()
    worker.shadows[ObjectIdentifier(self)] = nil
  }

  private func end(as outcome: GatewayMetrics.ShadowOutcome) {
    guard let attempt else { return }
    self.attempt = nil
    timer.cancel()
    attempt.cancel()
    worker.metrics.shadow(route.plan, outcome, shard: worker.index)
    worker.shadows[ObjectIdentifier(self)] = nil
  }
}
