/// A set of small numbers (fields or oneofs of one message); the first 128 need no memory of their own.
struct SlotSet {
  private var first: UInt64 = 0
  private var second: UInt64 = 0
  private var more: [UInt64]?

  /// Whether the number was not there before.
  @inline(__always)
  mutating func insert(_ slot: Int, _ memory: inout RunMemory) -> Bool {
    if slot >= 128, more == nil { more = memory.takeWords() }
    return insert(slot)
  }

  /// Gives back what the set borrowed.
  @inline(__always)
  mutating func close(_ memory: inout RunMemory) {
    if more != nil, let words = more.take() { memory.give(words) }
  }

  /// The same with memory of its own.
  @inline(__always)
  mutating func insert(_ slot: Int) -> Bool {
    let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: slot & 63)
    if slot < 64 {
      if first & bit != 0 { return false }
      first |= bit
      return true
    }
    if slot < 128 {
      if second & bit != 0 { return false }
      second |= bit
      return true
    }
    return insertFar(slot, bit)
  }

  private mutating func insertFar(_ slot: Int, _ bit: UInt64) -> Bool {
    let word = slot / 64 - 2
    var words = more ?? []
    more = nil
    while words.count <= word { words.append(0) }
    let isNew = words[word] & bit == 0
    words[word] |= bit
    more = words
    return isNew
  }

  func contains(_ slot: Int) -> Bool {
    let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: slot & 63)
    switch slot {
    case ..<64: return first & bit != 0
    case ..<128: return second & bit != 0
    default:
      let word = slot / 64 - 2
      guard let more, word < more.count else { return false }
      return more[word] & bit != 0
    }
  }
}
