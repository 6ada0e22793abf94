import Bytes
import ProtobufSchema

/// Messages whose fields are not in one place each, by the rules by which protobuf merges.
extension WireNormalizer {
  /// The fields of one message, sorted: the slot in the upper half, where the tag begins in the lower.
  private struct Records {
    var all: [UInt64] = []
    /// By oneof: the slot of the member that came last, and where its values begin to count.
    var chosen: [Int32: (slot: Int, since: Int)] = [:]

    mutating func add(_ slot: Int, at offset: Int) {
      all.append(UInt64(truncatingIfNeeded: slot) << 32 | UInt64(truncatingIfNeeded: offset))
    }

    mutating func choose(_ slot: Int, of oneof: Int32, at offset: Int) {
      if chosen[oneof]?.slot != slot { chosen[oneof] = (slot, offset) }
    }
  }

  private static var unknown: Int { 0xFFFF_FFFF }

  /// Appends the fields of all parts in the order of their declaration, unknown ones last.
  mutating func merge(_ plan: MessagePlan, _ parts: [Range<Int>], into output: inout ByteBuffer) throws(Fault) {
    var records = Records()
    for part in parts { try collect(plan, part, &records) }
    records.all.sort()
    var present = SlotSet()
    var index = 0
    while index < records.all.count {
      let slot = Int(truncatingIfNeeded: records.all[index] >> 32)
      var offsets: [Int] = []
      while index < records.all.count, Int(truncatingIfNeeded: records.all[index] >> 32) == slot {
        offsets.append(Int(truncatingIfNeeded: records.all[index] & 0xFFFF_FFFF))
        index &+= 1
      }
      if slot == Self.unknown {
        try keep(unknownAt: offsets, into: &output)
        continue
      }
      let field = tables.fields[Int(plan.fieldsStart) + slot]
      if let chosen = records.chosen[field.oneof] {
        guard chosen.slot == slot else { continue }
        offsets.removeAll { $0 < chosen.since }
      }
      _ = present.insert(slot)
      do throws(Fault) {
        try append(field, offsets, into: &output)
      } catch {
        throw error.inside(tables.label(field))
      }
    }
    try requireAll(plan, present, parts.first?.lowerBound ?? 0)
  }

  private func collect(_ plan: MessagePlan, _ part: Range<Int>, _ records: inout Records) throws(Fault) {
    var reader = WireReader(bytes, part)
    while !reader.isAtEnd {
      let start = reader.offset
      let tag = try tag(&reader)
      if plan.isMessageSet {
        let item = try item(tag, &reader)
        let index = item.map { tables.field(number: $0.type, of: plan) } ?? -1
        records.add(index < 0 ? Self.unknown : index - Int(plan.fieldsStart), at: start)
        continue
      }
      let index = tables.field(number: tag.number, of: plan)
      let isKnown =
        index >= 0 && tables.fields[index].accepts(tag.type) && tables.isNamed(tables.fields[index], valueAt: reader)
      try skip(tag, &reader)
      guard isKnown else {
        records.add(Self.unknown, at: start)
        continue
      }
      let field = tables.fields[index]
      records.add(Int(field.index), at: start)
      if field.oneof >= 0 { records.choose(Int(field.index), of: field.oneof, at: start) }
    }
  }

  private func item(_ tag: WireTag, _ reader: inout WireReader) throws(Fault) -> MessageSetItem? {
    do { return try MessageSetItem(tag, &reader) } catch { throw Fault(error) }
  }

  private func keep(unknownAt offsets: [Int], into output: inout ByteBuffer) throws(Fault) {
    for offset in offsets {
      var reader = WireReader(bytes, offset..<bytes.count)
      try skip(try tag(&reader), &reader)
      keep(offset..<reader.offset, into: &output)
    }
  }

  // MARK: One field

  /// Appends one field from all places where its tags begin.
  private mutating func append(_ field: FieldPlan, _ offsets: [Int], into output: inout ByteBuffer) throws(Fault) {
    switch field.shape {
    case .repeated, .packed:
      var list = OpenList(field, in: &output)
      for offset in offsets {
        var reader = WireReader(bytes, offset..<bytes.count)
        try values(of: &list, try tag(&reader), &reader, into: &output)
      }
      close(list, into: &output)
    case .map: try append(map: field, offsets, into: &output)
    case .singular where field.kind.isScalar:
      guard let last = offsets.last else { return }
      var reader = WireReader(bytes, last..<bytes.count)
      _ = try tag(&reader)
      try singular(field, &reader, into: &output)
    case .singular:
      var parts: [Range<Int>] = []
      for offset in offsets { parts.append(try part(of: field, at: offset)) }
      try message(field, parts, into: &output)
    }
  }

  /// The content of a message, group or item of a message set whose tag begins here.
  private func part(of field: FieldPlan, at offset: Int) throws(Fault) -> Range<Int> {
    var reader = WireReader(bytes, offset..<bytes.count)
    let tag = try tag(&reader)
    guard field.kind == .item else { return try reader.content(field) }
    return try item(tag, &reader)?.content ?? offset..<offset
  }

  private mutating func append(
    map field: FieldPlan, _ offsets: [Int], into output: inout ByteBuffer
  ) throws(Fault) {
    // The place of a key is where it came first, its value the last one.
    var places: [[UInt8]: Int] = [:]
    var entries: [(entry: Entry, range: Range<Int>)] = []
    var unnamed: [Range<Int>] = []
    for offset in offsets {
      let range = try part(of: field, at: offset)
      guard tables.isNamed(field, entry: WireReader(bytes, range)) else {
        unnamed.append(range)
        continue
      }
      let entry = try entry(field, range)
      let key = try key(entry, of: field, range)
      if let place = places[key] {
        entries[place] = (entry, range)
      } else {
        places[key] = entries.count
        entries.append((entry, range))
      }
    }
    for (entry, range) in entries { _ = try append(entry, of: field, range, into: &output) }
    for range in unnamed { keep(entryAt: range, of: field, into: &output) }
  }
}
