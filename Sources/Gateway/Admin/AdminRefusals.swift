import EventLoops
import HTTPModel
import Metrics
import Synchronization

/// Requests that ``AdminGuard`` refused: all are counted, and of those without the token some are told, for anybody can
/// send any number of them.
final class AdminRefusals: Sendable {
  private let refusals: CounterFamily
  private let log: GatewayLog
  private let lines = Mutex(SparseLines(1, per: .seconds(10)))

  init(metrics: GatewayMetrics, log: GatewayLog) {
    refusals = metrics.operation.adminRefusals
    self.log = log
  }

  func refused(_ request: LocalRequest, _ answer: LocalResponse) {
    refusals.child(["\(answer.status)"]).add(1, shard: 0)
    guard answer.status == 401 || answer.status == 403 else { return }
    guard let more = lines.withLock({ $0.next(at: .now()) }) else { return }
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
}
