import Bytes

/// Finds names by their bytes: an open-addressed table over names that are each there once.
struct NameIndex: Sendable {
  private let bytes: [UInt8]
  /// Where each name lies in ``bytes``.
  private let ranges: [Range<Int>]
  /// Indices of names; -1 for an empty slot.
  private let slots: [Int32]

  init(_ names: [String]) {
    var bytes: [UInt8] = []
    var ranges: [Range<Int>] = []
    for name in names {
      let start = bytes.count
      bytes += name.utf8
      ranges.append(start..<bytes.count)
    }
    var size = 8
    while size < names.count * 2 { size *= 2 }
    var slots = [Int32](repeating: -1, count: size)
    for (index, range) in ranges.enumerated() {
      var at = Self.hash(bytes.span.extracting(range)) & (size - 1)
      while slots[at] >= 0 { at = (at + 1) & (size - 1) }
      slots[at] = Int32(truncatingIfNeeded: index)
    }
    self.bytes = bytes
    self.ranges = ranges
    self.slots = slots
  }

  func index(of name: Span<UInt8>) -> Int? {
    let mask = slots.count &- 1
    var at = Self.hash(name) & mask
    while slots[at] >= 0 {
      let index = Int(slots[at])
      if ASCII.equal(bytes.span.extracting(ranges[index]), name) { return index }
      at = (at &+ 1) & mask
    }
    return nil
  }

  /// FNV-1a: the names in the table are the schema's, so nobody can choose colliding ones to any harm.
  private static func hash(_ name: Span<UInt8>) -> Int {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in name.indices { hash = (hash ^ UInt64(name[index])) &* 0x100_0000_01B3 }
    return Int(truncatingIfNeeded: (hash ^ (hash >> 32)) & 0x7FFF_FFFF_FFFF)
  }
}
