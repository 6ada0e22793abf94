/// The keys of one map, as 64-bit marks; the first 16 need no memory of their own.
struct KeySet {
  private var few = InlineArray<16, UInt64>(repeating: 0)
  private var count = 0
  private var many: HashTable?

  /// Whether no key with this mark was there before.
  @inline(__always)
  mutating func insert(_ mark: UInt64, _ memory: inout RunMemory) -> Bool {
    if count == 16, many == nil { many = memory.takeTable() }
    return insert(mark)
  }

  /// Gives back what the set borrowed.
  mutating func close(_ memory: inout RunMemory) {
    if let table = many.take() { memory.give(table) }
  }

  /// The same with memory of its own.
  mutating func insert(_ mark: UInt64) -> Bool {
    if count < 16 {
      for index in 0..<count where few[index] == mark { return false }
      few[count] = mark
      count &+= 1
      return true
    }
    return insertMany(mark)
  }

  @inline(never)
  private mutating func insertMany(_ mark: UInt64) -> Bool {
    let table = many ?? HashTable()
    many = table
    // Who chooses short keys chooses their marks: in a table they are spread as the others are.
    if count == 16 {
      for index in 0..<16 { _ = table.insert(Self.mix(Self.seed, few[index])) }
      count = 17
    }
    return table.insert(Self.mix(Self.seed, mark))
  }

  @inline(__always)
  private static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let product = (state ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    return product.high ^ product.low ^ 0xE703_7ED1_A0B4_28DB
  }

  /// Of this process alone: with a hash that is known, thousands of keys could be chosen that fall on one place of a table.
  private static let seed = UInt64.random(in: .min ... .max)

  /// Tells a key from others. Keys of less than eight bytes are their own marks, with their length; of longer ones it is
  /// a hash.
  @inline(__always)
  static func mark(_ bytes: Span<UInt8>) -> UInt64 {
    let count = bytes.count
    guard count < 8 else { return longHash(bytes) }
    let length = UInt64(truncatingIfNeeded: count) << 56
    if count >= 4 {
      // Both halves, the second where it belongs: bytes that are in both are the same.
      let last = count &- 4
      let first = UInt32(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self))
      let second = UInt32(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: last, as: UInt32.self))
      return length | UInt64(first) | UInt64(second) &<< UInt64(truncatingIfNeeded: last &* 8)
    }
    guard count > 0 else { return 0 }
    let middle = count &>> 1
    return length | UInt64(bytes[0]) | UInt64(bytes[middle]) &<< UInt64(truncatingIfNeeded: middle &* 8)
      | UInt64(bytes[count &- 1]) &<< UInt64(truncatingIfNeeded: (count &- 1) &* 8)
  }

  /// For a table: a hash of all bytes in which an accidental collision is as good as impossible, and that nobody can choose.
  static func hash(_ bytes: Span<UInt8>) -> UInt64 {
    bytes.count < 8 ? mix(seed, mark(bytes)) : longHash(bytes)
  }

  private static func longHash(_ bytes: Span<UInt8>) -> UInt64 {
    // The length spreads over all bits, so that no word of a key can undo it.
    var state = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15 ^ seed
    var index = 0
    while bytes.count &- index > 8 {
      state = mix(state, bytes.word(at: index, length: 8))
      index &+= 8
    }
    // The last word overlaps the one before, so that it is whole; the length tells such keys apart.
    state = mix(state, bytes.word(at: bytes.count &- 8, length: 8))
    let product = state.multipliedFullWidth(by: 0x8EBC_6AF0_9C88_C6E3)
    return product.high ^ product.low
  }
}
