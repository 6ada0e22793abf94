import ProtobufSchema

/// The records of one message on the wire, in a list for each field, while they are put in order. It keeps its memory.
final class FieldRecords {
  struct Record {
    let tag: WireTag
    /// With the tag.
    let whole: Range<Int>
    /// The content of a message or group, else the value.
    let content: Range<Int>
    /// The next one of the field; -1 at the end.
    fileprivate(set) var next: Int32 = -1
  }

  private(set) var records: [Record] = []
  /// By index of the field; -1 for none.
  private var first: [Int32] = []
  private var last: [Int32] = []
  /// By index of the oneof: the field that is set; -1 for none.
  private var chosen: [Int32] = []

  // Of the map that is put in order.
  /// The places by the hash of their key; -1 for an empty slot.
  private var slots: [Int32] = []
  private var hashes: [UInt64] = []
  /// The record of each place.
  private(set) var places: [Int32] = []

  private static let maximumKept = 1 << 14

  func begin(fields: Int) {
    records.removeAll(keepingCapacity: records.capacity <= Self.maximumKept)
    Self.fill(&first, fields)
    Self.fill(&last, fields)
    Self.fill(&chosen, fields)
  }

  private static func fill(_ list: inout [Int32], _ count: Int) {
    list.removeAll(keepingCapacity: list.capacity <= maximumKept)
    for _ in 0..<count { list.append(-1) }
  }

  /// Adds a record of a field; of a oneof the last member alone is kept.
  func append(_ tag: WireTag, _ whole: Range<Int>, _ content: Range<Int>, field: Int, oneof: Int) {
    if oneof >= 0 {
      let other = Int(chosen[oneof])
      if other >= 0, other != field { (first[other], last[other]) = (-1, -1) }
      chosen[oneof] = Int32(truncatingIfNeeded: field)
    }
    let index = Int32(truncatingIfNeeded: records.count)
    records.append(Record(tag: tag, whole: whole, content: content))
    if first[field] < 0 { first[field] = index } else { records[Int(last[field])].next = index }
    last[field] = index
  }

  /// The first and the last record of a field; nil when it has none.
  func ends(of field: Int) -> (first: Int, last: Int)? {
    first[field] < 0 ? nil : (Int(first[field]), Int(last[field]))
  }

  // MARK: Maps

  func beginMap() {
    hashes.removeAll(keepingCapacity: hashes.capacity <= Self.maximumKept)
    places.removeAll(keepingCapacity: places.capacity <= Self.maximumKept)
    Self.fill(&slots, 32)
  }

  /// Where to look for a key first.
  func slot(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (slots.count &- 1) }

  /// The record of a key that may be the same, from a slot on; nil when there is none: then the slot is free.
  func candidate(_ hash: UInt64, at slot: inout Int) -> Int? {
    while slots[slot] >= 0 {
      let place = Int(slots[slot])
      if hashes[place] == hash { return Int(places[place]) }
      slot = next(slot)
    }
    return nil
  }

  func next(_ slot: Int) -> Int { (slot &+ 1) & (slots.count &- 1) }

  /// Another record takes the place of the one that a slot leads to.
  func replace(at slot: Int, with record: Int) { places[Int(slots[slot])] = Int32(truncatingIfNeeded: record) }

  /// A key that was not there before.
  func add(_ record: Int, _ hash: UInt64, at slot: Int) {
    slots[slot] = Int32(truncatingIfNeeded: places.count)
    places.append(Int32(truncatingIfNeeded: record))
    hashes.append(hash)
    if places.count &* 2 > slots.count { growMap() }
  }

  private func growMap() {
    Self.fill(&slots, slots.count &* 2)
    for place in hashes.indices {
      let hash = hashes[place]
      var at = slot(of: hash)
      while slots[at] >= 0 { at = next(at) }
      slots[at] = Int32(truncatingIfNeeded: place)
    }
  }
}
