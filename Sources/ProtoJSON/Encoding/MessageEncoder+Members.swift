import Bytes
import ProtobufSchema

extension MessageEncoder {
  /// Writes one field, the reader being behind its tag, which says the type.
  ///
  /// What most fields are is written in place; the others have functions of their own.
  @inline(__always)
  mutating func member(
    _ field: FieldPlan, _ type: WireType, _ reader: inout WireReader, omit: UInt64, level: Int,
    into output: inout ByteBuffer
  ) throws(Fault) {
    switch field.shape {
    case .singular: try singular(field, &reader, omit: omit, level: level, into: &output)
    case .repeated, .packed: try list(field, type, &reader, into: &output)
    case .map: try map(field, &reader, into: &output)
    }
  }

  @inline(__always)
  private mutating func singular(
    _ field: FieldPlan, _ reader: inout WireReader, omit: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    switch field.kind {
    case .string:
      let range = try reader.delimited()
      if range.isEmpty, !field.hasPresence, !profile.emitDefaults { return }
      let bad = JSONStringWriting.write(
        reader.bytes.extracting(range), after: tables.text, Int(field.quotedOffset), Int(field.quotedLength),
        into: &output)
      if let bad { throw malformed(range.lowerBound &+ bad) }
    case .bytes, .enumeration, .nullValue, .message, .group, .any, .timestamp, .duration, .fieldMask, .structure,
      .value, .listValue, .wrapper, .item:
      try rarer(field, &reader, omit: omit, level: level, into: &output)
    default:
      let raw = try reader.raw(field.wireType)
      if !field.hasPresence, !profile.emitDefaults, field.kind.isZero(raw) { return }
      name(field, into: &output)
      number(raw, field.kind, into: &output)
    }
  }

  @inline(never)
  private mutating func rarer(
    _ field: FieldPlan, _ reader: inout WireReader, omit: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    switch field.kind {
    case .bytes:
      let range = try reader.delimited()
      if range.isEmpty, !field.hasPresence, !profile.emitDefaults { return }
      name(field, into: &output)
      try text(field, reader.bytes.extracting(range), at: range.lowerBound, into: &output)
    case .enumeration:
      let number = Int32(truncatingIfNeeded: try reader.raw(.varint))
      if number == 0, !field.hasPresence, !profile.emitDefaults { return }
      name(field, into: &output)
      enumeration(number, Int(field.sub), into: &output)
    case .nullValue:
      // Whatever the number: it would be read as the default again.
      _ = try reader.raw(.varint)
      if !field.hasPresence, !profile.emitDefaults { return }
      name(field, into: &output)
      output.append("null")
    case .message, .group, .any, .timestamp, .duration, .fieldMask, .structure, .value, .listValue, .wrapper:
      let range = try reader.content(field)
      name(field, into: &output)
      let inner = omit == 0 ? 0 : omitted(inside: field, omit, level)
      try value(
        field.kind, Int(field.sub), WireReader(reader.bytes, range), omit: inner, level: level &+ 1, into: &output)
    default:
      let range = try reader.delimited()
      name(field, into: &output)
      let kind = tables.messages[Int(field.sub)].kind
      try value(kind, Int(field.sub), WireReader(reader.bytes, range), omit: 0, level: 0, into: &output)
    }
  }

  // MARK: Lists

  private mutating func list(
    _ field: FieldPlan, _ first: WireType, _ reader: inout WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    let before = output.count
    name(field, into: &output)
    output.append(UInt8(ascii: "["))
    let empty = output.count
    var type = first
    var index = 0
    do throws(Fault) {
      while true {
        if type == .lengthDelimited, field.kind.isPackable {
          var packed = WireReader(reader.bytes, try reader.delimited())
          while !packed.isAtEnd {
            number(field, try packed.raw(field.wireType), empty, into: &output)
            try checkSize(output, packed.offset)
            index &+= 1
          }
        } else if type == field.wireType {
          try element(field, &reader, empty, into: &output)
          index &+= 1
        } else {
          // Another wire type under this number is an unknown field.
          do { try reader.skip(WireTag(number: field.number, type: type)) } catch { throw Fault(error) }
        }
        try checkSize(output, reader.offset)
        if reader.skipTag(of: field) {
          type = field.nextType
        } else {
          guard reader.isNext(field.number) else { break }
          do { type = try reader.readTag().type } catch { throw Fault(error) }
        }
      }
    } catch {
      throw mayFollow(error) ? error : error.inside("[\(index)]")
    }
    if output.count == empty {
      output.truncate(to: before)
      guard profile.emitDefaults, !field.isExtension else { return }
      name(field, into: &output)
      output.append(UInt8(ascii: "["))
    }
    output.append(UInt8(ascii: "]"))
  }

