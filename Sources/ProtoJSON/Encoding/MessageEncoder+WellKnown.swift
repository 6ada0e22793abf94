import Bytes
import ProtobufSchema

/// Types with a JSON form of their own. Field numbers are those of google/protobuf/*.proto.
extension MessageEncoder {
  mutating func wellKnown(
    _ kind: ValueKind, _ message: Int, _ reader: WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    switch kind {
    case .timestamp: try timestamp(reader, into: &output)
    case .duration: try duration(reader, into: &output)
    case .fieldMask:
      output.append(0x22)
      try fieldMask(reader, isQuoted: true, into: &output)
      output.append(0x22)
    case .wrapper: try wrapper(message, reader, into: &output)
    case .structure: try structure(reader, into: &output)
    case .listValue: try listValue(reader, into: &output)
    case .value: try dynamicValue(reader, into: &output)
    default: try any(reader, into: &output)
    }
  }

  // MARK: Times

  /// Seconds and nanoseconds of a `Timestamp` or `Duration`; the last of each counts.
  func time(_ source: WireReader) throws(Fault) -> (seconds: Int64, nanos: Int32) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    var value: (seconds: Int64, nanos: Int32) = (0, 0)
    do {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        switch (tag.number, tag.type) {
        case (1, .varint): value.seconds = Int64(bitPattern: try reader.readVarint())
        case (2, .varint): value.nanos = Int32(truncatingIfNeeded: try reader.readVarint())
        default: try reader.skip(tag)
        }
      }
    } catch {
      throw Fault(error)
    }
    return value
  }

  private func timestamp(_ reader: WireReader, into output: inout ByteBuffer) throws(Fault) {
    let value = try time(reader)
    guard TimestampForm.isValid(value) else {
      throw Fault(.range, at: reader.offset, "a timestamp of the years 0001 to 9999 expected")
    }
    switch profile.timestamps {
    case .rfc3339:
      output.append(0x22)
      TimestampForm.write(value, into: &output)
      output.append(0x22)
    case .unix: TimestampForm.writeUnix(value, milliseconds: false, into: &output)
    case .unixMilliseconds: TimestampForm.writeUnix(value, milliseconds: true, into: &output)
    case .rfc3339Milliseconds, .local, .sql:
      output.append(0x22)
      TimestampForm.write(value, as: profile.timestamps, into: &output)
      output.append(0x22)
    }
  }

  private func duration(_ reader: WireReader, into output: inout ByteBuffer) throws(Fault) {
    let value = try time(reader)
    guard DurationForm.isValid(value) else {
      throw Fault(.range, at: reader.offset, "a duration of at most 10000 years expected")
    }
    output.append(0x22)
    DurationForm.write(value, into: &output)
    output.append(0x22)
  }

  // MARK: FieldMask and wrappers

  /// Writes the paths without the quotes around.
  ///
  /// - Parameter isQuoted: whether they become a JSON string.
  func fieldMask(_ source: WireReader, isQuoted: Bool, into output: inout ByteBuffer) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    let start = output.count
    while !reader.isAtEnd {
      let range: Range<Int>
      do {
        let tag = try reader.readTag()
        guard tag == WireTag(number: 1, type: .lengthDelimited) else {
          try reader.skip(tag)
          continue
        }
        range = try reader.readLengthDelimited()
      } catch {
        throw Fault(error)
      }
      if output.count != start { output.append(UInt8(ascii: ",")) }
      let path = reader.bytes.extracting(range)
      if let bad = UTF8Validation.firstInvalid(path) {
        throw Fault(.utf8, at: range.lowerBound + bad, "well-formed UTF-8 expected")
      }
      let before = output.count
      if FieldMaskForm.write(path, isQuoted: isQuoted, into: &output) { continue }
      guard !isQuoted, FieldMaskForm.isProtoName(path) else {
        throw Fault(.range, at: range.lowerBound, "a path in lower_snake_case expected")
      }
      // What has no lowerCamelCase: texts may hold proto names as well.
      output.truncate(to: before)
      output.append(path)
    }
  }

  private func wrapper(_ message: Int, _ source: WireReader, into output: inout ByteBuffer) throws(Fault) {
    let inner = tables.messages[message].wrapped
    let type = inner.wireType
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    var raw: UInt64 = 0
    var range = 0..<0
    do {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        guard tag == WireTag(number: 1, type: type) else {
          try reader.skip(tag)
          continue
        }
        if type == .lengthDelimited {
          range = try reader.readLengthDelimited()
        } else if type == .fixed32 {
          raw = UInt64(try reader.readFixed32())
        } else if type == .fixed64 {
          raw = try reader.readFixed64()
        } else {
          raw = try reader.readVarint()
        }
      }
    } catch {
      throw Fault(error)
    }
    switch inner {
    case .bytes:
      output.append(0x22)
      Base64.encode(reader.bytes.extracting(range), into: &output)
      output.append(0x22)
    case .string:
      if let bad = JSONStringWriting.write(reader.bytes.extracting(range), into: &output) {
        throw Fault(.utf8, at: range.lowerBound + bad, "well-formed UTF-8 expected")
      }
    default: number(raw, inner, into: &output)
    }
  }

  // MARK: Any

  private mutating func any(_ source: WireReader, into output: inout ByteBuffer) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    var type = 0..<0
    var content = source.limit..<source.limit
    do {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        switch (tag.number, tag.type) {
        case (1, .lengthDelimited): type = try reader.readLengthDelimited()
        case (2, .lengthDelimited): content = try reader.readLengthDelimited()
        default: try reader.skip(tag)
        }
      }
    } catch {
      throw Fault(error)
    }
    if type.isEmpty, content.isEmpty {
      output.append("{}")
      return
    }
    let url = reader.bytes.extracting(type)
    var slash = url.count
    while slash > 0, url[slash &- 1] != UInt8(ascii: "/") { slash &-= 1 }
    guard slash > 0, let message = schema.messageIndex(named: url.extracting(slash..<url.count))
    else { throw Fault(.type, at: type.lowerBound, "a type of the schema expected in the Any") }
    let start = output.count
    output.append(",\"@type\":")
    if JSONStringWriting.write(url, into: &output) != nil {
      throw Fault(.utf8, at: type.lowerBound, "well-formed UTF-8 expected")
    }
    let kind = tables.messages[message].kind
    do throws(Fault) {
      if kind == .message {
        try members(message, WireReader(reader.bytes, content), omit: 0, level: 0, into: &output)
      } else {
        output.append(",\"value\":")
        try value(kind, message, WireReader(reader.bytes, content), omit: 0, level: 0, into: &output)
      }
    } catch {
      // To the message that holds the Any, its content is any bytes, and another part may replace them.
      mayBeReplaced()
      throw error
    }
    close(start, into: &output)
  }
}
