import Bytes
import EventLoops
import HTTP1
import HTTPModel
import Metrics

/// One request of the gateway's own and its answer, which is gathered whole.
///
/// Tells its end exactly once, on its own loop, unless it was cancelled.
final class InternalExchange: AttemptOwner {
  private let client: InternalClient
  private let purpose: InternalOrigin.Purpose
  private let limit: Int
  private var completion: ((Result<InternalReply, InternalFailure>) -> Void)?
  private var attempt: Attempt?
  private var reply: InternalReply?
  private lazy var timer = Timer(loop: client.worker.loop) { [unowned self] in
    end(.failure(InternalFailure(kind: .timeout, reason: "no whole answer in time")))
  }

  init(
    client: InternalClient, purpose: InternalOrigin.Purpose, limit: Int,
    completion: @escaping (Result<InternalReply, InternalFailure>) -> Void
  ) {
    self.client = client
    self.purpose = purpose
    self.limit = limit
    self.completion = completion
  }

  func start(_ request: UpstreamRequest, _ pool: UpstreamPool, within time: Duration) {
    let attempt = Attempt(pool: pool, request: request, owner: self)
    self.attempt = attempt
    timer.schedule(after: time)
    attempt.start()
  }

  /// Ends it without a word to whoever asked.
  func cancel() {
    completion = nil
    end(.failure(InternalFailure(kind: .closing, reason: "cancelled")))
  }

  /// The loop ends.
  func close() { end(.failure(InternalFailure(kind: .closing, reason: "the gateway ends"))) }

  private func end(_ result: Result<InternalReply, InternalFailure>) {
    guard let attempt else { return }
    self.attempt = nil
    timer.cancel()
    attempt.cancel()
    client.ended(self)
    guard let completion else { return }
    self.completion = nil
    var outcome = "ok"
    switch result {
    case .success(let reply): if !reply.isSuccess { outcome = "\(reply.status / 100)xx" }
    case .failure(let failure): outcome = failure.kind.rawValue
    }
    let worker = client.worker
    worker.metrics.operation.internalRequests.child([purpose.rawValue, outcome]).add(1, shard: worker.index)
    completion(result)
  }

  private func refuseSize() {
    end(.failure(InternalFailure(kind: .tooLarge, reason: "the answer is larger than \(limit) bytes")))
  }

  // MARK: From the attempt

  func attempt(_ attempt: Attempt, interim head: ResponseHead) {}

  func attempt(_ attempt: Attempt, head: ResponseHead) {
    reply = InternalReply(head)
    if case .length(let length) = attempt.declaredFraming, length > limit { refuseSize() }
  }

  func attempt(_ attempt: Attempt, body buffer: inout ByteBuffer, count: Int) {
    guard let reply, reply.body.count + count <= limit else {
      buffer.consume(count)
      refuseSize()
      return
    }
    BodyFramer.frame(&buffer, count, as: .none, into: &reply.body)
  }

  func attempt(_ attempt: Attempt, endedWith trailers: FieldBlock) {
    guard let reply else { return }
    end(.success(reply))
  }

  func attempt(_ attempt: Attempt, failed failure: UpstreamFailure) {
    end(.failure(InternalFailure(kind: .exchange, reason: failure.reason)))
  }

  func attemptCongested(_ attempt: Attempt) {}
  func attemptDrained(_ attempt: Attempt) {}
}
