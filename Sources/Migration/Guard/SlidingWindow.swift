/// What a side did in the last so many seconds, from totals that only grow.
///
/// The time is cut into slots; a slot that has become too old leaves the sum whole. So the window slides in steps of one
/// slot, and is never shorter than its length by more than that.
package struct SlidingWindow: Sendable {
  static let slotCount = 30

  /// Nanoseconds.
  package let length: UInt64
  private let slotLength: UInt64
  private var slots: [SideCounts]
  /// The number of the present slot since the clock began.
  private var present: UInt64
  private var last: SideCounts
  /// All that is in the window.
  package private(set) var sum = SideCounts()
  /// When the window began to be filled, as the clock has it.
  private(set) var begunAt: UInt64

  /// - Parameters:
  ///   - length: nanoseconds.
  ///   - totals: what was counted before, which is not in the window.
  package init(length: UInt64, at now: UInt64, totals: SideCounts = SideCounts()) {
    self.length = Swift.max(length, UInt64(Self.slotCount))
    slotLength = self.length / UInt64(Self.slotCount)
    slots = Array(repeating: SideCounts(), count: Self.slotCount)
    present = now / slotLength
    last = totals
    begunAt = now
  }

  /// Takes what was counted since the last time, and lets go what has become too old.
  package mutating func advance(to now: UInt64, totals: SideCounts) {
    let slot = now / slotLength
    if slot > present {
      // After a long pause all of them are too old.
      for number in 1...Swift.min(slot - present, UInt64(Self.slotCount)) { drop(present &+ number) }
      present = slot
    }
    guard totals != last else { return }
    var delta = totals
    delta -= last
    last = totals
    slots[index(present)] += delta
    sum += delta
  }

  /// Forgets everything.
  package mutating func restart(at now: UInt64) {
    self = SlidingWindow(length: length, at: now, totals: last)
  }

  /// An empty window of another length that goes on from the same totals.
  package func resized(to length: UInt64) -> SlidingWindow {
    SlidingWindow(length: length, at: present &* slotLength, totals: last)
  }

  private mutating func drop(_ number: UInt64) {
    let index = index(number)
    if slots[index].isEmpty { return }
    sum -= slots[index]
    slots[index] = SideCounts()
  }

  private func index(_ number: UInt64) -> Int { Int(number % UInt64(Self.slotCount)) }

  /// Seconds that the window holds by now: its length, unless it began later.
  package func seconds(at now: UInt64) -> Double {
    Double(Swift.min(length, now > begunAt ? now - begunAt : 0)) / 1e9
  }
}
