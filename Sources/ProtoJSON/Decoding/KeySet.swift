/// The keys of one map, as 64-bit hashes; the first 16 need no memory of their own.
struct KeySet {
  private var few = InlineArray<16, UInt64>(repeating: 0)
  private var count = 0
  private var many: HashTable?

  /// Whether no key with this hash was there before.
  @inline(__always)
  mutating func insert(_ hash: UInt64, _ memory: inout RunMemory) -> Bool {
    if count == 16, many == nil { many = memory.takeTable() }
    return insert(hash)
  }

  /// Gives back what the set borrowed.
  mutating func close(_ memory: inout RunMemory) {
    if let table = many.take() { memory.give(table) }
  }

  /// The same with memory of its own.
  mutating func insert(_ hash: UInt64) -> Bool {
    if count < 16 {
      for index in 0..<count where few[index] == hash { return false }
      few[count] = hash
      count &+= 1
      return true
    }
    let table = many ?? HashTable()
    many = table
    if count == 16 {
      for index in 0..<16 { _ = table.insert(few[index]) }
      count = 17
    }
    return table.insert(hash)
  }

  @inline(__always)
  private static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let product = (state ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    return product.high ^ product.low ^ 0xE703_7ED1_A0B4_28DB
  }

  /// Of this process alone: with a hash that is known, thousands of keys could be chosen that fall on one place of a table.
  private static let seed = UInt64.random(in: .min ... .max)

  /// A hash of all bytes in which an accidental collision is as good as impossible.
  static func hash(_ bytes: Span<UInt8>) -> UInt64 {
    // The length spreads over all bits, so that no word of a key can undo it.
    var state = (UInt64(truncatingIfNeeded: bytes.count) &+ 1) &* 0x9E37_79B9_7F4A_7C15 ^ seed
    var index = 0
    while bytes.count &- index > 8 {
      state = mix(state, bytes.word(at: index, length: 8))
      index &+= 8
    }
    // The last word overlaps the one before, so that it is whole; the length tells such keys apart.
    if bytes.count >= 8 {
      state = mix(state, bytes.word(at: bytes.count &- 8, length: 8))
    } else if bytes.count >= 4 {
      let last = bytes.count &- 4
      let first = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let second = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: last, as: UInt32.self)
      state = mix(state, UInt64(first) | UInt64(second) << 32)
    } else {
      state = mix(state, bytes.word(at: 0, length: bytes.count))
    }
    let product = state.multipliedFullWidth(by: 0x8EBC_6AF0_9C88_C6E3)
    return product.high ^ product.low
  }
}
