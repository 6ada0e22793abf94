import Bytes
import ProtobufSchema

extension WireNormalizer {
  /// Appends the value that the reader is at, with its tag; nothing for the default of a field without presence.
  mutating func singular(
    _ field: FieldPlan, _ reader: inout WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    switch field.kind {
    case .string, .bytes:
      let range = try reader.delimited()
      if range.isEmpty, !field.hasPresence { return }
      try text(field, range, into: &output)
    case _ where field.kind.isScalar:
      let value = field.kind.canonical(try reader.raw(field.wireType))
      if value == 0, !field.hasPresence { return }
      output.append(encodedTag: field.tag, length: field.tagLength)
      output.append(value, field.wireType)
    default: try message(field, [try reader.content(field)], into: &output)
    }
  }

  /// Appends a string or bytes with the tag.
  func text(_ field: FieldPlan, _ range: Range<Int>, into output: inout ByteBuffer) throws(Fault) {
    let value = bytes.extracting(range)
    if field.validatesUTF8, let bad = UTF8Validation.firstInvalid(value) {
      throw Fault(.utf8, at: range.lowerBound + bad, "well-formed UTF-8 expected")
    }
    output.append(encodedTag: field.tag, length: field.tagLength)
    output.append(varint: UInt64(range.count))
    output.append(value)
  }

  /// Appends a message or group with its tags.
  mutating func message(
    _ field: FieldPlan, _ parts: [Range<Int>], into output: inout ByteBuffer
  ) throws(Fault) {
    output.append(encodedTag: field.tag, length: field.tagLength)
    if field.kind == .group {
      try message(Int(field.sub), parts: parts, into: &output)
      output.append(encodedTag: field.endGroupTag, length: field.tagLength)
    } else {
      let start = output.beginLengthDelimited()
      try message(Int(field.sub), parts: parts, into: &output)
      output.endLengthDelimited(start)
      if field.kind == .item { output.append(MessageSetItem.end) }
    }
  }

  // MARK: Lists

  /// Appends all neighbouring values of a list.
  mutating func list(
    _ field: FieldPlan, _ first: WireTag, _ reader: inout WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    var list = OpenList(field, in: &output)
    var tag = first
    repeat { try values(of: &list, tag, &reader, into: &output) } while try isAnother(field, &tag, &reader)
    close(list, into: &output)
  }

  /// Steps over the next tag when it is one more of the field's.
  private func isAnother(_ field: FieldPlan, _ tag: inout WireTag, _ reader: inout WireReader) throws(Fault) -> Bool {
    guard reader.isNext(field.number) else { return false }
    var probe = WireReader(bytes, reader.offset..<reader.limit)
    guard field.accepts(try self.tag(&probe).type) else { return false }
    tag = try self.tag(&reader)
    return true
  }

  /// A list whose values are being written.
  struct OpenList {
    let field: FieldPlan
    /// Where the output ended before it.
    let before: Int
    /// Where the values of a packed list begin.
    let start: Int
    var count = 0
    /// Numbers that the closed enum lacks.
    var unnamed: [UInt64] = []

    init(_ field: FieldPlan, in output: inout ByteBuffer) {
      self.field = field
      before = output.count
      if field.shape == .packed {
        output.append(encodedTag: field.packedTag, length: field.packedTagLength)
        start = output.beginLengthDelimited()
      } else {
        start = output.count
      }
    }
  }

  func close(_ list: OpenList, into output: inout ByteBuffer) {
    if output.count == list.start {
      output.truncate(to: list.before)
    } else if list.field.shape == .packed {
      output.endLengthDelimited(list.start)
    }
    keep(list.unnamed, of: list.field, into: &output)
  }

  /// Appends the value or the packed values behind one tag.
  mutating func values(
    of list: inout OpenList, _ tag: WireTag, _ reader: inout WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    let field = list.field
    do throws(Fault) {
      if !field.kind.isScalar {
        try message(field, [try reader.content(field)], into: &output)
        list.count &+= 1
      } else if !field.kind.isPackable {
        try text(field, try reader.delimited(), into: &output)
        list.count &+= 1
      } else if tag.type == .lengthDelimited {
        var packed = WireReader(bytes, try reader.delimited())
        while !packed.isAtEnd { append(try packed.raw(field.wireType), to: &list, into: &output) }
      } else {
        append(try reader.raw(field.wireType), to: &list, into: &output)
      }
    } catch {
      throw error.inside("[\(list.count)]")
    }
  }

  private func append(_ raw: UInt64, to list: inout OpenList, into output: inout ByteBuffer) {
    let field = list.field
    list.count &+= 1
    guard tables.isNamed(raw, field) else {
      list.unnamed.append(raw)
      return
    }
    if field.shape != .packed { output.append(encodedTag: field.tag, length: field.tagLength) }
    output.append(field.kind.canonical(raw), field.wireType)
  }

  // MARK: Reading

  @inline(__always)
  func tag(_ reader: inout WireReader) throws(Fault) -> WireTag {
    do { return try reader.readTag() } catch { throw Fault(error) }
  }

  func skip(_ tag: WireTag, _ reader: inout WireReader) throws(Fault) {
    do { try reader.skip(tag) } catch { throw Fault(error) }
  }
}

extension ValueKind {
  /// The bits of a scalar in the one form in which serializers write them.
  @inline(__always)
  func canonical(_ raw: UInt64) -> UInt64 {
    switch self {
    case .int32, .enumeration, .nullValue: UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: raw)))
    case .uint32, .sint32: raw & 0xFFFF_FFFF
    case .bool: raw == 0 ? 0 : 1
    default: raw
    }
  }
}

extension ByteBuffer {
  /// Appends the bits of a scalar.
  @inline(__always)
  mutating func append(_ raw: UInt64, _ type: WireType) {
    switch type {
    case .fixed32: append(fixed32: UInt32(truncatingIfNeeded: raw))
    case .fixed64: append(fixed64: raw)
    default: append(varint: raw)
    }
  }
}
