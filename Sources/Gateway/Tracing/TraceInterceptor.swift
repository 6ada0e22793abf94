import Bytes
import Configuration
import EventLoops
import HTTPModel
import Tracing

/// `tracing`: passes traces on or begins them, and records a span for the call and for each request to an upstream.
struct TraceInterceptor: Interceptor {
  private let plan: TracingPlan

  init(_ plan: TracingPlan) { self.plan = plan }

  func onCall(_ call: Call) -> InterceptorVerdict {
    let fields = call.head.fields
    let parent = Self.parent(fields)
    if parent == nil || !Self.hasGoodState(fields) { fields.remove(.tracestate) }
    let worker = call.worker
    var context = TraceContext(
      traceHigh: parent?.traceHigh ?? worker.traceIDs.next(), traceLow: parent?.traceLow ?? worker.traceIDs.next(),
      span: worker.traceIDs.next(), isSampled: parent?.isSampled ?? false)
    context.isSampled = plan.sampler.samples(context, hasParent: parent != nil)
    let records = context.isSampled && plan.origin != nil
    call.trace = CallTrace(
      context: context, parent: parent?.span ?? 0, state: records ? Self.state(fields) : "", records: records,
      plan: plan, now: worker.loop.now)
    Self.write(context, to: fields, worker)
    return .proceed
  }

  private static func parent(_ fields: FieldBlock) -> TraceContext? {
    // Two of them are none.
    guard fields.count(of: .traceparent) == 1, let index = fields.firstIndex(of: .traceparent) else { return nil }
    return fields.withValue(at: index) { TraceContext(traceparent: $0) }
  }

  private static func hasGoodState(_ fields: FieldBlock) -> Bool {
    var members = 0
    var index = 0
    while let found = fields.nextIndex(of: .tracestate, from: index) {
      guard fields.withValue(at: found, { TraceState.isAcceptable($0, members: &members) }) else { return false }
      index = found + 1
    }
    return true
  }

  private static func state(_ fields: FieldBlock) -> String {
    var parts: [String] = []
    var index = 0
    while let found = fields.nextIndex(of: .tracestate, from: index) {
      parts.append(fields.text(at: found))
      index = found + 1
    }
    return parts.joined(separator: ",")
  }

  private static func write(_ context: TraceContext, to fields: FieldBlock, _ worker: Worker) {
    fields.remove(.traceparent)
    worker.scratch.removeAll()
    context.write(into: &worker.scratch)
    worker.scratch.withSpan { fields.append(.traceparent, $0) }
  }

  // MARK: Attempts

  func onAttempt(_ call: Call, _ request: UpstreamRequest, _ upstream: UpstreamConfiguration) {
    guard let trace = call.trace else { return }
    var context = trace.context
    context.span = call.worker.traceIDs.next()
    Self.write(context, to: request.fields, call.worker)
    guard trace.records else { return }
    trace.pending.append(
      CallTrace.PendingAttempt(
        span: context.span, startedAt: call.worker.loop.now, upstream: upstream.name, method: request.method.name))
  }

  func onAttemptEnd(_ call: Call, _ end: AttemptEnd) {
    guard let trace = call.trace, let index = trace.pending.lastIndex(where: { $0.upstream == end.upstream }) else {
      return
    }
    let attempt = trace.pending.remove(at: index)
    trace.spans.append(CallSpans.client(attempt, end, call, trace, side: call.decision?.answering))
  }

  func onEnd(_ call: Call) {
    guard let trace = call.trace, trace.records else { return }
    trace.spans.append(CallSpans.server(call, trace))
    call.worker.traceExporter(plan).add(trace.spans)
  }
}
