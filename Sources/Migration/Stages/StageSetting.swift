package import Configuration

/// A stage, with the share of the callers that the rpc side answers.
package struct StageSetting: Sendable, Hashable, CustomStringConvertible {
  package let stage: RouteSettings.Stage
  /// Of stage canary its own; else all or none.
  package let share: Share

  /// - Parameter share: of stage canary; without a meaning for the others.
  package init(_ stage: RouteSettings.Stage, share: Share = .none) {
    self.stage = stage
    switch stage {
    case .rest, .shadow: self.share = .none
    case .canary: self.share = share
    case .rpc: self.share = .all
    }
  }

  /// What a route's file says.
  package init(_ settings: RouteSettings) {
    let percent = settings.canary?.percent ?? settings.ramp?.steps.first ?? 0
    self.init(settings.stage, share: Share(hundredths: percent) ?? .none)
  }

  /// `canary at 25%`, `rpc`.
  package var description: String {
    stage == .canary ? "\(stage.rawValue) at \(share.text)%" : stage.rawValue
  }
}
