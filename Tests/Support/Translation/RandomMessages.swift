import ProtoJSON
package import ProtobufSchema
package import RandomnessTestSupport

/// Random messages of a schema as canonical wire bytes: what the decoder writes for their JSON.
package struct RandomMessages {
  let schema: Schema
  package var generator: SeededGenerator
  /// What may be in an `Any`, by name.
  private let embedded: [String]

  package init(
    schema: Schema, generator: SeededGenerator,
    embedded: [String] = [
      "t.Point", "t.Parcel", "google.protobuf.Duration", "google.protobuf.Struct", "google.protobuf.Empty",
    ]
  ) {
    self.schema = schema
    self.generator = generator
    self.embedded = embedded
  }

  package mutating func message(_ index: Int, depth: Int) -> [UInt8] {
    let type = schema.messages[index]
    switch type.wellKnown {
    case nil, .empty, .httpBody: break
    case let known?: return wellKnown(known, depth: depth)
    }
    var wire: [UInt8] = []
    if type.isMessageSet {
      for field in type.fields where depth > 0 && Bool.random(using: &generator) {
        let item = Wire.varint(2, UInt64(field.number)) + Wire.delimited(3, payload(field, depth: depth))
        wire += [0x0B] + item + [0x0C]
      }
      return wire
    }
    var taken: Set<Int> = []
    for field in type.fields where field.isRequired || Bool.random(using: &generator) {
      if field.oneofIndex >= 0, !taken.insert(field.oneofIndex).inserted { continue }
      if depth <= 0 && field.messageIndex >= 0 { continue }
      append(field, depth: depth, to: &wire)
    }
    return wire
  }

  private mutating func append(_ field: Field, depth: Int, to wire: inout [UInt8]) {
    let number = UInt32(bitPattern: field.number)
    switch field.cardinality {
    case .singular:
      let value = payload(field, depth: depth)
      if field.hasPresence || value.contains(where: { $0 != 0 }) { wire += tagged(number, field.kind, value) }
    case .repeated where field.isPacked && field.kind != .string && field.kind != .bytes && field.messageIndex < 0:
      let values = (0..<Int.random(in: 1...4, using: &generator)).flatMap { _ in payload(field, depth: depth) }
      wire += Wire.delimited(number, values)
    case .repeated:
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        wire += tagged(number, field.kind, payload(field, depth: depth - 1))
      }
    case .map:
      let entry = schema.messages[field.messageIndex]
      var keys: Set<[UInt8]> = []
      for _ in 0..<Int.random(in: 1...20, using: &generator) {
        let key = payload(entry.fields[0], depth: 0)
        guard keys.insert(key).inserted else { continue }
        let value = payload(entry.fields[1], depth: depth - 1)
        wire += Wire.delimited(number, tagged(1, entry.fields[0].kind, key) + tagged(2, entry.fields[1].kind, value))
      }
    }
  }

  private func tagged(_ number: UInt32, _ kind: Field.Kind, _ payload: [UInt8]) -> [UInt8] {
    var wire = Wire()
    switch kind {
    case .string, .bytes, .message: return Wire.delimited(number, payload)
    case .group:
      wire.varint(UInt64(number) << 3 | 3)
      wire.bytes += payload
      wire.varint(UInt64(number) << 3 | 4)
    case .double, .fixed64, .sfixed64:
      wire.varint(UInt64(number) << 3 | 1)
      wire.bytes += payload
    case .float, .fixed32, .sfixed32:
      wire.varint(UInt64(number) << 3 | 5)
      wire.bytes += payload
    default:
      wire.varint(UInt64(number) << 3)
      wire.bytes += payload
    }
    return wire.bytes
  }

  private mutating func payload(_ field: Field, depth: Int) -> [UInt8] {
    var wire = Wire()
    let bits = number()
    switch field.kind {
    case .message, .group: return message(field.messageIndex, depth: depth - 1)
    case .string: return text()
    case .bytes:
      return (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
    case .double: return little(double(), 8)
    case .float:
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
      return little(UInt64((value.isNaN ? Float.nan : value).bitPattern), 4)
    case .fixed64, .sfixed64: return little(bits, 8)
    case .fixed32, .sfixed32: return little(bits, 4)
    case .bool: wire.varint(bits & 1)
    case .int32: wire.varint(UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: bits))))
    case .uint32: wire.varint(UInt64(UInt32(truncatingIfNeeded: bits)))
    case .sint32: wire.varint(ZigZag.encode(Int64(Int32(truncatingIfNeeded: bits))))
    case .int64, .uint64, .sint64: wire.varint(bits)
    case .enum:
      let type = schema.enums[field.enumIndex]
      let named = type.values[Int(bits % UInt64(type.values.count))].number
      let isNull = type.fullName == "google.protobuf.NullValue"
      let value = type.isOpen && !isNull && bits & 7 == 0 ? Int32(truncatingIfNeeded: bits >> 8) : named
      wire.varint(UInt64(bitPattern: Int64(value)))
    }
    return wire.bytes
  }

  private mutating func number() -> UInt64 {
    let bits = generator.next()
    // Small ones, edges and anything.
    switch generator.next() % 4 {
    case 0: return bits % 300
    case 1: return [0, 1, .max, 1 << 31, 1 << 32, 1 << 63, (1 << 63) - 1, (1 << 31) - 1][Int(bits % 8)]
    default: return bits
    }
  }

  private mutating func double() -> UInt64 {
    let bits = generator.next()
    let value: Double
    switch generator.next() % 4 {
    case 0: value = Double(Int64(bitPattern: bits) % 1_000_000) / 100
    case 1: value = Double(Int64(bitPattern: bits) % 1_000)
    default: value = Double(bitPattern: bits)
    }
    return (value.isNaN ? Double.nan : value).bitPattern
  }

  private mutating func text() -> [UInt8] {
    let alphabet: [Character] = ["a", "B", "7", " ", "\"", "\\", "/", "\n", "\u{1}", "ä", "€", "😀", "\u{7f}", "\u{0}"]
    let length = Int.random(in: 0...Int.random(in: 0...60, using: &generator), using: &generator)
    let plain = Bool.random(using: &generator)
    let pool = plain ? Array(alphabet[..<4]) : alphabet
    return Array(String((0..<length).map { _ in pool[Int(generator.next() % UInt64(pool.count))] }).utf8)
  }

  private func little(_ value: UInt64, _ width: Int) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: value >> (UInt64($0) * 8)) }
  }

  private mutating func wellKnown(_ type: WellKnownType, depth: Int) -> [UInt8] {
    let bits = generator.next()
    func times(_ seconds: Int64, _ nanos: Int64) -> [UInt8] {
      (seconds == 0 ? [] : Wire.varint(1, UInt64(bitPattern: seconds)))
        + (nanos == 0 ? [] : Wire.varint(2, UInt64(bitPattern: nanos)))
    }
    let nanos = [0, 5, 5_000, 500_000_000, 123_456_789, 999_999_999][Int(bits >> 8 & 7) % 6] as Int64
    switch type {
    case .timestamp:
      return times(Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator), nanos)
    case .duration:
      let seconds = Int64.random(in: -315_575_999_999...315_575_999_999, using: &generator)
      return times(seconds, seconds < 0 ? -nanos : nanos)
    case .fieldMask: return (0..<Int(bits % 4)).flatMap { Wire.text(1, ["a", "foo_bar", "x.y_z", "abc1"][$0]) }
    case .any:
      guard depth > 0, bits & 3 != 0 else { return [] }
      let name = embedded[Int(bits % UInt64(embedded.count))]
      let content = schema.messageIndex(named: name).map { message($0, depth: depth - 1) } ?? []
      return Wire.text(1, "type.googleapis.com/\(name)") + (content.isEmpty ? [] : Wire.delimited(2, content))
    case .structure:
      return (0..<Int(bits % 4)).flatMap { key in
        Wire.delimited(1, Wire.text(1, "k\(key)") + Wire.delimited(2, wellKnown(.value, depth: depth - 1)))
      }
    case .listValue:
      return (0..<Int(bits % 4)).flatMap { _ in Wire.delimited(1, wellKnown(.value, depth: depth - 1)) }
    case .value:
      switch depth <= 0 ? bits % 4 : bits % 6 {
      case 0: return Wire.varint(1, 0)
      case 1:
        let number = double()
        return Wire.fixed64(2, Double(bitPattern: number).isFinite ? number : 0)
      case 2: return Wire.delimited(3, text())
      case 3: return Wire.varint(4, bits >> 32 & 1)
      case 4: return Wire.delimited(5, wellKnown(.structure, depth: depth - 1))
      default: return Wire.delimited(6, wellKnown(.listValue, depth: depth - 1))
      }
    default:
      guard let index = schema.messageIndex(named: type.rawValue) else { return [] }
      let field = schema.messages[index].fields[0]
      let value = payload(field, depth: 0)
      return value.contains { $0 != 0 } ? tagged(1, field.kind, value) : []
    }
  }
}
