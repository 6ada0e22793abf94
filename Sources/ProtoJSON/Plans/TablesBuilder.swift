import Bytes
import ProtobufSchema

/// Compiles a schema into flat tables.
struct TablesBuilder {
  private let schema: Schema
  private let profile: JSONProfile
  private var tables = Tables()

  static func build(_ schema: Schema, _ profile: JSONProfile) -> Tables {
    var builder = TablesBuilder(schema: schema, profile: profile)
    for type in schema.enums { builder.add(type) }
    for type in schema.messages { builder.add(type) }
    builder.markRequired()
    builder.tables.text.append(contentsOf: repeatElement(0, count: 32))
    return builder.tables
  }

  private init(schema: Schema, profile: JSONProfile) {
    self.schema = schema
    self.profile = profile
  }

  // MARK: Enums

  private mutating func add(_ type: EnumType) {
    var names = NameTableBuilder()
    var meanings: [String: Int32] = [:]
    for value in type.values {
      names.insert(value.name, value.number)
      meanings[value.name] = value.number
    }
    let prefix = profile.stripEnumPrefix ? EnumPrefix(type) : nil
    for value in type.values {
      for name in spellings(of: value.name, prefix) where meanings[name] == nil {
        names.insert(name, value.number)
        meanings[name] = value.number
      }
    }
    let table = names.build(into: &tables.slots, text: &tables.text)
    var plan = EnumPlan(
      slotsStart: table.start, slotsMask: table.mask, valuesStart: Int32(tables.enumValues.count), valuesCount: 0,
      isOpen: type.isOpen, firstNumber: type.values.first?.number ?? 0)
    var known: Set<Int32> = []
    var values: [EnumValuePlan] = []
    for value in type.values where known.insert(value.number).inserted {
      // A name that already means another value is not written.
      let name = spellings(of: value.name, prefix).last { meanings[$0] == value.number }
      let quoted = quote(name ?? value.name)
      values.append(EnumValuePlan(number: value.number, quotedOffset: quoted.offset, quotedLength: quoted.length))
    }
    values.sort { $0.number < $1.number }
    plan.valuesCount = Int32(values.count)
    tables.enumValues += values
    tables.enums.append(plan)
  }

  /// The names that a value has by the profile; the last is the one to write.
  private func spellings(of name: String, _ prefix: EnumPrefix?) -> [String] {
    let names = [name] + (prefix?.stripped(name).map { [$0] } ?? [])
    return profile.lowerCaseEnums ? names + names.map { $0.lowercased() } : names
  }

  // MARK: Messages

  private mutating func add(_ type: MessageType) {
    let start = tables.fields.count
    var names = NameTableBuilder()
    // A JSON name wins over the proto name of another field.
    for (index, field) in type.fields.enumerated() { names.insert(jsonName(of: field), Int32(start + index)) }
    for (index, field) in type.fields.enumerated() where field.extensionName == nil {
      names.insert(field.name, Int32(start + index))
    }
    for (index, field) in type.fields.enumerated() { tables.fields.append(plan(field, index, of: type)) }
    let table = names.build(into: &tables.slots, text: &tables.text)
    var plan = MessagePlan(
      fieldsStart: Int32(start), fieldsEnd: Int32(tables.fields.count), slotsStart: table.start,
      slotsMask: table.mask, directStart: 0, directCount: 0, sortedStart: 0, sortedCount: 0,
      kind: Self.kind(of: type.wellKnown), wrapped: Self.wrapped(type.wellKnown), keyField: -1, valueField: -1,
      hasRequired: type.fields.contains(where: \.isRequired), reachesRequired: false, isMessageSet: type.isMessageSet)
    addNumbers(&plan, start)
    if type.isMapEntry {
      plan.keyField = Int32(fieldIndex(1, from: start))
      plan.valueField = Int32(fieldIndex(2, from: start))
    }
    switch plan.kind {
    case .structure: tables.structure = Int32(tables.messages.count)
    case .value: tables.value = Int32(tables.messages.count)
    case .listValue: tables.listValue = Int32(tables.messages.count)
    default: break
    }
    tables.messages.append(plan)
  }

  /// Marks the messages that have required fields, and those that have such messages.
  private mutating func markRequired() {
    var owners: [Int32: [Int]] = [:]
    for field in tables.fields where !field.kind.isScalar { owners[field.sub, default: []].append(Int(field.owner)) }
    var marked = tables.messages.indices.filter { tables.messages[$0].hasRequired }
    while let index = marked.popLast() {
      guard !tables.messages[index].reachesRequired else { continue }
      tables.messages[index].reachesRequired = true
      marked += owners[Int32(index)] ?? []
    }
  }

  private func fieldIndex(_ number: UInt32, from start: Int) -> Int {
    tables.fields[start...].firstIndex { $0.number == number } ?? -1
  }

