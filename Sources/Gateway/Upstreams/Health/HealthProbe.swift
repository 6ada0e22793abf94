import Bytes
import Configuration
import EventLoops
import HTTPModel
import Metrics
import Policies

/// The checks of one endpoint, one after another: over its own protocol, TLS and version of HTTP.
final class HealthProbe: AttemptOwner {
  private let endpoint: EndpointPool
  private unowned let worker: Worker
  private var pool: UpstreamPool?
  private var question: HealthQuestion?
  private var configuration = HealthCheckConfiguration(.path("/"))
  private var headers: HeaderChanges?
  private var streak = HealthStreak()
  private var attempt: Attempt?
  private var answer = ByteBuffer()
  /// Between checks until the next one; during one until it has taken too long.
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in timeIsUp() }

  /// Bytes of an answer; the rest is not looked at.
  private static let longestAnswer = 4 << 10

  init(endpoint: EndpointPool, worker: Worker) {
    self.endpoint = endpoint
    self.worker = worker
  }

  func adopt(_ configuration: HealthCheckConfiguration, _ pool: UpstreamPool, _ headers: HeaderChanges?) {
    let isNew = self.pool == nil
    self.pool = pool
    self.configuration = configuration
    self.headers = headers
    question = HealthQuestion(configuration, pool.configuration)
    // Not all at the same moment, and soon.
    if isNew { timer.schedule(after: configuration.interval * Double.random(in: 0..<0.1)) }
  }

  /// Nobody is asked any more; what was found is forgotten.
  func stop() {
    timer.cancel()
    let attempt = attempt
    self.attempt = nil
    attempt?.cancel()
    endpoint.health.set(isHealthy: true)
  }

  private func timeIsUp() {
    if attempt == nil { ask() } else { end("no answer within \(configuration.timeout)") }
  }

  private func ask() {
    guard let pool, let question else { return }
    answer.removeAll()
    let request = question.request(host: configuration.host)
    headers?.apply(to: request.fields)
    let attempt = Attempt(pool: pool, request: request, owner: self, probing: endpoint)
    self.attempt = attempt
    timer.schedule(after: configuration.timeout)
    attempt.start()
  }

  /// - Parameter fault: nil for a good answer.
  private func end(_ fault: String?) {
    guard let attempt else { return }
    self.attempt = nil
    attempt.cancel()
    let name = endpoint.identity.upstream
    worker.metrics.upstreams.healthChecks.child([name, fault == nil ? "ok" : "failed"]).add(1, shard: worker.index)
    let change = streak.observe(
      fault == nil, healthy: configuration.healthy, unhealthy: configuration.unhealthy)
    if change == true {
      endpoint.health.set(isHealthy: true)
      worker.log(.info, "\(endpoint.name) is healthy")
    } else if change == false {
      let reason = "health check: \(fault ?? "")"
      endpoint.health.set(isHealthy: false, reason)
      worker.log(.warning, "\(endpoint.name) is unhealthy: \(fault ?? "")")
    }
    timer.schedule(after: configuration.interval * Double.random(in: 0.9..<1.1))
  }

  // MARK: AttemptOwner

  func attempt(_ attempt: Attempt, interim head: ResponseHead) {}
  func attempt(_ attempt: Attempt, head: ResponseHead) {}

  func attempt(_ attempt: Attempt, body buffer: inout ByteBuffer, count: Int) {
    let kept = Swift.min(count, Self.longestAnswer - answer.count)
    if kept > 0 { answer.append(buffer, 0..<kept) }
    buffer.consume(count)
  }

  func attempt(_ attempt: Attempt, endedWith trailers: FieldBlock) {
    guard let head = attempt.head, let question else { return }
    end(answer.withSpan(nil) { question.fault(head, $0, trailers) })
  }

  func attempt(_ attempt: Attempt, failed failure: UpstreamFailure) {
    end(endpoint.shown(failure.kind, failure.reason))
  }

  func attemptCongested(_ attempt: Attempt) {}
  func attemptDrained(_ attempt: Attempt) {}
}
