import ProtobufSchema
import RandomnessTestSupport
import TranslationTestSupport

/// Writes the same message in another legal form of wire bytes, and changes one value in it.
struct WireShapes {
  private struct Record {
    let tag: WireTag
    /// Tag, value and all.
    let bytes: [UInt8]
    /// The value: a length-delimited one without its length, a group without its tags.
    let content: [UInt8]
  }

  let schema: Schema
  var generator: SeededGenerator

  private func records(_ wire: [UInt8]) throws -> [Record] {
    var reader = WireReader(wire.span)
    var found: [Record] = []
    while !reader.isAtEnd {
      let start = reader.offset
      let tag = try reader.readTag()
      let value = reader.offset
      let content: Range<Int>
      switch tag.type {
      case .lengthDelimited: content = try reader.readLengthDelimited()
      case .startGroup: content = try reader.readGroup(tag.number)
      default:
        try reader.skip(tag)
        content = value..<reader.offset
      }
      found.append(Record(tag: tag, bytes: Array(wire[start..<reader.offset]), content: Array(wire[content])))
    }
    return found
  }

  private func field(_ record: Record, of message: Int) -> Field? {
    schema.messages[message].fields.first { UInt32(bitPattern: $0.number) == record.tag.number }
  }

  private func isPackable(_ field: Field) -> Bool {
    field.cardinality == .repeated && field.messageIndex < 0 && field.kind != .string && field.kind != .bytes
  }

  // MARK: The same in another form

  /// The message with its fields shuffled, lists packed or not, long varints, messages in two parts, replaced values.
  mutating func reshape(_ wire: [UInt8], _ message: Int) throws -> [UInt8] {
    // What belongs together stays in its order: a field's own records.
    var runs: [UInt32: [[UInt8]]] = [:]
    for record in try records(wire) {
      guard let field = field(record, of: message) else { continue }
      runs[record.tag.number, default: []] += try shapes(of: record, field, message)
    }
    for (number, run) in runs
    where schema.messages[message].fields.contains(where: {
      UInt32(bitPattern: $0.number) == number && $0.cardinality == .map
    }) {
      runs[number] = run.shuffled(using: &generator)
    }
    var left = runs.map { (number: $0.key, rest: $0.value) }.sorted { $0.number < $1.number }
    var result: [UInt8] = []
    // Mostly field by field, at times interleaved.
    let isScattered = Int.random(in: 0..<4, using: &generator) == 0
    left.shuffle(using: &generator)
    while !left.isEmpty {
      let index = isScattered ? Int.random(in: left.indices, using: &generator) : 0
      result += left[index].rest.removeFirst()
      if left[index].rest.isEmpty { left.remove(at: index) }
    }
    return result
  }

  private mutating func shapes(of record: Record, _ field: Field, _ message: Int) throws -> [[UInt8]] {
    let number = record.tag.number
    if field.messageIndex >= 0 {
      let inner = try content(of: record, field)
      if field.cardinality == .singular, field.kind == .message, Bool.random(using: &generator) {
        // In two parts, which merge.
        let parts = try records(inner)
        let cut = parts.isEmpty ? 0 : Int.random(in: 0...parts.count, using: &generator)
        return [parts[..<cut], parts[cut...]].map { Wire.delimited(number, $0.flatMap(\.bytes)) }
      }
      if field.kind == .group {
        return [tag(number, .startGroup) + inner + tag(number, .endGroup)]
      }
      return [Wire.delimited(number, inner)]
    }
    if isPackable(field) { return try list(record, field) }
    if record.tag.type == .varint {
      let long = tag(number, .varint) + lengthened(record.content)
      // A value that the next one replaces.
      let isReplaced = field.cardinality == .singular && field.oneofIndex < 0 && Bool.random(using: &generator)
      return isReplaced ? [record.bytes, long] : [long]
    }
    return [record.bytes]
  }

  private mutating func content(of record: Record, _ field: Field) throws -> [UInt8] {
    let type = schema.messages[field.messageIndex]
    guard type.wellKnown == .any else { return try reshape(record.content, field.messageIndex) }
    let parts = try records(record.content)
    guard let url = parts.first(where: { $0.tag.number == 1 }), let value = parts.first(where: { $0.tag.number == 2 }),
      let name = String(decoding: url.content, as: UTF8.self).split(separator: "/").last,
      let inner = schema.messageIndex(named: String(name))
    else { return record.content }
    let shaped = Wire.delimited(2, try reshape(value.content, inner))
    return Bool.random(using: &generator) ? shaped + url.bytes : url.bytes + shaped
  }

  private mutating func list(_ record: Record, _ field: Field) throws -> [[UInt8]] {
    let width = record.tag.type == .lengthDelimited
    let values = width ? try elements(record.content, field) : [record.content]
    guard Bool.random(using: &generator) else { return [Wire.delimited(record.tag.number, values.flatMap { $0 })] }
    return values.map { tag(record.tag.number, wireType(field)) + (wireType(field) == .varint ? lengthened($0) : $0) }
  }

  private func elements(_ packed: [UInt8], _ field: Field) throws -> [[UInt8]] {
    var reader = WireReader(packed.span)
    var found: [[UInt8]] = []
    while !reader.isAtEnd {
      let start = reader.offset
      switch wireType(field) {
      case .fixed32: _ = try reader.readFixed32()
      case .fixed64: _ = try reader.readFixed64()
      default: _ = try reader.readVarint()
      }
      found.append(Array(packed[start..<reader.offset]))
    }
    return found
  }

