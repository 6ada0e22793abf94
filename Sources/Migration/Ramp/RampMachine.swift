package import Configuration

/// A share that grows by itself: each step only after its time, with enough calls seen in it, and the guard content.
///
/// It goes on from whatever share stands: whoever sets one by hand sets where it goes on from. A held ramp stays.
package struct RampMachine: Sendable {
  /// Why a ramp stands where it does.
  package enum Wait: Sendable, Equatable {
    /// It is no canary, or a guard took it back.
    case idle
    /// It is at its last step.
    case finished
    case held
    /// Until the clock says so.
    case time(UInt64)
    case requests(seen: UInt64, of: UInt64)
    case unhappy(String)
  }

  /// What is to be done now.
  package enum Action: Sendable, Equatable {
    case wait(Wait)
    case advance(Share)
  }

  private let steps: [Share]
  /// Nanoseconds.
  private let every: UInt64
  private let minimum: UInt64
  private var setting: StageSetting?
  private var begunAt: UInt64 = 0
  private var requestsAtBegin: UInt64 = 0

  /// - Parameter minimumRequests: calls of the rpc side that each step needs.
  package init(_ settings: RouteSettings.Ramp, minimumRequests: Int) {
    steps = settings.steps.compactMap { Share(hundredths: $0) }
    every =
      UInt64(clamping: settings.every.components.seconds &* 1_000_000_000)
      &+ UInt64(clamping: settings.every.components.attoseconds / 1_000_000_000)
    minimum = UInt64(minimumRequests)
  }

  /// The step that a share has reached, from 1; 0 below the first.
  package func step(at share: Share) -> Int { steps.count { $0 <= share } }

  /// What is to be done now.
  ///
  /// - Parameters:
  ///   - requests: of the rpc side, all that were ever counted.
  ///   - now: nanoseconds of a clock that only goes on.
  package mutating func next(
    _ setting: StageSetting, isHeld: Bool, isTripped: Bool, _ judgement: GuardJudgement, requests: UInt64,
    at now: UInt64
  ) -> Action {
    if setting != self.setting {
      self.setting = setting
      begunAt = now
      requestsAtBegin = requests
    }
    guard setting.stage == .canary, !isTripped else { return .wait(.idle) }
    guard let step = steps.first(where: { $0 > setting.share }) else { return .wait(.finished) }
    if isHeld { return .wait(.held) }
    if case .exceeded(_, let reason) = judgement { return .wait(.unhappy(reason)) }
    let end = begunAt &+ every
    guard now >= end else { return .wait(.time(end)) }
    // A share of nobody sees no calls.
    let seen = requests &- requestsAtBegin
    guard setting.share == .none || seen >= minimum else { return .wait(.requests(seen: seen, of: minimum)) }
    return .advance(step)
  }
}
