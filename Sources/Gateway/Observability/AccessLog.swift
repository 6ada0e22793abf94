import Bytes
import Configuration
import EventLoops
import HTTPModel
import Metrics
import Synchronization

/// The open access logs by their target: kept over reloads, reopened together.
final class AccessLogSinks: Sendable {
  private let sinks = Mutex<[LogSink.Target: LogSink]>([:])
  private let metrics: GatewayMetrics
  private let log: GatewayLog

  init(metrics: GatewayMetrics, log: GatewayLog) {
    self.metrics = metrics
    self.log = log
  }

  func sink(for configuration: AccessLogConfiguration) throws(SystemError) -> LogSink {
    let target: LogSink.Target = configuration.path.map { .file(path: $0) } ?? .standardOutput
    if let known = sinks.withLock({ $0[target] }) { return known }
    let name = configuration.path.map { "the access log \($0)" } ?? "the access log on standard output"
    let sink = try LogSink(target) { [log] in log.write($0, of: name) }
    sinks.withLock { $0[target] = sink }
    return sink
  }

  /// Closes the files of which no snapshot writes any more.
  func closeUnused() {
    sinks.withLock { sinks in
      // A copy of the keys: a view of them would be a second holder of all values.
      for target in Array(sinks.keys) where isKnownUniquelyReferenced(&sinks[target]) { sinks[target] = nil }
    }
  }

  /// Files and streams that are open.
  var count: Int { sinks.withLock { $0.count } }

  /// Writes what is pending and opens the files anew (after a rotation).
  func reopen() throws(SystemError) {
    for sink in sinks.withLock({ Array($0.values) }) { try sink.reopen() }
  }

  func flush() {
    for sink in sinks.withLock({ Array($0.values) }) { sink.flush() }
  }

  /// Sets the gauge of lost lines.
  func report() {
    for (target, sink) in sinks.withLock({ Array($0) }) {
      let path: String
      if case .file(let file) = target { path = file } else { path = "stdout" }
      metrics.operation.droppedLogLines.child([path]).set(Double(sink.dropped))
    }
  }
}

/// Writes one line for each call when it ends.
///
/// No secrets: of the request only method, template, sizes, address and user agent; no query, no path of a described
/// route, no message. What comes from outside is escaped.
struct AccessLog: Interceptor {
  let sink: LogSink
  let format: LogFormat

  func onEnd(_ call: Call) {
    call.worker.appendAccessLog(to: sink) { line in
      switch format {
      case .json: AccessLogLine.appendJSON(call, to: &line)
      case .text: AccessLogLine.appendText(call, to: &line)
      }
    }
  }
}

/// The lines that one loop's calls wrote in this tick, handed to their sinks together when it ends.
final class AccessLogBatch: TickFlushing {
  private final class Pending {
    let sink: LogSink
    var lines = ByteBuffer()
    var count = 0

    init(sink: LogSink) { self.sink = sink }
  }

  private var pending: [Pending] = []
  private var isScheduled = false

  func append(to sink: LogSink, loop: EventLoop, _ write: (inout ByteBuffer) -> Void) {
    let entry: Pending
    if let known = pending.first(where: { $0.sink === sink }) {
      entry = known
    } else {
      entry = Pending(sink: sink)
      pending.append(entry)
    }
    write(&entry.lines)
    entry.count += 1
    guard !isScheduled else { return }
    isScheduled = true
    loop.flushAtTickEnd(self)
  }

  /// Lets go the sinks that nothing waits for: a new snapshot may have others.
  func releaseIdle() { pending.removeAll { $0.count == 0 } }

  func flush() {
    isScheduled = false
    for entry in pending where entry.count > 0 {
      entry.lines.withSpan { entry.sink.write($0, lines: entry.count) }
      entry.lines.removeAll()
      entry.count = 0
    }
  }
}
