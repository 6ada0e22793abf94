import Bytes
import ProtobufSchema

/// `Struct`, `Value` and `ListValue`: JSON inside protobuf.
extension MessageEncoder {
  /// The records of a message in order of the careful run; the bytes as they are in the first.
  private mutating func ordered(_ plan: Int32, _ source: WireReader, into buffer: inout ByteBuffer) throws(Fault)
    -> Bool
  {
    guard isCareful, plan >= 0, !tables.isInOrder(tables.messages[Int(plan)], source, &memory) else { return false }
    try order(Int(plan), source, into: &buffer)
    return true
  }

  mutating func structure(_ source: WireReader, into output: inout ByteBuffer) throws(Fault) {
    guard isCareful else { return try entries(source, into: &output) }
    var buffer = memory.takeBuffer()
    defer { memory.give(&buffer) }
    if try ordered(tables.structure, source, into: &buffer) {
      let span = buffer.span
      try entries(WireReader(span), into: &output)
    } else {
      try entries(source, into: &output)
    }
  }

  private mutating func entries(_ source: WireReader, into output: inout ByteBuffer) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    output.append(UInt8(ascii: "{"))
    let empty = output.count
    var keys = KeySet()
    while let range = try nextMessage(1, &reader) {
      if output.count != empty { output.append(UInt8(ascii: ",")) }
      try entry(WireReader(reader.bytes, range), &keys, into: &output)
    }
    output.append(UInt8(ascii: "}"))
    keys.close(&memory)
  }

  private mutating func entry(
    _ source: WireReader, _ keys: inout KeySet, into output: inout ByteBuffer
  ) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    var key = source.limit..<source.limit
    var value: Range<Int>?
    while !reader.isAtEnd {
      let start = reader.offset
      let tag: WireTag
      do { tag = try reader.readTag() } catch { throw Fault(error) }
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): key = try reader.delimited()
      case (2, .lengthDelimited):
        if value != nil, !isCareful { throw scattered(start) }
        value = try reader.delimited()
      default: do { try reader.skip(tag) } catch { throw Fault(error) }
      }
    }
    let name = reader.bytes.extracting(key)
    if !isCareful, !keys.insert(KeySet.mark(name), &memory) { throw scattered(source.offset) }
    if let bad = JSONStringWriting.write(name, into: &output) {
      throw Fault(.utf8, at: key.lowerBound + bad, "well-formed UTF-8 expected")
    }
    output.append(UInt8(ascii: ":"))
    let range = value ?? source.limit..<source.limit
    do throws(Fault) {
      try self.value(.value, -1, WireReader(reader.bytes, range), omit: 0, level: 0, into: &output)
    } catch {
      throw mayFollow(error) ? error : error.inside(MapKeyText.text(name))
    }
  }

  mutating func listValue(_ source: WireReader, into output: inout ByteBuffer) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    output.append(UInt8(ascii: "["))
    var index = 0
    while let range = try nextMessage(1, &reader) {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      do throws(Fault) {
        try value(.value, -1, WireReader(reader.bytes, range), omit: 0, level: 0, into: &output)
      } catch {
        throw mayFollow(error) ? error : error.inside("[\(index)]")
      }
      index &+= 1
    }
    output.append(UInt8(ascii: "]"))
  }

  mutating func dynamicValue(_ source: WireReader, into output: inout ByteBuffer) throws(Fault) {
    guard isCareful else { return try kind(source, into: &output) }
    var buffer = memory.takeBuffer()
    defer { memory.give(&buffer) }
    if try ordered(tables.value, source, into: &buffer) {
      let span = buffer.span
      try kind(WireReader(span), into: &output)
    } else {
      try kind(source, into: &output)
    }
  }

  /// Writes the one kind that is set.
  private mutating func kind(_ source: WireReader, into output: inout ByteBuffer) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    var hasKind = false
    while !reader.isAtEnd {
      let start = reader.offset
      let tag: WireTag
      do { tag = try reader.readTag() } catch { throw Fault(error) }
      let isKnown =
        switch (tag.number, tag.type) {
        case (1, .varint), (2, .fixed64), (3, .lengthDelimited), (4, .varint), (5, .lengthDelimited),
          (6, .lengthDelimited):
          true
        default: false
        }
      guard isKnown else {
        do { try reader.skip(tag) } catch { throw Fault(error) }
        continue
      }
      if hasKind { throw scattered(start) }
      hasKind = true
      try write(kind: tag, &reader, into: &output)
    }
    guard hasKind else { throw Fault(.range, at: source.offset, "a Value with a kind expected") }
  }

  private mutating func write(
    kind tag: WireTag, _ reader: inout WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    switch tag.number {
    case 1:
      _ = try reader.raw(.varint)
      output.append("null")
    case 2:
      let at = reader.offset
      let value = Double(bitPattern: try reader.raw(.fixed64))
      guard value.isFinite else { throw Fault(.range, at: at, "a finite number expected in a Value") }
      FloatForm.write(value, into: &output)
    case 3:
      let range = try reader.delimited()
      if let bad = JSONStringWriting.write(reader.bytes.extracting(range), into: &output) {
        throw Fault(.utf8, at: range.lowerBound + bad, "well-formed UTF-8 expected")
      }
    case 4: output.append(try reader.raw(.varint) != 0 ? "true" : "false")
    case 5:
      let range = try reader.delimited()
      try value(.structure, -1, WireReader(reader.bytes, range), omit: 0, level: 0, into: &output)
    default:
      let range = try reader.delimited()
      try value(.listValue, -1, WireReader(reader.bytes, range), omit: 0, level: 0, into: &output)
    }
  }

  /// The range of the next message with a number; other fields are skipped.
  private func nextMessage(_ number: UInt32, _ reader: inout WireReader) throws(Fault) -> Range<Int>? {
    do {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        if tag == WireTag(number: number, type: .lengthDelimited) { return try reader.readLengthDelimited() }
        try reader.skip(tag)
      }
    } catch {
      throw Fault(error)
    }
    return nil
  }
}
