import Bytes
import ProtobufSchema

/// What loosely typed backends write where ProtoJSON has one form: numbers and booleans in another type, an empty text or
/// array for nothing, one element without its array. Only a lenient profile comes here.
extension MessageDecoder {
  /// Reads a value in a form that ProtoJSON does not have, without the tag.
  ///
  /// - Returns: nil when what stands here is to be read as ever; nothing was read then.
  mutating func loose(_ field: FieldPlan, into output: inout ByteBuffer) throws(Fault) -> Result? {
    guard field.kind == .wrapper else { return try loose(field.kind, into: &output) }
    let inner = tables.messages[Int(field.sub)].wrapped
    return inner != .string && inner != .bytes && cursor.skip("\"\"") ? .dropped : nil
  }

  /// The same for a kind alone; a wrapper's value is one of those that it wraps.
  mutating func loose(_ kind: ValueKind, into output: inout ByteBuffer) throws(Fault) -> Result? {
    switch (cursor.byte, kind) {
    case (0x22, .string), (0x22, .bytes), (0x22, .value), (0x22, .structure), (0x22, .listValue), (0x22, .fieldMask):
      return nil
    case (0x22, _) where cursor.skip("\"\""): return .dropped
    case (0x22, .bool): return quotedBoolean(into: &output)
    case (0x22, .timestamp): return skipsDateThatIsNone() ? .dropped : nil
    case (UInt8(ascii: "0")...UInt8(ascii: "9"), .string), (UInt8(ascii: "-"), .string):
      return try numberAsText(into: &output)
    case (UInt8(ascii: "0"), .bool), (UInt8(ascii: "1"), .bool): return try numericBoolean(into: &output)
    case (UInt8(ascii: "t"), .string): return literal("true", into: &output)
    case (UInt8(ascii: "f"), .string): return literal("false", into: &output)
    case (UInt8(ascii: "f"), .message) where cursor.skip("false"): return .dropped
    default: return nil
    }
  }

  /// Steps over what says nothing of a singular field, as null does: what is dropped in an array.
  mutating func skipsNothing(_ field: FieldPlan) -> Bool {
    switch field.kind {
    // A text without a character is a value of these, or no value at all.
    case .string, .bytes, .value, .structure, .listValue, .fieldMask: return false
    case .wrapper:
      let inner = tables.messages[Int(field.sub)].wrapped
      return inner != .string && inner != .bytes && cursor.skip("\"\"")
    case .message: return cursor.skip("\"\"") || cursor.skip("false")
    case .timestamp: return cursor.skip("\"\"") || skipsDateThatIsNone()
    default: return cursor.skip("\"\"")
    }
  }

  /// As MySQL writes it.
  private mutating func skipsDateThatIsNone() -> Bool {
    cursor.skip("\"0000-00-00 00:00:00\"") || cursor.skip("\"0000-00-00\"")
  }

  /// Reads an empty array as the message without members: PHP writes it so. Anything else but an object is refused.
  ///
  /// The parameters are those of ``object(_:bindings:level:skipsType:into:)``.
  mutating func emptyArrayAsObject(
    _ message: Int, bindings: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    let begin = cursor.index
    guard profile.isLenient, cursor.byte == UInt8(ascii: "["), try emptyArray() else {
      throw cursor.mismatch("an object")
    }
    if mask.isActive { try mask.addEmptyMessage(at: begin) }
    let plan = tables.messages[message]
    if plan.hasRequired { try tables.requireAll(of: plan, SlotSet(), bound, bindings, level: level, at: begin) }
    if bindings != 0 { try appendBound(message, bindings, level: level, into: &output) }
  }

  /// The one element of a repeated field that stands without its array.
  mutating func loneElement(_ field: FieldPlan, into output: inout ByteBuffer) throws(Fault) {
    guard profile.isLenient else { throw cursor.mismatch("an array") }
    let before = output.count
    if try tagged(field, bindings: 0, level: 0, into: &output) == .dropped { output.truncate(to: before) }
  }

  /// Steps over an array without elements; false, and nothing was read, when it has some.
  mutating func emptyArray() throws(Fault) -> Bool {
    let start = cursor.index
    let depth = cursor.depth
    if try !cursor.open(UInt8(ascii: "[")) { return true }
    cursor.index = start
    cursor.depth = depth
    return false
  }

  private mutating func quotedBoolean(into output: inout ByteBuffer) -> Result? {
    if cursor.skip("\"true\"") || cursor.skip("\"1\"") {
      output.append(1)
      return .set
    }
    guard cursor.skip("\"false\"") || cursor.skip("\"0\"") else { return nil }
    output.append(0)
    return .zero
  }

  private mutating func numericBoolean(into output: inout ByteBuffer) throws(Fault) -> Result {
    let start = cursor.index
    let number = try cursor.integer()
    guard number.magnitude <= 1, !number.isNegative else {
      throw Fault(.type, at: start, "true, false, 1 or 0 expected")
    }
    output.append(UInt8(truncatingIfNeeded: number.magnitude))
    return number.magnitude == 0 ? .zero : .set
  }

  /// A number as it is written.
  private mutating func numberAsText(into output: inout ByteBuffer) throws(Fault) -> Result {
    let start = cursor.index
    _ = try Decimal.scan(cursor.json, &cursor.index)
    output.append(varint: UInt64(cursor.index &- start))
    output.append(cursor.json.extracting(start..<cursor.index))
    return .set
  }

  private mutating func literal(_ text: StaticString, into output: inout ByteBuffer) -> Result? {
    guard cursor.skip(text) else { return nil }
    output.append(varint: UInt64(text.utf8CodeUnitCount))
    output.append(text)
    return .set
  }
}
