import Configuration
import EventLoops
import HTTPModel
import Tracing

/// What `tracing` does, as a snapshot has it.
final class TracingPlan: Sendable {
  let configuration: TracingConfiguration
  let sampler: TraceSampler
  let resource: TraceResource
  /// Nil: nothing is recorded.
  let origin: InternalOrigin?

  init(_ configuration: TracingConfiguration, _ origin: InternalOrigin?) {
    self.configuration = configuration
    self.origin = origin
    sampler = TraceSampler(share: configuration.sample, followsParents: configuration.parentBased)
    let own = [("service.name", configuration.serviceName), ("telemetry.sdk.name", "turnout")]
    let all = own + configuration.resource.map { ($0.name, $0.value) }
    resource = TraceResource(attributes: all.map { SpanRecord.Attribute($0.0, .text($0.1)) })
  }
}

/// The trace of one call, and its spans as far as they are made.
final class CallTrace {
  /// A request to an upstream that is under way.
  struct PendingAttempt {
    var span: UInt64
    var startedAt: Instant
    var upstream: String
    var method: String
  }

  /// Names the call's own span.
  let context: TraceContext
  /// The caller's span; 0: the trace begins here.
  let parent: UInt64
  /// Of the vendors, as it came; read only where spans are recorded.
  let state: String
  let records: Bool
  /// Who takes the spans.
  let plan: TracingPlan
  /// What makes an instant of the loop's clock a time of day: nanoseconds.
  private let epoch: UInt64
  var pending: [PendingAttempt] = []
  var spans: [SpanRecord] = []

  init(context: TraceContext, parent: UInt64, state: String, records: Bool, plan: TracingPlan, now: Instant) {
    self.context = context
    self.parent = parent
    self.state = state
    self.records = records
    self.plan = plan
    if records {
      let time = WallClock.now()
      epoch = UInt64(max(0, time.seconds)) &* 1_000_000_000 &+ UInt64(time.nanoseconds) &- now.nanoseconds
    } else {
      epoch = 0
    }
  }

  /// Nanoseconds since 1970.
  func time(of instant: Instant) -> UInt64 { epoch &+ instant.nanoseconds }
}
