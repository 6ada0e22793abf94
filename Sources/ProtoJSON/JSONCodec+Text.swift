package import Bytes
import ProtobufSchema

/// Single values as bare text: query parameters and path segments.
extension JSONCodec {
  /// Whether values of a field have a text: scalars, enums, `Timestamp`, `Duration`, `FieldMask` and wrappers.
  ///
  /// A repeated field has one of its elements; a map never.
  package func isTextual(message: Int, field: Int) -> Bool {
    guard let plan = plan(message, field), plan.shape != .map else { return false }
    switch plan.kind {
    case .message, .group, .item, .any, .structure, .value, .listValue: return false
    default: return true
    }
  }

  /// Reads one value from its text and appends tag and value, also when the value is the default.
  ///
  /// The text is the ProtoJSON string without quotes: integers, `true` or `false`, an enum's name or number, base64 in
  /// either alphabet, RFC 3339 (and what the profile says of timestamps), `1.5s`. Mask paths may be proto names too.
  /// - Throws: ``JSONError`` of an empty path; the output is then as it was before.
  package func decodeText(
    _ text: Span<UInt8>, message: Int, field: Int, into output: inout ByteBuffer
  ) throws(JSONError) {
    let plan = try requirePlan(message, field)
    let before = output.count
    do {
      output.append(encodedTag: plan.tag, length: plan.tagLength)
      try read(tables, text, plan, into: &output)
    } catch {
      output.truncate(to: before)
      throw error.error
    }
  }

  /// Whether a text without a byte says nothing of a field: what a lenient profile takes for an absent one.
  package func isAbsentWhenEmpty(message: Int, field: Int) -> Bool {
    guard profile.isLenient, let plan = plan(message, field) else { return false }
    let kind = plan.kind == .wrapper ? tables.messages[Int(plan.sub)].wrapped : plan.kind
    return kind != .string && kind != .bytes && kind != .fieldMask
  }

  /// Writes one value as text.
  ///
  /// Enums and times as the profile has them, bytes as unpadded URL-safe base64, 64-bit integers bare.
  /// - Parameter value: the payload on the wire without the tag: varint bytes, 4 or 8 fixed bytes, or the content of a
  ///   length-delimited field.
  /// - Throws: ``JSONError``; the output is then as it was before.
  package func encodeText(
    _ value: Span<UInt8>, message: Int, field: Int, into output: inout ByteBuffer
  ) throws(JSONError) {
    let plan = try requirePlan(message, field)
    let before = output.count
    do {
      try write(tables, value, plan, into: &output)
    } catch {
      output.truncate(to: before)
      throw error.error
    }
  }

  private func read(
    _ tables: borrowing Tables, _ text: Span<UInt8>, _ plan: FieldPlan, into output: inout ByteBuffer
  ) throws(Fault) {
    let reader = TextReader(text, tables: TableView(tables), profile: profile)
    try reader.value(plan, into: &output)
  }

  private func write(
    _ tables: borrowing Tables, _ value: Span<UInt8>, _ plan: FieldPlan, into output: inout ByteBuffer
  ) throws(Fault) {
    let writer = TextWriter(
      tables: TableView(tables), schema: schema, profile: profile, memory: RunMemory(memory))
    try writer.value(plan, value, into: &output)
  }
}
