import Bytes
import ProtobufSchema

/// Writes one value as bare text.
struct TextWriter: ~Escapable {
  private let encoder: MessageEncoder

  @_lifetime(copy tables)
  init(tables: TableView, schema: Schema, profile: JSONProfile, memory: RunMemory) {
    var profile = profile
    // Quotes belong to JSON strings, and a text has none.
    profile.int64AsNumber = true
    encoder = MessageEncoder(
      tables: tables, schema: schema, profile: profile, maximumDepth: 1, maximumCount: .max, omitting: [],
      isCareful: false, memory: memory)
  }

  func value(_ field: FieldPlan, _ payload: Span<UInt8>, into output: inout ByteBuffer) throws(Fault) {
    if field.shape == .map { throw notTextual() }
    let reader = WireReader(payload)
    switch field.kind {
    case .timestamp:
      let value = try encoder.time(reader)
      guard TimestampForm.isValid(value) else {
        throw Fault(.range, at: 0, "a timestamp of the years 0001 to 9999 expected")
      }
      TimestampForm.write(value, as: encoder.profile.timestamps, into: &output)
    case .duration:
      let value = try encoder.time(reader)
      guard DurationForm.isValid(value) else {
        throw Fault(.range, at: 0, "a duration of at most 10000 years expected")
      }
      DurationForm.write(value, into: &output)
    case .fieldMask: try encoder.fieldMask(reader, isQuoted: false, into: &output)
    case .wrapper: try wrapped(encoder.tables.messages[Int(field.sub)].wrapped, reader, into: &output)
    default: try scalar(field.kind, Int(field.sub), payload, into: &output)
    }
  }

  private func notTextual() -> Fault { Fault(.type, at: 0, "a field of a scalar type expected") }

  /// The inner value of a wrapper; the last one counts, none is the default.
  private func wrapped(
    _ inner: ValueKind, _ source: WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    var found: Range<Int>?
    do {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        let start = reader.offset
        if tag == WireTag(number: 1, type: .lengthDelimited), inner.wireType == .lengthDelimited {
          found = try reader.readLengthDelimited()
        } else {
          try reader.skip(tag)
          if tag == WireTag(number: 1, type: inner.wireType) { found = start..<reader.offset }
        }
      }
    } catch {
      throw Fault(error)
    }
    if let found {
      try scalar(inner, -1, reader.bytes.extracting(found), into: &output)
    } else if inner.wireType != .lengthDelimited {
      encoder.number(0, inner, into: &output)
    }
  }

  private func scalar(
    _ kind: ValueKind, _ sub: Int, _ payload: Span<UInt8>, into output: inout ByteBuffer
  ) throws(Fault) {
    switch kind {
    case .string:
      if let bad = UTF8Validation.firstInvalid(payload) { throw Fault(.utf8, at: bad, "well-formed UTF-8 expected") }
      output.append(payload)
      return
    case .bytes:
      Base64.encode(payload, into: &output, alphabet: .urlSafe, padded: false)
      return
    case .message, .group, .item, .any, .structure, .value, .listValue: throw notTextual()
    default: break
    }
    var reader = WireReader(payload)
    let raw = try reader.raw(kind.wireType)
    guard reader.isAtEnd else { throw Fault(.wire, at: reader.offset, "one value expected") }
    switch kind {
    case .enumeration:
      let number = Int32(truncatingIfNeeded: raw)
      if !encoder.profile.enumsAsNumbers, let value = encoder.tables.enumValue(number, of: encoder.tables.enums[sub]) {
        let start = Int(value.quotedOffset) + 1
        output.append(encoder.tables.text.extracting(start..<start + Int(value.quotedLength) - 2))
      } else {
        output.append(decimal: number)
      }
    case .nullValue: output.append("null")
    case .double where !Double(bitPattern: raw).isFinite:
      write(special: Double(bitPattern: raw), into: &output)
    case .float where !Float(bitPattern: UInt32(truncatingIfNeeded: raw)).isFinite:
      write(special: Double(Float(bitPattern: UInt32(truncatingIfNeeded: raw))), into: &output)
    default: encoder.number(raw, kind, into: &output)
    }
  }

  private func write(special value: Double, into output: inout ByteBuffer) {
    output.append(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
  }
}
