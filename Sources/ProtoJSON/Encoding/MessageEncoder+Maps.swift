import Bytes
import ProtobufSchema

extension MessageEncoder {
  /// Writes all neighbouring entries of a map as one object.
  mutating func map(
    _ field: FieldPlan, _ reader: inout WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    let entry = tables.messages[Int(field.sub)]
    guard entry.keyField >= 0, entry.valueField >= 0 else {
      throw Fault(.wire, at: reader.offset, "a map with keys and values expected")
    }
    let key = tables.fields[Int(entry.keyField)]
    let value = tables.fields[Int(entry.valueField)]
    let before = output.count
    name(field, into: &output)
    output.append(UInt8(ascii: "{"))
    let empty = output.count
    var keys = KeySet()
    while true {
      let range = try reader.delimited()
      if !value.isClosed || tables.isNamed(field, entry: WireReader(reader.bytes, range)) {
        if output.count != empty { output.append(UInt8(ascii: ",")) }
        if try !plainEntry(key, value, reader.bytes, range, &keys, into: &output) {
          try self.entry(field, WireReader(reader.bytes, range), &keys, into: &output)
        }
      }
      try checkSize(output, reader.offset)
      if reader.skipTag(of: field) { continue }
      guard try Self.isAnotherEntry(field, &reader) else { break }
    }
    if output.count == empty {
      // Each value was one that the closed enum lacks.
      output.truncate(to: before)
      guard profile.emitDefaults else { return keys.close(&memory) }
      name(field, into: &output)
      output.append(UInt8(ascii: "{"))
    }
    output.append(UInt8(ascii: "}"))
    keys.close(&memory)
  }

  /// Steps over the tag of the next entry if it follows; other wire types under the number are unknown fields.
  private static func isAnotherEntry(_ field: FieldPlan, _ reader: inout WireReader) throws(Fault) -> Bool {
    do {
      while reader.isNext(field.number) {
        let tag = try reader.readTag()
        if tag.type == .lengthDelimited { return true }
        try reader.skip(tag)
      }
    } catch {
      throw Fault(error)
    }
    return false
  }

  /// Writes an entry whose key is a text, if it has its key and its value in this order and nothing else, as nearly every
  /// serializer writes it.
  ///
  /// - Returns: false for other entries, of which nothing is written: ``entry(_:_:_:into:)`` reads them.
  @inline(__always)
  private mutating func plainEntry(
    _ key: FieldPlan, _ value: FieldPlan, _ bytes: Span<UInt8>, _ entry: Range<Int>, _ keys: inout KeySet,
    into output: inout ByteBuffer
  ) throws(Fault) -> Bool {
    var reader = WireReader(bytes, entry)
    guard key.kind == .string, reader.skipTag(of: key), let name = try? reader.readLengthDelimited(),
      reader.skipTag(of: value)
    else { return false }
    let start = reader.offset
    var content = start..<start
    if value.wireType == .lengthDelimited {
      guard let range = try? reader.readLengthDelimited() else { return false }
      content = range
    } else {
      guard (try? reader.skip(WireTag(number: 2, type: value.wireType))) != nil else { return false }
    }
    guard reader.isAtEnd else { return false }
    if value.kind == .string,
      JSONStringWriting.writePair(reader.bytes.extracting(name), reader.bytes.extracting(content), into: &output)
    {
      try note(reader.bytes.extracting(name), entry.lowerBound, &keys)
      return true
    }
    try textKey(reader.bytes, name, entry.lowerBound, &keys, into: &output)
    output.append(UInt8(ascii: ":"))
    do throws(Fault) {
      if value.kind == .string {
        try text(value, reader.bytes.extracting(content), at: content.lowerBound, into: &output)
      } else {
        try entryValue(value, WireReader(reader.bytes, start..<entry.upperBound), into: &output)
      }
    } catch {
      throw mayFollow(error) ? error : error.inside(MapKeyText.text(reader.bytes.extracting(name)))
    }
    return true
  }

  /// Writes a key that is a text and notes it.
  ///
  /// - Parameter entry: where its entry begins.
  @inline(__always)
  private mutating func textKey(
    _ bytes: Span<UInt8>, _ range: Range<Int>, _ entry: Int, _ keys: inout KeySet, into output: inout ByteBuffer
  ) throws(Fault) {
    let name = bytes.extracting(range)
    if let bad = JSONStringWriting.write(name, into: &output) { throw malformed(range.lowerBound &+ bad) }
    try note(name, entry, &keys)
  }

  /// Notes a key that is a text. In the careful run equal keys were made one already.
  @inline(__always)
  private mutating func note(_ name: Span<UInt8>, _ entry: Int, _ keys: inout KeySet) throws(Fault) {
    if !isCareful, !keys.insert(KeySet.mark(name), &memory) { throw scattered(entry) }
  }

