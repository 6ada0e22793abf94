import ProtobufSchema

/// Numbers that a closed enum lacks: on the wire they are unknown fields (Protobuf Editions, `enum_type = CLOSED`).
extension TableView {
  @inline(__always)
  func isNamed(_ raw: UInt64, _ field: FieldPlan) -> Bool {
    guard field.isClosed else { return true }
    return enumValue(Int32(truncatingIfNeeded: raw), of: enums[Int(field.sub)]) != nil
  }

  /// Whether the value of a singular field that begins here is one of its enum; true for all that is no enum.
  ///
  /// Lists and maps look at their values one by one. What cannot be read fails where it is read for good.
  @inline(__always)
  func isNamed(_ field: FieldPlan, valueAt source: WireReader) -> Bool {
    guard field.isClosed, field.shape == .singular else { return true }
    var probe = WireReader(source.bytes, source.offset..<source.limit)
    return (try? probe.readVarint()).map { isNamed($0, field) } ?? true
  }

  /// Whether the last value of a map's entry is one of its enum: else the whole entry is an unknown field.
  func isNamed(_ map: FieldPlan, entry: WireReader) -> Bool {
    let index = messages[Int(map.sub)].valueField
    guard index >= 0 else { return true }
    let value = fields[Int(index)]
    guard value.isClosed else { return true }
    var reader = WireReader(entry.bytes, entry.offset..<entry.limit)
    var last: UInt64?
    while !reader.isAtEnd, let tag = try? reader.readTag() {
      if tag == WireTag(number: 2, type: .varint) {
        last = try? reader.readVarint()
      } else if (try? reader.skip(tag)) == nil {
        return true
      }
    }
    return last.map { isNamed($0, value) } ?? true
  }
}
