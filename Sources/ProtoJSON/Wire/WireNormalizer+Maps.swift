import Bytes
import ProtobufSchema

extension WireNormalizer {
  /// What one entry of a map says; both are the last of their kind.
  struct Entry {
    /// Where the key's value begins, behind its tag; nil for the default.
    var key: Int?
    /// Where the value begins; nil for the default.
    var value: Int?
    /// The parts of a message value.
    var parts: [Range<Int>] = []
  }

  /// Appends all neighbouring entries of a map.
  mutating func map(_ field: FieldPlan, _ reader: inout WireReader, into output: inout ByteBuffer) throws(Fault) {
    var keys = KeySet()
    defer { keys.close(&memory) }
    var start = reader.offset
    while true {
      let range = try reader.delimited()
      if tables.isNamed(field, entry: WireReader(bytes, range)) {
        let entry = try entry(field, range)
        let hash = try append(entry, of: field, range, into: &output)
        guard keys.insert(hash, &memory) else { throw scattered(start) }
      } else {
        keep(entryAt: range, of: field, into: &output)
      }
      guard reader.isNext(field.number) else { return }
      start = reader.offset
      var probe = WireReader(bytes, reader.offset..<reader.limit)
      guard try tag(&probe).type == .lengthDelimited else { return }
      _ = try tag(&reader)
    }
  }

  /// Reads an entry: a message with a key and a value, each of which may be missing, or there more than once.
  func entry(_ field: FieldPlan, _ range: Range<Int>) throws(Fault) -> Entry {
    let plan = tables.messages[Int(field.sub)]
    guard plan.keyField >= 0, plan.valueField >= 0 else {
      throw Fault(.wire, at: range.lowerBound, "a map with keys and values expected")
    }
    let key = tables.fields[Int(plan.keyField)]
    let value = tables.fields[Int(plan.valueField)]
    var entry = Entry()
    var reader = WireReader(bytes, range)
    while !reader.isAtEnd {
      let tag = try tag(&reader)
      let start = reader.offset
      if tag.number == 2, tag.type == value.wireType, !value.kind.isScalar {
        entry.parts.append(try reader.content(value))
      } else {
        try skip(tag, &reader)
        if tag.number == 1, tag.type == key.wireType { entry.key = start }
        if tag.number == 2, tag.type == value.wireType { entry.value = start }
      }
    }
    return entry
  }

  /// Keeps an entry as an unknown field.
  func keep(entryAt range: Range<Int>, of field: FieldPlan, into output: inout ByteBuffer) {
    guard unknownFields == .keep else { return }
    output.append(encodedTag: field.tag, length: field.tagLength)
    output.append(varint: UInt64(range.count))
    output.append(bytes.extracting(range))
  }

  /// Appends an entry with key and value.
  ///
  /// - Returns: a hash of the key.
  mutating func append(
    _ entry: Entry, of field: FieldPlan, _ range: Range<Int>, into output: inout ByteBuffer
  ) throws(Fault) -> UInt64 {
    let plan = tables.messages[Int(field.sub)]
    let key = tables.fields[Int(plan.keyField)]
    let value = tables.fields[Int(plan.valueField)]
    output.append(encodedTag: field.tag, length: field.tagLength)
    let body = output.beginLengthDelimited()
    try append(scalar: entry.key, key, range, into: &output)
    let hash = KeySet.hash(output.span.extracting(body..<output.count))
    do throws(Fault) {
      if value.kind.isScalar {
        try append(scalar: entry.value, value, range, into: &output)
      } else {
        try message(value, entry.parts, into: &output)
      }
    } catch {
      // The value is called by its key.
      throw error.inside(keyText(entry, key, range))
    }
    output.endLengthDelimited(body)
    return hash
  }

  /// Appends a key or scalar value with its tag, also when it is the default.
  private func append(
    scalar start: Int?, _ field: FieldPlan, _ range: Range<Int>, into output: inout ByteBuffer
  ) throws(Fault) {
    var reader = WireReader(bytes, (start ?? range.upperBound)..<range.upperBound)
    if field.kind == .string || field.kind == .bytes {
      try text(field, start == nil ? reader.offset..<reader.offset : try reader.delimited(), into: &output)
    } else {
      let raw = start == nil ? 0 : try reader.raw(field.wireType)
      output.append(encodedTag: field.tag, length: field.tagLength)
      output.append(field.kind.canonical(raw), field.wireType)
    }
  }

  /// The key of an entry in canonical bytes.
  func key(_ entry: Entry, of field: FieldPlan, _ range: Range<Int>) throws(Fault) -> [UInt8] {
    let key = tables.fields[Int(tables.messages[Int(field.sub)].keyField)]
    var found = ByteBuffer()
    try append(scalar: entry.key, key, range, into: &found)
    return found.bytes
  }

  /// The key as a person reads it, for a path.
  private func keyText(_ entry: Entry, _ key: FieldPlan, _ range: Range<Int>) -> String {
    guard let start = entry.key else { return key.kind == .string ? "" : "0" }
    return MapKeyText.text(key.kind, WireReader(bytes, start..<range.upperBound))
  }
}
