import Bytes

/// Arrays and maps.
extension MessageDecoder {
  /// Reads an array as neighbouring values, each with its tag.
  mutating func repeated(_ field: FieldPlan, into output: inout ByteBuffer) throws(Fault) {
    guard cursor.byte == UInt8(ascii: "[") else { return try loneElement(field, into: &output) }
    guard try cursor.open(UInt8(ascii: "[")) else { return }
    repeat {
      if try skipsNull(field.kind) { continue }
      let before = output.count
      if try tagged(field, bindings: 0, level: 0, into: &output) == .dropped { output.truncate(to: before) }
    } while try cursor.next(UInt8(ascii: "["))
  }

  /// Reads an array of numbers as one packed value.
  mutating func packed(_ field: FieldPlan, into output: inout ByteBuffer) throws(Fault) {
    let isArray = cursor.byte == UInt8(ascii: "[")
    guard isArray || profile.isLenient else { throw cursor.mismatch("an array") }
    if isArray, try !cursor.open(UInt8(ascii: "[")) { return }
    let before = output.count
    output.append(encodedTag: field.packedTag, length: field.packedTagLength)
    let start = output.beginLengthDelimited()
    repeat {
      if try skipsNull(field.kind) { continue }
      if profile.isLenient, try loose(field, into: &output) != nil { continue }
      _ = try scalar(field.kind, Int(field.sub), into: &output)
      // `&&` would lose the type of the error.
    } while isArray ? try cursor.next(UInt8(ascii: "[")) : false
    if output.count == start { output.truncate(to: before) } else { output.endLengthDelimited(start) }
  }

  /// Steps over a null where none belongs, if the profile takes it for nothing.
  @inline(__always)
  private mutating func skipsNull(_ kind: ValueKind) throws(Fault) -> Bool {
    guard cursor.byte == UInt8(ascii: "n"), !kind.acceptsNull else { return false }
    guard profile.isLenient else { throw cursor.mismatch("a value") }
    try cursor.literal("null")
    return true
  }

  // MARK: Maps

  /// Reads an object as the entries of a map.
  mutating func map(_ field: FieldPlan, into output: inout ByteBuffer) throws(Fault) {
    if cursor.byte == UInt8(ascii: "["), profile.isLenient, try emptyArray() { return }
    guard cursor.byte == UInt8(ascii: "{") else { throw cursor.mismatch("an object") }
    guard try cursor.open(UInt8(ascii: "{")) else { return }
    let entry = tables.messages[Int(field.sub)]
    guard entry.keyField >= 0, entry.valueField >= 0 else { throw cursor.mismatch("a map with keys and values") }
    let key = tables.fields[Int(entry.keyField)]
    let value = tables.fields[Int(entry.valueField)]
    var keys = KeySet()
    repeat {
      let start = cursor.index
      let before = output.count
      output.append(encodedTag: field.tag, length: field.tagLength)
      let body = output.beginLengthDelimited()
      output.append(encodedTag: key.tag, length: key.tagLength)
      let keyStart = output.count
      try mapKey(key.kind, into: &output)
      guard keys.insert(KeySet.mark(output.span.extracting(keyStart..<output.count)), &memory) else {
        throw Fault(.duplicate, at: start, "each key of a map once")
      }
      try cursor.colon()
      if try skipsNull(value.kind) {
        output.truncate(to: before)
        continue
      }
      if try tagged(value, bindings: 0, level: 0, into: &output) == .dropped {
        output.truncate(to: before)
      } else {
        output.endLengthDelimited(body)
      }
    } while try cursor.next(UInt8(ascii: "{"))
    keys.close(&memory)
  }

  private mutating func mapKey(_ kind: ValueKind, into output: inout ByteBuffer) throws(Fault) {
    switch kind {
    case .string: _ = try string(into: &output)
    case .bool:
      let start = cursor.index
      if try cursor.skipString("true") {
        output.append(1)
      } else if try cursor.skipString("false") {
        output.append(0)
      } else {
        throw Fault(.type, at: start, "the key \"true\" or \"false\" expected")
      }
    default:
      guard cursor.byte == 0x22 else { throw cursor.mismatch("a string") }
      _ = try scalar(kind, -1, into: &output)
    }
  }
}