  private mutating func addNumbers(_ plan: inout MessagePlan, _ start: Int) {
    let order = tables.fields.indices[start...].sorted { tables.fields[$0].number < tables.fields[$1].number }
    plan.sortedStart = Int32(tables.sorted.count)
    plan.sortedCount = Int32(order.count)
    tables.sorted += order.map { Int32($0) }
    let room = UInt32(order.count * 4 + 16)
    var direct: [Int32] = []
    for index in order {
      let number = tables.fields[index].number
      guard number <= room else { break }
      while direct.count < Int(number) { direct.append(-1) }
      direct.append(Int32(index))
    }
    plan.directStart = Int32(tables.direct.count)
    plan.directCount = Int32(direct.count)
    tables.direct += direct
  }

  private func jsonName(of field: Field) -> String {
    field.extensionName.map { "[\($0)]" } ?? field.jsonName
  }

  private mutating func plan(_ field: Field, _ index: Int, of type: MessageType) -> FieldRecord {
    let written = field.extensionName == nil && profile.protoFieldNames ? field.name : jsonName(of: field)
    let bytes = Array(written.utf8)
    let name = NameKey(bytes.span, at: 0, length: bytes.count, offset: Int32(tables.text.count))
    tables.text += bytes
    let quoted = quote(written, before: ",", after: ":")
    let kind = type.isMessageSet && field.messageIndex >= 0 ? .item : self.kind(of: field)
    let number = UInt32(bitPattern: field.number)
    let tag = kind == .item ? MessageSetItem.head(number) : Self.encode(number, kind.wireType)
    let packed = Self.encode(number, .lengthDelimited)
    let shape: FieldShape =
      switch field.cardinality {
      case .singular: .singular
      case .map: .map
      case .repeated: field.isPacked && kind.isPackable ? .packed : .repeated
      }
    var record = FieldRecord(
      tag: tag.word, packedTag: packed.word, name: name, quotedOffset: quoted.offset, quotedLength: quoted.length,
      number: number, sub: Int32(kind == .enumeration ? field.enumIndex : field.messageIndex),
      oneof: Int32(field.oneofIndex), owner: Int32(tables.messages.count), index: Int32(index), tagLength: tag.length,
      packedTagLength: packed.length,
      kind: kind, shape: shape, wireType: kind.wireType, hasPresence: field.hasPresence || field.oneofIndex >= 0,
      isRequired: field.isRequired, validatesUTF8: field.kind == .string && field.validatesUTF8,
      isExtension: field.extensionName != nil, nextType: shape == .packed ? .lengthDelimited : kind.wireType)
    record.isClosed = kind == .enumeration && !schema.enums[field.enumIndex].isOpen
    let next = shape == .packed ? packed : tag
    if kind != .item, next.length <= 2 {
      record.nextTag = UInt16(truncatingIfNeeded: next.word)
      record.nextMask = next.length == 1 ? 0xFF : 0xFFFF
    }
    return record
  }

  private static func encode(_ number: UInt32, _ type: WireType) -> (word: UInt64, length: UInt8) {
    var buffer = ByteBuffer()
    buffer.append(tag: number, type)
    return (buffer.span.word(at: 0, length: 8), UInt8(buffer.count))
  }

  // MARK: Kinds

  private func kind(of field: Field) -> ValueKind {
    switch field.kind {
    case .double: .double
    case .float: .float
    case .int64: .int64
    case .uint64: .uint64
    case .int32: .int32
    case .fixed64: .fixed64
    case .fixed32: .fixed32
    case .bool: .bool
    case .string: .string
    case .bytes: .bytes
    case .uint32: .uint32
    case .sfixed32: .sfixed32
    case .sfixed64: .sfixed64
    case .sint32: .sint32
    case .sint64: .sint64
    case .enum where !schema.enums.indices.contains(field.enumIndex): .int32
    case .enum: schema.enums[field.enumIndex].fullName == "google.protobuf.NullValue" ? .nullValue : .enumeration
    case .group: .group
    case .message: field.cardinality == .map ? .message : Self.kind(of: schema.messages[field.messageIndex].wellKnown)
    }
  }

  private static func kind(of type: WellKnownType?) -> ValueKind {
    switch type {
    case .any: .any
    case .timestamp: .timestamp
    case .duration: .duration
    case .fieldMask: .fieldMask
    case .structure: .structure
    case .value: .value
    case .listValue: .listValue
    case nil, .empty, .httpBody: .message
    default: .wrapper
    }
  }

  private static func wrapped(_ type: WellKnownType?) -> ValueKind {
    switch type {
    case .doubleValue: .double
    case .floatValue: .float
    case .int64Value: .int64
    case .uint64Value: .uint64
    case .int32Value: .int32
    case .uint32Value: .uint32
    case .boolValue: .bool
    case .bytesValue: .bytes
    default: .string
    }
  }

  // MARK: Text

  /// Adds a text as a JSON string to the pool.
  private mutating func quote(
    _ text: String, before: String = "", after: String = ""
  ) -> (offset: Int32, length: Int32) {
    var quoted = ByteBuffer()
    quoted.append(text: before)
    JSONStringWriting.write(Array(text.utf8).span, into: &quoted)
    quoted.append(text: after)
    let offset = tables.text.count
    tables.text += quoted.bytes
    return (Int32(offset), Int32(quoted.count))
  }
}
