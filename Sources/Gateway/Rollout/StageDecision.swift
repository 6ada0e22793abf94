import Configuration

/// Which backend answers a call, and whether the other gets a copy; made once per call and recorded.
struct StageDecision {
  enum Side: UInt8 {
    case rest
    case rpc
    case none

    var label: String {
      switch self {
      case .rest: "rest"
      case .rpc: "rpc"
      case .none: "none"
      }
    }
  }

  let stage: RouteSettings.Stage
  let side: Side
  /// Whether the rpc side gets a copy.
  let shadows: Bool

  init(_ stage: RouteSettings.Stage) {
    self.stage = stage
    switch stage {
    case .rest: (side, shadows) = (.rest, false)
    case .shadow: (side, shadows) = (.rest, true)
    case .rpc: (side, shadows) = (.rpc, false)
    }
  }
}
