import Configuration
import Migration
import Synchronization

/// The stage of one procedure as it stands now, for all loops; read once per call.
final class StageCell: Sendable {
  /// What calls follow.
  struct Content: Equatable {
    var setting: StageSetting
    /// Whether a guard took the route back: then a canary's rules lead nobody to the rpc side.
    var isTripped = false
  }

  /// The stage's number, then the share in 16 bits, then whether it is tripped.
  private let raw: Atomic<UInt32>

  init(_ setting: StageSetting) { raw = Atomic(Self.pack(Content(setting: setting))) }

  var content: Content {
    let bits = raw.load(ordering: .relaxed)
    let stage = RouteSettings.Stage(number: UInt8(truncatingIfNeeded: bits))
    let share = Share(hundredths: Int(bits >> 8 & 0xFFFF)) ?? .none
    return Content(setting: StageSetting(stage, share: share), isTripped: bits >> 24 == 1)
  }

  var setting: StageSetting { content.setting }

  func store(_ content: Content) { raw.store(Self.pack(content), ordering: .relaxed) }

  private static func pack(_ content: Content) -> UInt32 {
    UInt32(content.setting.stage.number) | UInt32(content.setting.share.hundredths) << 8
      | (content.isTripped ? 1 << 24 : 0)
  }
}

extension RouteSettings.Stage {
  /// For where a text would be too much: an atomic, the key of a counter.
  var number: UInt8 {
    switch self {
    case .rest: 0
    case .shadow: 1
    case .rpc: 2
    case .canary: 3
    }
  }

  init(number: UInt8) {
    switch number {
    case 0: self = .rest
    case 1: self = .shadow
    case 2: self = .rpc
    default: self = .canary
    }
  }
}
