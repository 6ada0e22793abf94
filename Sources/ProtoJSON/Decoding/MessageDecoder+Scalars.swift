import Bytes
import ProtobufSchema

extension MessageDecoder {
  /// Appends the string that stands here with its length; true when it is empty.
  @inline(__always)
  mutating func string(into output: inout ByteBuffer) throws(Fault) -> Bool {
    guard let range = try cursor.plainString() else {
      let start = output.beginLengthDelimited()
      try cursor.unescape(into: &output)
      output.endLengthDelimited(start)
      return output.count == start
    }
    output.append(varint: UInt64(range.count))
    output.append(short: cursor.json, range.lowerBound, range.count)
    return range.isEmpty
  }

  /// Appends the bytes of the base64 that stands here with their length; true when there are none.
  mutating func bytes(into output: inout ByteBuffer) throws(Fault) -> Bool {
    let offset = cursor.index
    let start = output.beginLengthDelimited()
    let isWell: Bool
    if let range = try cursor.plainString() {
      isWell = Base64.decode(cursor.json.extracting(range), into: &output)
    } else {
      var text = ByteBuffer()
      try cursor.unescape(into: &text)
      isWell = Base64.decode(text.span, into: &output)
    }
    guard isWell else { throw Fault(.type, at: offset, "base64 expected") }
    output.endLengthDelimited(start)
    return output.count == start
  }

  /// Appends the number, boolean or enum value that stands here.
  mutating func scalar(_ kind: ValueKind, _ sub: Int, into output: inout ByteBuffer) throws(Fault) -> Result {
    let start = cursor.index
    switch kind {
    case .int64: return put(varint: UInt64(bitPattern: try signed(.min, .max, start)), into: &output)
    case .int32: return put(varint: UInt64(bitPattern: try signed32(start)), into: &output)
    case .uint64: return put(varint: try unsigned(.max, start), into: &output)
    case .uint32: return put(varint: try unsigned(UInt64(UInt32.max), start), into: &output)
    case .sint64: return put(varint: ZigZag.encode(try signed(.min, .max, start)), into: &output)
    case .sint32: return put(varint: ZigZag.encode(try signed32(start)), into: &output)
    case .fixed64: return put(fixed64: try unsigned(.max, start), into: &output)
    case .sfixed64: return put(fixed64: UInt64(bitPattern: try signed(.min, .max, start)), into: &output)
    case .fixed32:
      return put(fixed32: UInt32(truncatingIfNeeded: try unsigned(UInt64(UInt32.max), start)), into: &output)
    case .sfixed32: return put(fixed32: UInt32(truncatingIfNeeded: try signed32(start)), into: &output)
    case .double: return put(fixed64: try cursor.double().bitPattern, into: &output)
    case .float: return put(fixed32: try cursor.float().bitPattern, into: &output)
    case .bool:
      if cursor.skip("true") {
        output.append(1)
        return .set
      }
      guard cursor.skip("false") else { throw cursor.mismatch("true or false") }
      output.append(0)
      return .zero
    case .enumeration: return try enumeration(tables.enums[sub], into: &output)
    case .nullValue:
      if !cursor.skip("null") { try nullName(start) }
      output.append(0)
      return .zero
    case .string: return try string(into: &output) ? .zero : .set
    case .bytes: return try bytes(into: &output) ? .zero : .set
    default: throw cursor.mismatch("a scalar")
    }
  }

  @inline(__always)
  private mutating func signed32(_ start: Int) throws(Fault) -> Int64 {
    try signed(Int64(Int32.min), Int64(Int32.max), start)
  }

  @inline(__always)
  private mutating func signed(_ lower: Int64, _ upper: Int64, _ start: Int) throws(Fault) -> Int64 {
    guard let value = try cursor.integer().signed(lower, upper) else { throw outOfRange(start, "\(lower)", "\(upper)") }
    return value
  }

  @inline(__always)
  private mutating func unsigned(_ upper: UInt64, _ start: Int) throws(Fault) -> UInt64 {
    guard let value = try cursor.integer().unsigned(upper) else { throw outOfRange(start, "0", "\(upper)") }
    return value
  }

  @inline(never)
  private func outOfRange(_ start: Int, _ lower: String, _ upper: String) -> Fault {
    Fault(.range, at: start, "an integer from \(lower) to \(upper) expected")
  }

  @inline(__always)
  private func put(varint value: UInt64, into output: inout ByteBuffer) -> Result {
    output.append(varint: value)
    return value == 0 ? .zero : .set
  }

  @inline(__always)
  private func put(fixed32 value: UInt32, into output: inout ByteBuffer) -> Result {
    output.append(fixed32: value)
    return value == 0 ? .zero : .set
  }

  @inline(__always)
  private func put(fixed64 value: UInt64, into output: inout ByteBuffer) -> Result {
    output.append(fixed64: value)
    return value == 0 ? .zero : .set
  }

  /// `NullValue` by name or number.
  private mutating func nullName(_ start: Int) throws(Fault) {
    let isNull: Bool
    if cursor.byte == 0x22 {
      isNull = try cursor.skipString("NULL_VALUE")
    } else {
      isNull = try cursor.integer().magnitude == 0
    }
    guard isNull else { throw Fault(.type, at: start, "null expected") }
  }

  // MARK: Enums

  private mutating func enumeration(_ plan: EnumPlan, into output: inout ByteBuffer) throws(Fault) -> Result {
    let start = cursor.index
    guard cursor.byte == 0x22 else {
      let found = cursor.byte
      guard found &- 48 < 10 || found == UInt8(ascii: "-") else {
        throw cursor.mismatch("the name or number of an enum value")
      }
      let number = try signed32(start)
      return try put(enumNumber: Int32(truncatingIfNeeded: number), plan, start, into: &output)
    }
    let target: Int32?
    if let range = try cursor.plainString() {
      let key = NameKey(cursor.json, at: range.lowerBound, length: range.count)
      target = tables.target(key, cursor.json, at: range.lowerBound, table: plan.slotsStart, mask: plan.slotsMask)
    } else {
      var text = ByteBuffer()
      try cursor.unescape(into: &text)
      target = tables.target(
        NameKey(text.span, at: 0, length: text.count), text.span, at: 0, table: plan.slotsStart, mask: plan.slotsMask)
    }
    if let target { return put(varint: UInt64(bitPattern: Int64(target)), into: &output) }
    guard profile.unknownFields != .reject else { throw Fault(.type, at: start, "the name of an enum value expected") }
    noteUnknown(start)
    return .dropped
  }

  private func put(
    enumNumber number: Int32, _ plan: EnumPlan, _ start: Int, into output: inout ByteBuffer
  ) throws(Fault) -> Result {
    guard plan.isOpen || tables.enumValue(number, of: plan) != nil else {
      throw Fault(.range, at: start, "a number of the enum expected")
    }
    return put(varint: UInt64(bitPattern: Int64(number)), into: &output)
  }
}
