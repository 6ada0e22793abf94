/// A set of 64-bit hashes that keeps its memory.
final class HashTable {
  /// 0 for an empty slot.
  private var slots: [UInt64] = []
  private var hasZero = false
  private var count = 0

  /// Slots beyond which the memory is not kept, and those that a small set may leave unused.
  private static let maximumKept = 1 << 16
  private static let initial = 64

  /// Whether the hash was not there before.
  func insert(_ hash: UInt64) -> Bool {
    if hash == 0 {
      defer { hasZero = true }
      return !hasZero
    }
    if count &* 2 >= slots.count { grow() }
    guard place(hash) else { return false }
    count &+= 1
    return true
  }

  private func place(_ hash: UInt64) -> Bool {
    let mask = slots.count &- 1
    var at = Int(truncatingIfNeeded: hash) & mask
    while slots[at] != 0 {
      if slots[at] == hash { return false }
      at = (at &+ 1) & mask
    }
    slots[at] = hash
    return true
  }

  private func grow() {
    let before = slots
    slots = Array(repeating: 0, count: Swift.max(Self.initial, before.count &* 2))
    for hash in before where hash != 0 { _ = place(hash) }
  }

  /// Forgets all; memory is kept as long as clearing it costs no more than filling it did.
  func removeAll() {
    if slots.count > Self.maximumKept || slots.count > Self.initial && count &* 16 < slots.count {
      slots = []
    } else if count > 0 {
      for index in slots.indices { slots[index] = 0 }
    }
    count = 0
    hasZero = false
  }
}
