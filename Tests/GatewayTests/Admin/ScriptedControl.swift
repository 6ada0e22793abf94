import Gateway
import Synchronization

/// A control plane that answers as a test says and remembers what it was asked.
final class ScriptedControl: ControlPlane {
  struct StageCall: Sendable, Equatable {
    var procedure: String
    var stage: String
    var percent: Double?
    var reason: String
  }

  let isReady: Bool
  private let stageAnswer: Result<[UInt8], ControlError>
  private let reloadAnswer: ReloadOutcome?
  private let recorded = Mutex<(stages: [StageCall], reloads: Int, refusals: [String])>(([], 0, []))

  init(
    isReady: Bool = true, stageAnswer: Result<[UInt8], ControlError> = .success(Array(#"{"stage":"rpc"}"#.utf8)),
    reloadAnswer: ReloadOutcome? = .ok(warnings: [])
  ) {
    self.isReady = isReady
    self.stageAnswer = stageAnswer
    self.reloadAnswer = reloadAnswer
  }

  var stageCalls: [StageCall] { recorded.withLock { $0.stages } }
  var refusals: [String] { recorded.withLock { $0.refusals } }
  var reloads: Int { recorded.withLock { $0.reloads } }

  func metrics() -> [UInt8] { Array("turnout_requests_total 3\n".utf8) }
  func upstreams() -> [UInt8] { Array(#"{"upstreams":[]}"#.utf8) }
  func audit() -> [UInt8] { Array(#"{"changes":[]}"#.utf8) }
  func config() -> [UInt8] { Array(#"{"hash":"0123456789abcdef"}"#.utf8) }
  func routes() -> [UInt8] { Array(#"{"routes":[]}"#.utf8) }

  func samples(_ procedure: String) -> Result<[UInt8], ControlError> { .success(Array(#"{"samples":[]}"#.utf8)) }

  func route(_ procedure: String) -> Result<[UInt8], ControlError> { stageAnswer }

  func setStage(_ procedure: String, _ change: StageChange, actor: AdminActor) -> Result<[UInt8], ControlError> {
    record(procedure, change.stage, change.percent, change.reason)
  }

  func clearStage(_ procedure: String, reason: String, actor: AdminActor) -> Result<[UInt8], ControlError> {
    record(procedure, "clear", nil, reason)
  }

  func hold(_ procedure: String, _ change: HoldChange, actor: AdminActor) -> Result<[UInt8], ControlError> {
    record(procedure, change.isHeld ? "hold" : "release", nil, change.reason)
  }

  private func record(
    _ procedure: String, _ stage: String, _ percent: Double?, _ reason: String
  ) -> Result<[UInt8], ControlError> {
    recorded.withLock {
      $0.stages.append(StageCall(procedure: procedure, stage: stage, percent: percent, reason: reason))
    }
    return stageAnswer
  }

  func refusedReload(actor: AdminActor, reason: String) {
    recorded.withLock { $0.refusals.append("\(actor.address) \(actor.showedToken) \(reason)") }
  }

  func reload(actor: AdminActor) -> ReloadOutcome? {
    recorded.withLock { $0.reloads += 1 }
    return reloadAnswer
  }
}
