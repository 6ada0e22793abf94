import Bytes
import ProtobufSchema

/// Types with a JSON form of their own. Field numbers are those of google/protobuf/*.proto.
extension MessageDecoder {
  /// Appends the content of a well-known message, without tag and length.
  mutating func wellKnown(_ kind: ValueKind, _ message: Int, into output: inout ByteBuffer) throws(Fault) {
    switch kind {
    case .timestamp: try timestamp(into: &output)
    case .duration: try duration(into: &output)
    case .fieldMask: try fieldMask(into: &output)
    case .structure: try structure(into: &output)
    case .listValue: try list(into: &output)
    case .value: try dynamicValue(into: &output)
    case .wrapper:
      let inner = tables.messages[message].wrapped
      let before = output.count
      output.append(varint: 1 << 3 | UInt64(inner.wireType.rawValue))
      let loose = profile.isLenient ? try loose(inner, into: &output) : nil
      let result = if let loose { loose } else { try scalar(inner, -1, into: &output) }
      if result != .set { output.truncate(to: before) }
    case .any: try any(into: &output)
    default: try object(message, bindings: 0, level: 0, into: &output)
    }
  }

  /// The message of a kind as a whole document or as the value of an `Any`.
  mutating func document(
    _ message: Int, bindings: UInt64, into output: inout ByteBuffer
  ) throws(Fault) {
    let kind = tables.messages[message].kind
    if kind == .message {
      try object(message, bindings: bindings, level: 0, into: &output)
    } else {
      guard bindings == 0 else { throw Fault(.conflict, at: cursor.index, "no part of this type can be bound") }
      try wellKnown(kind, message, into: &output)
    }
  }

  // MARK: Times

  private func append(seconds: Int64, nanos: Int32, into output: inout ByteBuffer) {
    if seconds != 0 {
      output.append(0x08)
      output.append(varint: UInt64(bitPattern: seconds))
    }
    if nanos != 0 {
      output.append(0x10)
      output.append(varint: UInt64(bitPattern: Int64(nanos)))
    }
  }

  private mutating func timestamp(into output: inout ByteBuffer) throws(Fault) {
    let start = cursor.index
    let value: TimestampForm.Value
    let byte = cursor.byte
    if profile.timestamps.isNumber, byte &- 48 < 10 || byte == UInt8(ascii: "-") {
      let number = try Decimal.scan(cursor.json, &cursor.index)
      value = try TimestampForm.value(number, milliseconds: profile.timestamps == .unixMilliseconds, at: start)
    } else if let range = try cursor.plainString() {
      value = try TimestampForm.parse(cursor.json.extracting(range), as: profile, at: start)
    } else {
      var text = ByteBuffer()
      try cursor.unescape(into: &text)
      value = try TimestampForm.parse(text.span, as: profile, at: start)
    }
    append(seconds: value.seconds, nanos: value.nanos, into: &output)
  }

  private mutating func duration(into output: inout ByteBuffer) throws(Fault) {
    let start = cursor.index
    let value: DurationForm.Value
    if let range = try cursor.plainString() {
      value = try DurationForm.parse(cursor.json.extracting(range), at: start)
    } else {
      var text = ByteBuffer()
      try cursor.unescape(into: &text)
      value = try DurationForm.parse(text.span, at: start)
    }
    append(seconds: value.seconds, nanos: value.nanos, into: &output)
  }

  private mutating func fieldMask(into output: inout ByteBuffer) throws(Fault) {
    let start = cursor.index
    if let range = try cursor.plainString() {
      try FieldMaskForm.parse(cursor.json.extracting(range), at: start, into: &output)
    } else {
      var text = ByteBuffer()
      try cursor.unescape(into: &text)
      try FieldMaskForm.parse(text.span, at: start, into: &output)
    }
  }

  // MARK: Struct, Value, ListValue

  private mutating func structure(into output: inout ByteBuffer) throws(Fault) {
    guard cursor.byte == UInt8(ascii: "{") else { throw cursor.mismatch("an object") }
    guard try cursor.open(UInt8(ascii: "{")) else { return }
    var keys = KeySet()
    repeat {
      let start = cursor.index
      output.append(0x0A)
      let entry = output.beginLengthDelimited()
      output.append(0x0A)
      let key = output.count
      _ = try string(into: &output)
      guard keys.insert(KeySet.mark(output.span.extracting(key..<output.count)), &memory) else {
        throw Fault(.duplicate, at: start, "each member once")
      }
      try cursor.colon()
      output.append(0x12)
      let value = output.beginLengthDelimited()
      try dynamicValue(into: &output)
      output.endLengthDelimited(value)
      output.endLengthDelimited(entry)
    } while try cursor.next(UInt8(ascii: "{"))
  }

  private mutating func list(into output: inout ByteBuffer) throws(Fault) {
    guard cursor.byte == UInt8(ascii: "[") else { throw cursor.mismatch("an array") }
    guard try cursor.open(UInt8(ascii: "[")) else { return }
    repeat {
      output.append(0x0A)
      let value = output.beginLengthDelimited()
      try dynamicValue(into: &output)
      output.endLengthDelimited(value)
    } while try cursor.next(UInt8(ascii: "["))
  }

  /// Appends the content of a `Value`: any JSON.
  private mutating func dynamicValue(into output: inout ByteBuffer) throws(Fault) {
    switch cursor.byte {
    case UInt8(ascii: "{"):
      output.append(0x2A)
      let start = output.beginLengthDelimited()
      try structure(into: &output)
      output.endLengthDelimited(start)
    case UInt8(ascii: "["):
      output.append(0x32)
      let start = output.beginLengthDelimited()
      try list(into: &output)
      output.endLengthDelimited(start)
    case 0x22:
      output.append(0x1A)
      _ = try string(into: &output)
    case UInt8(ascii: "t"):
      try cursor.literal("true")
      output.append(0x20)
      output.append(1)
    case UInt8(ascii: "f"):
      try cursor.literal("false")
      output.append(0x20)
      output.append(0)
    case UInt8(ascii: "n"):
      try cursor.literal("null")
      output.append(0x08)
      output.append(0)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      output.append(0x11)
      output.append(fixed64: try FloatReading.scanDouble(cursor.json, &cursor.index).bitPattern)
    default: throw cursor.unexpected("a JSON value")
    }
  }
}

extension TimestampForm {
  /// Reads a text by a profile: RFC 3339 always, a Unix number or a time without its zone when the profile has such.
  static func parse(_ text: Span<UInt8>, as profile: JSONProfile, at offset: Int) throws(Fault) -> Value {
    if profile.timestamps.isNumber, let number = number(text) {
      return try value(number, milliseconds: profile.timestamps == .unixMilliseconds, at: offset)
    }
    return try profile.readsLooseTimes ? parse(loose: text, at: offset) : parse(text, at: offset)
  }

  /// The text as a number, when it is nothing else.
  private static func number(_ text: Span<UInt8>) -> Decimal? {
    var index = 0
    guard let number = try? Decimal.scan(text, &index), index == text.count else { return nil }
    return number
  }
}
