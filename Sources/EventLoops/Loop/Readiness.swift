/// What a descriptor is ready for; the bits are those of epoll.
public struct Readiness: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  public static let readable = Readiness(rawValue: 0x1)
  public static let writable = Readiness(rawValue: 0x4)
  /// The descriptor failed; ``Socket/takeError()`` says how. Reported without being asked for.
  public static let error = Readiness(rawValue: 0x8)
  /// Both directions are over. Reported without being asked for.
  public static let hangUp = Readiness(rawValue: 0x10)
  /// The peer ended its direction (EPOLLRDHUP): for those who do not read at present and still want to know that the
  /// peer left. It stays set, so who has seen it should stop asking. Not for exclusive registrations.
  public static let peerClosed = Readiness(rawValue: 0x2000)
  /// The connection is reset or failed, or both sides have ended it.
  public static let broken = Readiness(rawValue: 0x18)

  /// Whether some of the others are set; without the array that a literal of several would be made from.
  public func meets(_ other: Readiness) -> Bool { rawValue & other.rawValue != 0 }

  /// What may be asked for.
  static let requestable: Readiness = [.readable, .writable, .peerClosed]
}

/// Told when a registered descriptor becomes ready, on the loop's thread.
///
/// Level-triggered: what is not handled is reported again in the next tick. `error` and `hangUp` come even for an empty
/// interest, so a handler must deregister after them.
public protocol ReadinessHandler: AnyObject {
  func ready(_ readiness: Readiness)
}

/// Has work to finish once all events of a tick are handled, such as one write of all that they produced.
public protocol TickFlushing: AnyObject {
  func flush()
}

/// Names one registration of a descriptor with its loop; worthless after ``EventLoop/deregister(_:)``.
public struct Registration: Sendable, Hashable {
  let slot: UInt32
  /// Counts the uses of the slot, so that events and names of an earlier use are told apart.
  let generation: UInt32

  /// The form in which the kernel carries it.
  var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

  init(slot: UInt32, generation: UInt32) {
    self.slot = slot
    self.generation = generation
  }

  init(token: UInt64) {
    slot = UInt32(truncatingIfNeeded: token)
    generation = UInt32(truncatingIfNeeded: token >> 32)
  }
}
