import Bytes
import ProtobufSchema

/// Putting the fields of a message in order, by the rules by which protobuf merges.
extension MessageEncoder {
  /// Appends the known fields, each in one place: the last of a singular one, messages merged, the last member of a
  /// oneof, the last entry of a map key. Unknown fields are left out.
  ///
  /// - Parameter only: the one field to keep; nil for all.
  mutating func order(
    _ message: Int, _ source: WireReader, only: FieldPlan? = nil, into output: inout ByteBuffer
  ) throws(Fault) {
    let plan = tables.messages[message]
    let records = memory.fieldRecords()
    records.begin(fields: Int(plan.fieldsEnd - plan.fieldsStart))
    try collect(plan, source, into: records)
    // Each level of a message that is scattered all the way down copies all that is inside of it.
    ordered &+= source.limit &- source.offset
    guard ordered <= maximumCount else {
      throw Fault(.range, at: source.offset, "fields in one place each expected in a message of this size and depth")
    }
    for index in 0..<Int(plan.fieldsEnd - plan.fieldsStart) {
      if let only, Int(only.index) != index { continue }
      guard let ends = records.ends(of: index) else { continue }
      append(tables.fields[Int(plan.fieldsStart) + index], records, ends, source.bytes, into: &output)
    }
  }

  private mutating func collect(
    _ plan: MessagePlan, _ source: WireReader, into records: FieldRecords
  ) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    while !reader.isAtEnd {
      let start = reader.offset
      let tag: WireTag
      do { tag = try reader.readTag() } catch { throw Fault(error) }
      let index = tables.field(number: tag.number, of: plan)
      guard index >= 0, tables.fields[index].accepts(tag.type), tables.isNamed(tables.fields[index], valueAt: reader)
      else {
        do { try reader.skip(tag) } catch { throw Fault(error) }
        continue
      }
      let field = tables.fields[index]
      var content = reader.offset..<reader.offset
      do throws(WireError) {
        switch tag.type {
        case .startGroup: content = try reader.readGroup(tag.number)
        case .lengthDelimited: content = try reader.readLengthDelimited()
        default:
          try reader.skip(tag)
          content = content.lowerBound..<reader.offset
        }
      } catch {
        throw Fault(error).inside(place(of: field, behind: records, source.bytes))
      }
      if field.shape == .map, !tables.isNamed(field, entry: WireReader(reader.bytes, content)) { continue }
      records.append(
        tag, start..<reader.offset, content, field: Int(field.index), oneof: Int(field.oneof))
    }
  }

  /// The step of a path to the value of a field that would come next.
  private func place(of field: FieldPlan, behind records: FieldRecords, _ bytes: Span<UInt8>) -> String {
    let label = tables.label(field)
    guard field.shape == .repeated || field.shape == .packed else { return label }
    var count = 0
    var next = records.ends(of: Int(field.index))?.first ?? -1
    while next >= 0 {
      let record = records.records[next]
      next = Int(record.next)
      guard record.tag.type == .lengthDelimited, field.kind.isPackable else {
        count &+= 1
        continue
      }
      var packed = WireReader(bytes, record.content)
      while !packed.isAtEnd, (try? packed.raw(field.wireType)) != nil { count &+= 1 }
    }
    return "\(label)[\(count)]"
  }

  private mutating func append(
    _ field: FieldPlan, _ list: FieldRecords, _ ends: (first: Int, last: Int), _ bytes: Span<UInt8>,
    into output: inout ByteBuffer
  ) {
    switch field.shape {
    case .repeated, .packed: appendAll(list, ends.first, bytes, wholly: true, into: &output)
    case .map: appendMap(field, list, ends.first, bytes, into: &output)
    case .singular where field.kind.isScalar || ends.first == ends.last:
      output.append(bytes.extracting(list.records[ends.last].whole))
    case .singular:
      output.append(encodedTag: field.tag, length: field.tagLength)
      if field.kind == .group {
        appendAll(list, ends.first, bytes, wholly: false, into: &output)
        output.append(encodedTag: field.endGroupTag, length: field.tagLength)
      } else {
        let start = output.beginLengthDelimited()
        appendAll(list, ends.first, bytes, wholly: false, into: &output)
        output.endLengthDelimited(start)
      }
    }
  }

  /// - Parameter wholly: whether with their tags.
  private func appendAll(
    _ list: FieldRecords, _ first: Int, _ bytes: Span<UInt8>, wholly: Bool, into output: inout ByteBuffer
  ) {
    var next = first
    while next >= 0 {
      let record = list.records[next]
      output.append(bytes.extracting(wholly ? record.whole : record.content))
      next = Int(record.next)
    }
  }

  /// The place of a key is where it came first, its value the last one.
  private mutating func appendMap(
    _ field: FieldPlan, _ list: FieldRecords, _ first: Int, _ bytes: Span<UInt8>, into output: inout ByteBuffer
  ) {
    list.beginMap()
    var key = memory.takeBuffer()
    var other = memory.takeBuffer()
    var next = first
    while next >= 0 {
      let record = list.records[next]
      self.key(of: field, bytes, record.content, into: &key)
      let hash = KeySet.hash(key.span)
      var slot = list.slot(of: hash)
      var isKnown = false
      while !isKnown, let known = list.candidate(hash, at: &slot) {
        self.key(of: field, bytes, list.records[known].content, into: &other)
        isKnown = ASCII.equal(key.span, other.span)
        if !isKnown { slot = list.next(slot) }
      }
      if isKnown { list.replace(at: slot, with: next) } else { list.add(next, hash, at: slot) }
      next = Int(record.next)
    }
    memory.give(&key)
    memory.give(&other)
    for place in list.places { output.append(bytes.extracting(list.records[Int(place)].whole)) }
  }

  /// The last key of an entry in one spelling; empty for the default.
  private func key(
    of field: FieldPlan, _ bytes: Span<UInt8>, _ entry: Range<Int>, into found: inout ByteBuffer
  ) {
    found.removeAll()
    let plan = tables.messages[Int(field.sub)]
    guard plan.keyField >= 0 else { return }
    let key = tables.fields[Int(plan.keyField)]
    var reader = WireReader(bytes, entry)
    // A malformed entry fails when it is written.
    while !reader.isAtEnd, let tag = try? reader.readTag() {
      guard tag.number == 1, tag.type == key.wireType else {
        guard (try? reader.skip(tag)) != nil else { break }
        continue
      }
      found.removeAll()
      if tag.type == .lengthDelimited {
        guard let range = try? reader.readLengthDelimited() else { break }
        found.append(bytes.extracting(range))
      } else {
        guard let raw = try? reader.raw(key.wireType) else { break }
        // Texts, because a varint may be longer than it needs to be; a missing key is the default's.
        number(raw, key.kind, into: &found)
      }
    }
    if found.isEmpty, key.kind != .string { number(0, key.kind, into: &found) }
  }
}
