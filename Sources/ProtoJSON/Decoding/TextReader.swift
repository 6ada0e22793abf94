import Bytes
import ProtobufSchema

/// Reads one value from bare text.
struct TextReader: ~Escapable {
  private let text: Span<UInt8>
  private let tables: TableView
  private let profile: JSONProfile

  @_lifetime(copy text, copy tables)
  init(_ text: Span<UInt8>, tables: TableView, profile: JSONProfile) {
    self.text = text
    self.tables = tables
    self.profile = profile
  }

  /// Appends the value of a field, with its length if it has one, without the tag.
  func value(_ field: FieldPlan, into output: inout ByteBuffer) throws(Fault) {
    if field.shape == .map { throw notTextual() }
    switch field.kind {
    case .timestamp, .duration, .fieldMask, .wrapper:
      let start = output.beginLengthDelimited()
      try wellKnown(field, into: &output)
      output.endLengthDelimited(start)
    case .enumeration: output.append(varint: UInt64(bitPattern: Int64(try enumeration(Int(field.sub)))))
    default: try scalar(field.kind, into: &output)
    }
  }

  private func requireUTF8() throws(Fault) {
    if let bad = UTF8Validation.firstInvalid(text) { throw Fault(.utf8, at: bad, "well-formed UTF-8 expected") }
  }

  private func notTextual() -> Fault { Fault(.type, at: 0, "a field of a scalar type expected") }

  private func wellKnown(_ field: FieldPlan, into output: inout ByteBuffer) throws(Fault) {
    switch field.kind {
    case .timestamp:
      let value = try TimestampForm.parse(text, as: profile, at: 0)
      append(value.seconds, value.nanos, into: &output)
    case .duration:
      let value = try DurationForm.parse(text, at: 0)
      append(value.seconds, value.nanos, into: &output)
    case .fieldMask:
      try requireUTF8()
      try FieldMaskForm.parse(text, at: 0, allowsSnakeCase: true, into: &output)
    default:
      let inner = tables.messages[Int(field.sub)].wrapped
      output.append(varint: 1 << 3 | UInt64(inner.wireType.rawValue))
      try scalar(inner, into: &output)
    }
  }

  private func append(_ seconds: Int64, _ nanos: Int32, into output: inout ByteBuffer) {
    if seconds != 0 {
      output.append(tag: 1, .varint)
      output.append(varint: UInt64(bitPattern: seconds))
    }
    if nanos != 0 {
      output.append(tag: 2, .varint)
      output.append(varint: UInt64(bitPattern: Int64(nanos)))
    }
  }

  private func scalar(_ kind: ValueKind, into output: inout ByteBuffer) throws(Fault) {
    switch kind {
    case .string:
      try requireUTF8()
      output.append(varint: UInt64(text.count))
      output.append(text)
    case .bytes:
      let start = output.beginLengthDelimited()
      guard Base64.decode(text, into: &output) else { throw Fault(.type, at: 0, "base64 expected") }
      output.endLengthDelimited(start)
    case .bool:
      let isTrue = ASCII.equal(text, "true") || profile.isLenient && ASCII.equal(text, "1")
      guard isTrue || ASCII.equal(text, "false") || profile.isLenient && ASCII.equal(text, "0") else {
        throw Fault(.type, at: 0, "true or false expected")
      }
      output.append(isTrue ? 1 : 0)
    case .double: output.append(fixed64: try FloatReading.parseDouble(text, at: 0).bitPattern)
    case .float: output.append(fixed32: try FloatReading.parseFloat(text, at: 0).bitPattern)
    case .int32: output.append(varint: UInt64(bitPattern: Int64(try signed32())))
    case .int64: output.append(varint: UInt64(bitPattern: try signed64()))
    case .sint32: output.append(varint: ZigZag.encode(Int64(try signed32())))
    case .sint64: output.append(varint: ZigZag.encode(try signed64()))
    case .uint32: output.append(varint: try unsigned(UInt64(UInt32.max)))
    case .uint64: output.append(varint: try unsigned(.max))
    case .fixed32: output.append(fixed32: UInt32(truncatingIfNeeded: try unsigned(UInt64(UInt32.max))))
    case .fixed64: output.append(fixed64: try unsigned(.max))
    case .sfixed32: output.append(fixed32: UInt32(bitPattern: try signed32()))
    case .sfixed64: output.append(fixed64: UInt64(bitPattern: try signed64()))
    case .nullValue:
      guard ASCII.equal(text, "null") || ASCII.equal(text, "NULL_VALUE") || ASCII.equal(text, "0") else {
        throw Fault(.type, at: 0, "null expected")
      }
      output.append(0)
    default: throw notTextual()
    }
  }

  private func signed32() throws(Fault) -> Int32 {
    guard let value = try IntegerLiteral.parse(text, at: 0).signed(Int64(Int32.min), Int64(Int32.max)) else {
      throw Fault(.range, at: 0, "an integer from \(Int32.min) to \(Int32.max) expected")
    }
    return Int32(truncatingIfNeeded: value)
  }

  private func signed64() throws(Fault) -> Int64 {
    guard let value = try IntegerLiteral.parse(text, at: 0).signed(.min, .max) else {
      throw Fault(.range, at: 0, "an integer from \(Int64.min) to \(Int64.max) expected")
    }
    return value
  }

  private func unsigned(_ upper: UInt64) throws(Fault) -> UInt64 {
    guard let value = try IntegerLiteral.parse(text, at: 0).unsigned(upper) else {
      throw Fault(.range, at: 0, "an integer from 0 to \(upper) expected")
    }
    return value
  }

  private func enumeration(_ sub: Int) throws(Fault) -> Int32 {
    let plan = tables.enums[sub]
    let key = NameKey(text, at: 0, length: text.count)
    if let target = tables.target(key, text, at: 0, table: plan.slotsStart, mask: plan.slotsMask) { return target }
    guard !text.isEmpty, ASCII.isDigit(text[text.count - 1]), ASCII.isDigit(text[0]) || text[0] == UInt8(ascii: "-")
    else { throw Fault(.type, at: 0, "the name or number of an enum value expected") }
    let number = try signed32()
    guard plan.isOpen || tables.enumValue(number, of: plan) != nil else {
      throw Fault(.range, at: 0, "a number of the enum expected")
    }
    return number
  }
}
