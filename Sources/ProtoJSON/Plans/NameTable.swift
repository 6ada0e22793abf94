/// A name boiled down to what almost always tells it from others: first and last eight bytes, and the length.
///
/// Up to 16 bytes the key is the whole name.
struct NameKey {
  var first: UInt64
  var last: UInt64
  /// Where the whole name lies in the text pool.
  var offset: Int32
  var length: Int32

  /// The slot at which a search begins, before masking.
  @inline(__always)
  var hash: Int {
    let mixed = (first ^ (last &* 0x9E37_79B9_7F4A_7C15) ^ UInt64(truncatingIfNeeded: length)) &* 0xD6E8_FEB8_6659_FD93
    return Int(truncatingIfNeeded: mixed >> 33)
  }

  /// The key of no name.
  init() {
    first = 0
    last = 0
    offset = 0
    length = 0
  }

  @inline(__always)
  init(_ bytes: Span<UInt8>, at start: Int, length: Int, offset: Int32 = 0) {
    first = bytes.word(at: start, length: length)
    last = length > 8 ? bytes.word(at: start &+ length &- 8, length: 8) : 0
    self.offset = offset
    self.length = Int32(truncatingIfNeeded: length)
  }
}

/// One slot of a name table.
struct NameSlot {
  var key: NameKey
  /// Global field index, or enum number.
  var target: Int32
  var isUsed: Bool

  static let empty = NameSlot(key: NameKey(), target: 0, isUsed: false)
}

extension Span where Element == UInt8 {
  /// Up to eight bytes as a number, the first in the lowest byte, missing ones zero.
  @inline(__always)
  func word(at start: Int, length: Int) -> UInt64 {
    guard start >= 0, start <= count else { return 0 }
    if count &- start >= 8 {
      let word = UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
      if length >= 8 { return word }
      return length <= 0 ? 0 : word & ((1 &<< UInt64(length &* 8)) &- 1)
    }
    var word: UInt64 = 0
    var index = 0
    let wanted = Swift.min(length, count &- start)
    while index < wanted && index < 8 {
      word |= UInt64(self[start &+ index]) &<< UInt64(index &* 8)
      index &+= 1
    }
    return word
  }
}

/// Builds the slots of one table behind those of others.
struct NameTableBuilder {
  private(set) var names: [(name: [UInt8], target: Int32)] = []
  private var known: Set<[UInt8]> = []

  /// Adds a name; the first of two equal ones stays.
  mutating func insert(_ name: String, _ target: Int32) {
    let bytes = Array(name.utf8)
    guard bytes.count < 65_536, known.insert(bytes).inserted else { return }
    names.append((bytes, target))
  }

  /// Appends the slots and the names' text.
  ///
  /// - Returns: where the slots begin, and the mask of a hash.
  func build(into slots: inout [NameSlot], text: inout [UInt8]) -> (start: Int32, mask: Int32) {
    var size = 2
    while size < names.count * 2 { size *= 2 }
    let start = slots.count
    slots.append(contentsOf: repeatElement(NameSlot.empty, count: size))
    for (name, target) in names {
      let key = NameKey(name.span, at: 0, length: name.count, offset: Int32(text.count))
      text.append(contentsOf: name)
      var slot = key.hash & (size - 1)
      while slots[start + slot].isUsed { slot = (slot + 1) & (size - 1) }
      slots[start + slot] = NameSlot(key: key, target: target, isUsed: true)
    }
    return (Int32(start), Int32(size - 1))
  }
}