  private func wireType(_ field: Field) -> WireType {
    switch field.kind {
    case .double, .fixed64, .sfixed64: .fixed64
    case .float, .fixed32, .sfixed32: .fixed32
    default: .varint
    }
  }

  private func tag(_ number: UInt32, _ type: WireType) -> [UInt8] {
    var wire = Wire()
    wire.varint(UInt64(number) << 3 | UInt64(type.rawValue))
    return wire.bytes
  }

  /// A varint with more bytes than it needs.
  private mutating func lengthened(_ value: [UInt8]) -> [UInt8] {
    let more = Int.random(in: 0...(10 - value.count), using: &generator)
    guard more > 0, let last = value.last else { return value }
    return Array(value.dropLast()) + [last | 0x80] + Array(repeating: 0x80, count: more - 1) + [0]
  }

  // MARK: One value changed

  /// A changed message, and the path of the value that is another one in it.
  struct Mutation {
    let wire: [UInt8]
    let kind: String
    let path: String
  }

  /// Changes one number, text or boolean somewhere in plain messages; nil when there is none.
  mutating func mutate(_ wire: [UInt8], _ message: Int) throws -> Mutation? {
    let count = try leaves(wire, message)
    guard count > 0 else { return nil }
    var left = Int.random(in: 0..<count, using: &generator)
    let removes = Bool.random(using: &generator)
    return try mutate(wire, message, "", &left, removes: removes)
  }

  /// Whether a field's values are looked into.
  private func isPlain(_ field: Field) -> Bool {
    field.messageIndex >= 0 && field.cardinality != .map && schema.messages[field.messageIndex].wellKnown == nil
  }

  private func isLeaf(_ record: Record, _ field: Field) -> Bool {
    field.messageIndex < 0 && !(isPackable(field) && record.content.isEmpty) && field.kind != .enum
  }

  private func leaves(_ wire: [UInt8], _ message: Int) throws -> Int {
    try records(wire).reduce(0) { sum, record in
      guard let field = field(record, of: message) else { return sum }
      if isPlain(field) { return sum + (try leaves(record.content, field.messageIndex)) }
      return sum + (isLeaf(record, field) ? 1 : 0)
    }
  }

  private func mutate(
    _ wire: [UInt8], _ message: Int, _ prefix: String, _ left: inout Int, removes: Bool
  ) throws -> Mutation? {
    var result: [UInt8] = []
    var done: (kind: String, path: String)?
    for record in try records(wire) {
      guard done == nil, let field = field(record, of: message) else {
        result += record.bytes
        continue
      }
      let path = prefix + field.jsonName + (field.cardinality == .singular ? "" : "[]")
      if isPlain(field) {
        let count = try leaves(record.content, field.messageIndex)
        if left < count, let inner = try mutate(record.content, field.messageIndex, path + ".", &left, removes: removes)
        {
          let number = record.tag.number
          result +=
            field.kind == .group
            ? tag(number, .startGroup) + inner.wire + tag(number, .endGroup) : Wire.delimited(number, inner.wire)
          done = (inner.kind, inner.path)
        } else {
          left -= count
          result += record.bytes
        }
      } else if isLeaf(record, field) {
        if left == 0 {
          let isLastBoolean = field.kind == .bool && !field.hasPresence && field.cardinality == .singular
          if isLastBoolean || removes && mayGo(record, field) {
            done = ("missing", path)
          } else {
            result += try changed(record, field)
            done = ("changed", path)
          }
        } else {
          result += record.bytes
        }
        left -= 1
      } else {
        result += record.bytes
      }
    }
    return done.map { Mutation(wire: result, kind: $0.kind, path: $0.path) }
  }

  /// Whether it makes a difference that a value is not there.
  private func mayGo(_ record: Record, _ field: Field) -> Bool {
    guard field.cardinality == .singular, !field.isRequired else { return false }
    // The negative zero is as good as none.
    return field.hasPresence || record.content.dropLast().contains { $0 != 0 } || (record.content.last ?? 0) & 0x7F != 0
  }

  private func changed(_ record: Record, _ field: Field) throws -> [UInt8] {
    let number = record.tag.number
    if !isPackable(field) {
      if record.tag.type == .lengthDelimited { return Wire.delimited(number, record.content + [UInt8(ascii: "!")]) }
      return tag(number, record.tag.type) + other(record.content, field)
    }
    guard record.tag.type == .lengthDelimited else {
      return tag(number, record.tag.type) + other(record.content, field)
    }
    var values = try elements(record.content, field)
    values[0] = other(values[0], field)
    return Wire.delimited(number, values.flatMap { $0 })
  }

  /// Another value of the same type, and not the default.
  private func other(_ value: [UInt8], _ field: Field) -> [UInt8] {
    let (one, two): ([UInt8], [UInt8]) =
      switch field.kind {
      case .bool: ([1], [0])
      case .double: ([0, 0, 0, 0, 0, 0, 0xF0, 0x3F], [0, 0, 0, 0, 0, 0, 0, 0x40])
      case .float: ([0, 0, 0x80, 0x3F], [0, 0, 0, 0x40])
      case .fixed64, .sfixed64: ([1, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 0])
      case .fixed32, .sfixed32: ([1, 0, 0, 0], [2, 0, 0, 0])
      default: ([2], [4])
      }
    return value == one ? two : one
  }
}