  /// Writes `"key":value` of one entry; what it lacks is its default.
  private mutating func entry(
    _ field: FieldPlan, _ source: WireReader, _ keys: inout KeySet, into output: inout ByteBuffer
  ) throws(Fault) {
    if isCareful, !tables.isInOrder(tables.messages[Int(field.sub)], source, &memory) {
      var ordered = memory.takeBuffer()
      defer { memory.give(&ordered) }
      try order(Int(field.sub), source, into: &ordered)
      let span = ordered.span
      do throws(Fault) {
        try orderedEntry(field, WireReader(span), &keys, into: &output)
      } catch {
        throw error.moved(to: source.offset)
      }
    } else {
      try orderedEntry(field, source, &keys, into: &output)
    }
  }

  private mutating func orderedEntry(
    _ field: FieldPlan, _ source: WireReader, _ keys: inout KeySet, into output: inout ByteBuffer
  ) throws(Fault) {
    let plan = tables.messages[Int(field.sub)]
    let key = tables.fields[Int(plan.keyField)]
    let value = tables.fields[Int(plan.valueField)]
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    var keyAt: Int?
    var valueAt: Int?
    while !reader.isAtEnd {
      let start = reader.offset
      let tag: WireTag
      do { tag = try reader.readTag() } catch { throw Fault(error) }
      if tag.number == 1, tag.type == key.wireType {
        if keyAt != nil { throw scattered(start) }
        keyAt = reader.offset
      } else if tag.number == 2, tag.type == value.wireType {
        if valueAt != nil { throw scattered(start) }
        valueAt = reader.offset
      }
      do { try reader.skip(tag) } catch { throw Fault(error) }
    }
    try writeKey(key, reader.bytes, keyAt, source, &keys, into: &output)
    output.append(UInt8(ascii: ":"))
    do throws(Fault) {
      if let valueAt {
        try entryValue(value, WireReader(reader.bytes, valueAt..<source.limit), into: &output)
      } else {
        try emptyValue(value, WireReader(reader.bytes, source.limit..<source.limit), into: &output)
      }
    } catch {
      if mayFollow(error) { throw error }
      // The value is called by its key.
      let text = keyAt.map { MapKeyText.text(key.kind, WireReader(reader.bytes, $0..<source.limit)) }
      throw error.inside(text ?? (key.kind == .string ? "" : "0"))
    }
  }

  private mutating func entryValue(
    _ value: FieldPlan, _ source: WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    switch value.kind {
    case .string, .bytes:
      let range = try reader.delimited()
      try text(value, reader.bytes.extracting(range), at: range.lowerBound, into: &output)
    case .message, .group, .any, .timestamp, .duration, .fieldMask, .structure, .value, .listValue, .wrapper, .item:
      let range = try reader.content(value)
      try self.value(value.kind, Int(value.sub), WireReader(reader.bytes, range), omit: 0, level: 0, into: &output)
    default: scalar(try reader.raw(value.wireType), value, into: &output)
    }
  }

  private mutating func writeKey(
    _ key: FieldPlan, _ bytes: Span<UInt8>, _ start: Int?, _ entry: WireReader, _ keys: inout KeySet,
    into output: inout ByteBuffer
  ) throws(Fault) {
    var reader = WireReader(bytes, (start ?? entry.limit)..<entry.limit)
    if key.kind == .string {
      let range = start == nil ? entry.limit..<entry.limit : try reader.delimited()
      return try textKey(bytes, range, entry.offset, &keys, into: &output)
    }
    let before = output.count
    let raw = start == nil ? 0 : try reader.raw(key.wireType)
    output.append(0x22)
    switch key.kind {
    case .int64, .sfixed64, .uint64, .fixed64, .sint64: Self.bare64(raw, key.kind, into: &output)
    default: number(raw, key.kind, into: &output)
    }
    output.append(0x22)
    // Equal keys have equal texts, however long their varints are.
    if !isCareful, !keys.insert(KeySet.mark(output.span.extracting(before..<output.count)), &memory) {
      throw scattered(entry.offset)
    }
  }

  /// The value of an entry without one: the default, a message without fields.
  private mutating func emptyValue(
    _ value: FieldPlan, _ nothing: WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    switch value.kind {
    case .enumeration: enumeration(0, Int(value.sub), into: &output)
    case .value: output.append("null")
    case let kind where kind.isScalar: defaultValue(value, into: &output)
    default: try self.value(value.kind, Int(value.sub), nothing, omit: 0, level: 0, into: &output)
    }
  }
}