  @inline(__always)
  private mutating func element(
    _ field: FieldPlan, _ reader: inout WireReader, _ empty: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    switch field.kind {
    case .string, .bytes:
      separate(empty, &output)
      let range = try reader.delimited()
      try text(field, reader.bytes.extracting(range), at: range.lowerBound, into: &output)
    case .message, .group, .any, .timestamp, .duration, .fieldMask, .structure, .value, .listValue, .wrapper, .item:
      separate(empty, &output)
      let range = try reader.content(field)
      try value(field.kind, Int(field.sub), WireReader(reader.bytes, range), omit: 0, level: 0, into: &output)
    default: number(field, try reader.raw(field.wireType), empty, into: &output)
    }
  }

  /// Writes a number, boolean or enum value of a list; a number that its closed enum lacks is an unknown field.
  @inline(__always)
  private func number(_ field: FieldPlan, _ raw: UInt64, _ empty: Int, into output: inout ByteBuffer) {
    guard tables.isNamed(raw, field) else { return }
    separate(empty, &output)
    scalar(raw, field, into: &output)
  }

  @inline(__always)
  private func separate(_ empty: Int, _ output: inout ByteBuffer) {
    if output.count != empty { output.append(UInt8(ascii: ",")) }
  }

  // MARK: Values

  /// The text of a string or of bytes.
  @inline(__always)
  func text(
    _ field: FieldPlan, _ bytes: Span<UInt8>, at offset: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    if field.kind == .bytes {
      output.append(0x22)
      Base64.encode(bytes, into: &output)
      output.append(0x22)
    } else if let bad = JSONStringWriting.write(bytes, into: &output) {
      throw malformed(offset &+ bad)
    }
  }

  @inline(never)
  func malformed(_ offset: Int) -> Fault { Fault(.utf8, at: offset, "well-formed UTF-8 expected") }

  @inline(__always)
  func scalar(_ raw: UInt64, _ field: FieldPlan, into output: inout ByteBuffer) {
    switch field.kind {
    case .enumeration: enumeration(Int32(truncatingIfNeeded: raw), Int(field.sub), into: &output)
    case .nullValue: output.append("null")
    default: number(raw, field.kind, into: &output)
    }
  }

  /// Writes a number or boolean from its bits on the wire.
  @inline(__always)
  func number(_ raw: UInt64, _ kind: ValueKind, into output: inout ByteBuffer) {
    Self.number(raw, kind, isBare: profile.int64AsNumber, into: &output)
  }

  // These need nothing of the encoder: a call of a method that changes nothing would copy it.

  /// - Parameter isBare: whether 64-bit numbers have no quotes.
  private static func number(_ raw: UInt64, _ kind: ValueKind, isBare: Bool, into output: inout ByteBuffer) {
    switch kind {
    case .int32, .sfixed32: output.append(decimal: Int32(truncatingIfNeeded: raw))
    case .uint32, .fixed32: output.append(decimal: UInt32(truncatingIfNeeded: raw))
    case .sint32: output.append(decimal: Int32(truncatingIfNeeded: ZigZag.decode(raw & 0xFFFF_FFFF)))
    case .int64, .sfixed64, .uint64, .fixed64, .sint64:
      if !isBare { output.append(0x22) }
      bare64(raw, kind, into: &output)
      if !isBare { output.append(0x22) }
    case .bool:
      // The bytes of a word, of which those that the text has are kept.
      if raw != 0 {
        output.append(word: 0x6575_7274, length: 4)
      } else {
        output.append(word: 0x65_736C_6166, length: 5)
      }
    case .double: floating(Double(bitPattern: raw), into: &output)
    case .float: floating(Float(bitPattern: UInt32(truncatingIfNeeded: raw)), into: &output)
    default: output.append("null")
    }
  }

  @inline(__always)
  static func bare64(_ raw: UInt64, _ kind: ValueKind, into output: inout ByteBuffer) {
    switch kind {
    case .uint64, .fixed64: output.append(decimal: raw)
    case .sint64: output.append(decimal: ZigZag.decode(raw))
    default: output.append(decimal: Int64(bitPattern: raw))
    }
  }

  private static func floating(_ value: Double, into output: inout ByteBuffer) {
    if value.isFinite {
      FloatForm.write(value, into: &output)
    } else {
      output.append(value.isNaN ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"")
    }
  }

  private static func floating(_ value: Float, into output: inout ByteBuffer) {
    if value.isFinite { FloatForm.write(value, into: &output) } else { floating(Double(value), into: &output) }
  }

  @inline(__always)
  func enumeration(_ number: Int32, _ sub: Int, into output: inout ByteBuffer) {
    if !profile.enumsAsNumbers, let value = tables.enumValue(number, of: tables.enums[sub]) {
      output.append(pooled: tables.text, Int(value.quotedOffset), Int(value.quotedLength))
    } else {
      output.append(decimal: number)
    }
  }
}
