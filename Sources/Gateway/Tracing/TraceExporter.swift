import Bytes
import Configuration
import EventLoops
import HTTPModel
import Metrics
import Tracing

/// Gives the spans of one loop away in batches, over the gateway's own client.
///
/// It holds a bounded number of spans: while the collector is away or slow, what comes beyond is dropped and counted.
/// A batch that can be tried again is, a few times, with pauses; calls never wait for it.
final class TraceExporter {
  var plan: TracingPlan
  private unowned let worker: Worker
  private var queue: [SpanRecord] = []
  /// How many at the front of the queue are on their way.
  private var sending = 0
  private var failures = 0
  private var isFinishing = false
  /// Whether it has given up, or given all away, at the end of the process: what is answered later is of no account.
  private var hasFinished = false
  private var hasComplained = false
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in send() }
  private lazy var patience = Timer(loop: worker.loop) { [unowned self] in giveUp() }

  private static let batch = 512
  private static let mostTries = 5
  private static let longestPause: Duration = .seconds(30)
  /// For the last batches when the process ends.
  private static let farewell: Duration = .seconds(3)
  /// Of an answer, which nobody reads.
  private static let maximumAnswer = 64 << 10

  init(_ plan: TracingPlan, worker: Worker) {
    self.plan = plan
    self.worker = worker
  }

  var isIdle: Bool { queue.isEmpty }

  func add(_ spans: [SpanRecord]) {
    guard let exporter = plan.configuration.exporter else { return }
    // Of a copy that ends after its call: nobody is left to give them away.
    guard !hasFinished else { return count("dropped", spans.count) }
    let room = max(0, exporter.queue - queue.count)
    if room < spans.count { count("dropped", spans.count - room) }
    guard room > 0 else { return }
    let wasEmpty = queue.isEmpty
    queue.append(contentsOf: spans.prefix(room))
    guard sending == 0 else { return }
    if wasEmpty { timer.schedule(after: exporter.interval) }
    if queue.count >= min(Self.batch, exporter.queue), failures == 0 { send() }
  }

  private func send() {
    guard sending == 0, !queue.isEmpty, let origin = plan.origin, let exporter = plan.configuration.exporter else {
      return
    }
    timer.cancel()
    sending = min(queue.count, Self.batch)
    let spans = Array(queue.prefix(sending))
    var body = ByteBuffer()
    let type: String
    switch exporter.encoding {
    case .protobuf:
      OTLPProtobuf.write(spans, of: plan.resource, into: &body)
      type = "application/x-protobuf"
    case .json:
      OTLPJSON.write(spans, of: plan.resource, into: &body)
      type = "application/json"
    }
    // The same batch twice is the same spans twice: collectors tell them apart by their ids.
    let request = origin.request(.post, body, contentType: type, isIdempotent: true)
    for header in exporter.headers { request.fields.append(header.name, header.value) }
    let time = isFinishing ? min(exporter.timeout, Self.farewell) : exporter.timeout
    worker.internalClient.send(request, to: origin, within: time, limit: Self.maximumAnswer) { [weak self] result in
      self?.sent(result)
    }
  }

  private func sent(_ result: Result<InternalReply, InternalFailure>) {
    // The spans of this batch are counted as failed.
    if hasFinished { return }
    switch result {
    case .success(let reply) where reply.isSuccess:
      if hasComplained { worker.log(.info, "the trace collector takes spans again") }
      hasComplained = false
      done("exported")
    case .success(let reply):
      let mayPass = [429, 502, 503, 504].contains(reply.status)
      failed("it answers \(reply.status)", mayPass: mayPass, after: Self.pause(reply.fields))
    case .failure(let failure): failed(failure.reason, mayPass: failure.kind != .tooLarge, after: nil)
    }
  }

  private static func pause(_ fields: FieldBlock) -> Duration? {
    fields.text(of: .retryAfter).flatMap { Int64($0) }.map { .seconds(max(0, $0)) }
  }

  private func failed(_ reason: String, mayPass: Bool, after pause: Duration?) {
    if !hasComplained { worker.log(.warning, "the trace collector takes no spans: \(reason)") }
    hasComplained = true
    failures += 1
    guard mayPass, failures < Self.mostTries, !isFinishing else { return done("failed") }
    sending = 0
    timer.schedule(after: min(Self.longestPause, pause ?? .seconds(1 << (failures - 1))))
  }

  /// The batch is gone, one way or the other.
  private func done(_ outcome: String) {
    count(outcome, sending)
    queue.removeFirst(min(sending, queue.count))
    sending = 0
    failures = 0
    guard !queue.isEmpty else {
      if isFinishing { finished() }
      return
    }
    if isFinishing || queue.count >= Self.batch { return send() }
    if let exporter = plan.configuration.exporter { timer.schedule(after: exporter.interval) }
  }

  private func count(_ outcome: String, _ spans: Int) {
    worker.metrics.operation.traceSpans.child([outcome]).add(UInt64(max(0, spans)), shard: worker.index)
  }

  // MARK: The end

  /// The process ends: gives away what is held, for a moment.
  func finish() {
    guard !isFinishing else { return }
    isFinishing = true
    patience.schedule(after: Self.farewell)
    if sending == 0 { send() }
  }

  private func giveUp() {
    count("failed", queue.count)
    queue = []
    sending = 0
    finished()
  }

  private func finished() {
    hasFinished = true
    patience.cancel()
    timer.cancel()
    worker.tracesSent()
  }
}

extension Worker {
  /// The exporter of a plan: that of an equal one over a reload, too.
  func traceExporter(_ plan: TracingPlan) -> TraceExporter {
    for exporter in traceExporters where exporter.plan === plan { return exporter }
    for exporter in traceExporters where exporter.plan.configuration == plan.configuration {
      exporter.plan = plan
      return exporter
    }
    let exporter = TraceExporter(plan, worker: self)
    traceExporters.append(exporter)
    return exporter
  }

  /// Whether all spans are given away; else it is begun, and ``tracesSent()`` comes.
  func finishTraces() -> Bool {
    var isDone = true
    for exporter in traceExporters where !exporter.isIdle {
      isDone = false
      exporter.finish()
    }
    return isDone
  }
}
