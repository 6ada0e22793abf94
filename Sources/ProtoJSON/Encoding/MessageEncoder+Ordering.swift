import Bytes
import ProtobufSchema

/// Putting the fields of a message in order, by the rules by which protobuf merges.
extension MessageEncoder {
  private struct Record {
    /// Index of the field in its message.
    let field: Int
    let tag: WireTag
    /// With the tag.
    let whole: Range<Int>
    /// The content of a message or group, else the value.
    let content: Range<Int>
  }

  /// Appends the known fields, each in one place: the last of a singular one, messages merged, the last member of a
  /// oneof, the last entry of a map key. Unknown fields are left out.
  ///
  /// - Parameter only: the one field to keep; nil for all.
  mutating func order(
    _ message: Int, _ source: WireReader, only: FieldPlan? = nil, into output: inout ByteBuffer
  ) throws(Fault) {
    let plan = tables.messages[message]
    let count = Int(plan.fieldsEnd - plan.fieldsStart)
    var records: [[Record]] = Array(repeating: [], count: count)
    var chosen: [Int32: Int] = [:]
    do {
      var reader = WireReader(source.bytes, source.offset..<source.limit)
      while !reader.isAtEnd {
        let start = reader.offset
        let tag = try reader.readTag()
        let index = tables.field(number: tag.number, of: plan)
        guard index >= 0, tables.fields[index].accepts(tag.type),
          tables.isNamed(tables.fields[index], valueAt: reader)
        else {
          try reader.skip(tag)
          continue
        }
        let field = tables.fields[index]
        var content = reader.offset..<reader.offset
        switch tag.type {
        case .startGroup: content = try reader.readGroup(tag.number)
        case .lengthDelimited: content = try reader.readLengthDelimited()
        default:
          try reader.skip(tag)
          content = content.lowerBound..<reader.offset
        }
        if field.shape == .map, !tables.isNamed(field, entry: WireReader(reader.bytes, content)) { continue }
        if field.oneof >= 0 {
          if let other = chosen[field.oneof], other != Int(field.index) { records[other] = [] }
          chosen[field.oneof] = Int(field.index)
        }
        records[Int(field.index)].append(
          Record(field: Int(field.index), tag: tag, whole: start..<reader.offset, content: content))
      }
    } catch {
      throw Fault(error)
    }
    // Each level of a message that is scattered all the way down copies all that is inside of it.
    ordered &+= source.limit &- source.offset
    guard ordered <= maximumCount else {
      throw Fault(.range, at: source.offset, "fields in one place each expected in a message of this size and depth")
    }
    for (index, group) in records.enumerated() where !group.isEmpty {
      if let only, Int(only.index) != index { continue }
      append(tables.fields[Int(plan.fieldsStart) + index], group, source.bytes, into: &output)
    }
  }

  private func append(
    _ field: FieldPlan, _ records: [Record], _ bytes: Span<UInt8>, into output: inout ByteBuffer
  ) {
    guard let last = records.last else { return }
    switch field.shape {
    case .repeated, .packed:
      for record in records { output.append(bytes.extracting(record.whole)) }
    case .map:
      var entries: [[UInt8]: Int] = [:]
      var order: [Int] = []
      for (index, record) in records.enumerated() {
        // The place of a key is where it came first, its value the last one.
        let key = key(of: field, bytes, record.content)
        if let place = entries[key] {
          order[place] = index
        } else {
          entries[key] = order.count
          order.append(index)
        }
      }
      for index in order { output.append(bytes.extracting(records[index].whole)) }
    case .singular where field.kind.isScalar || records.count == 1:
      output.append(bytes.extracting(last.whole))
    case .singular:
      output.append(encodedTag: field.tag, length: field.tagLength)
      if field.kind == .group {
        for record in records { output.append(bytes.extracting(record.content)) }
        output.append(encodedTag: field.endGroupTag, length: field.tagLength)
      } else {
        let start = output.beginLengthDelimited()
        for record in records { output.append(bytes.extracting(record.content)) }
        output.endLengthDelimited(start)
      }
    }
  }

  /// The last key of an entry in one spelling; empty for the default.
  private func key(of field: FieldPlan, _ bytes: Span<UInt8>, _ entry: Range<Int>) -> [UInt8] {
    let plan = tables.messages[Int(field.sub)]
    guard plan.keyField >= 0 else { return [] }
    let key = tables.fields[Int(plan.keyField)]
    var reader = WireReader(bytes, entry)
    var found = ByteBuffer()
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
    return found.bytes
  }
}
