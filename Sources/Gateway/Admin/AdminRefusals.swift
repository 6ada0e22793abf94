import EventLoops
import HTTPModel
import Metrics
import Synchronization

/// Requests that ``AdminGuard`` refused: all are counted, and of those without the token some are told, for anybody can
/// send any number of them.
final class AdminRefusals: Sendable {
  private static let pause: Duration = .seconds(10)

  private struct Told {
    var next: Instant?
    /// Since the last line.
    var untold = 0
  }

  private let refusals: CounterFamily
  private let log: GatewayLog
  private let told = Mutex(Told())

  init(metrics: GatewayMetrics, log: GatewayLog) {
    refusals = metrics.operation.adminRefusals
    self.log = log
  }

  func refused(_ request: LocalRequest, _ answer: LocalResponse) {
    refusals.child(["\(answer.status)"]).add(1, shard: 0)
    guard answer.status == 401 || answer.status == 403, let more = tells(at: Instant.now()) else { return }
    let why =
      if answer.status == 403 {
        "its Host or Origin is not ours"
      } else if request.field("authorization") == nil {
        "it shows no token"
      } else {
        "its token is wrong"
      }
    let others = more == 0 ? "" : "; \(more) more since the last line like this"
    log.write(
      .warning,
      "the admin endpoint refused \(request.method.name) \(request.path) of \(request.peer?.host ?? "a client"): "
        + "\(why)\(others)")
  }

  /// Whether one is told now; then how many were not since the last time.
  private func tells(at now: Instant) -> Int? {
    told.withLock { told in
      if let next = told.next, now < next {
        told.untold += 1
        return nil
      }
      defer { told.untold = 0 }
      told.next = now + Self.pause
      return told.untold
    }
  }
}
