import Bytes
import ProtobufSchema

extension ComparisonRun {
  /// One value on the wire with its tag.
  struct Occurrence {
    /// Of the field; of an item of a message set, that of the extension.
    let number: UInt32
    let type: WireType
    /// Where its tag begins.
    let start: Int
    /// The bits of a number.
    var raw: UInt64 = 0
    /// What is inside a length-delimited value or a group.
    var content = 0..<0
    /// Behind all of it.
    var end = 0
  }

  @_lifetime(copy self)
  func reader(_ side: Side, _ range: Range<Int>) -> WireReader {
    side == .rest ? WireReader(rest, range) : WireReader(rpc, range)
  }

  @_lifetime(copy self)
  func bytes(_ side: Side, _ range: Range<Int>) -> Span<UInt8> {
    side == .rest ? rest.extracting(range) : rpc.extracting(range)
  }

  /// Reads the value whose tag begins at an offset.
  func next(_ side: Side, _ offset: Int, _ limit: Int, isItem: Bool = false) throws(WireError) -> Occurrence {
    var reader = reader(side, offset..<limit)
    let tag = try reader.readTag()
    if isItem, tag.number == 1, tag.type == .startGroup { return try item(&reader, offset) }
    var found = Occurrence(number: tag.number, type: tag.type, start: offset)
    switch tag.type {
    case .varint: found.raw = try reader.readVarint()
    case .fixed64: found.raw = try reader.readFixed64()
    case .fixed32: found.raw = UInt64(try reader.readFixed32())
    case .lengthDelimited: found.content = try reader.readLengthDelimited()
    case .startGroup: found.content = try reader.readGroup(tag.number)
    case .endGroup: throw WireError(.group, at: offset)
    }
    found.end = reader.offset
    return found
  }

  /// `group Item = 1 { type_id = 2; message = 3; }` of a message set.
  private func item(_ reader: inout WireReader, _ start: Int) throws(WireError) -> Occurrence {
    let range = try reader.readGroup(1)
    var number: UInt32 = 0
    var content = range.upperBound..<range.upperBound
    var inner = WireReader(reader.bytes, range)
    while let tag = try inner.nextTag() {
      switch (tag.number, tag.type) {
      case (2, .varint): number = UInt32(truncatingIfNeeded: try inner.readVarint())
      case (3, .lengthDelimited): content = try inner.readLengthDelimited()
      default: try inner.skip(tag)
      }
    }
    return Occurrence(number: number, type: .lengthDelimited, start: start, content: content, end: reader.offset)
  }

  /// Whether the bytes are of the field's type; a list of numbers may be packed or not.
  func accepts(_ field: ComparedField, _ type: WireType) -> Bool {
    field.wireType == type
      || type == .lengthDelimited && field.cardinality == .repeated && !field.isText && !field.isMessage
  }

  // MARK: Runs of one field

  /// Walks the elements of a repeated field that lie one behind the other, packed or not.
  struct Cursor {
    /// The next tag.
    var offset: Int
    let limit: Int
    /// What is left of a packed list.
    var packed = 0..<0
  }

  /// The next element; nil at the end, with the cursor behind the run.
  mutating func next(_ side: Side, _ field: ComparedField, _ cursor: inout Cursor) throws(WireError) -> Occurrence? {
    spend()
    while cursor.packed.isEmpty {
      guard cursor.offset < cursor.limit else { return nil }
      let found = try next(side, cursor.offset, cursor.limit)
      guard found.number == field.number, accepts(field, found.type) else { return nil }
      cursor.offset = found.end
      guard found.type == .lengthDelimited, !field.isText, !field.isMessage else { return found }
      cursor.packed = found.content
    }
    var reader = reader(side, cursor.packed)
    var element = Occurrence(number: field.number, type: field.wireType, start: cursor.packed.lowerBound)
    switch field.wireType {
    case .fixed64: element.raw = try reader.readFixed64()
    case .fixed32: element.raw = UInt64(try reader.readFixed32())
    default: element.raw = try reader.readVarint()
    }
    element.end = reader.offset
    cursor.packed = reader.offset..<cursor.packed.upperBound
    return element
  }

  mutating func countRun(
    _ side: Side, _ field: ComparedField, _ first: Occurrence, _ limit: Int
  ) throws(WireError) -> Int {
    var cursor = Cursor(offset: first.start, limit: limit)
    var count = 0
    while try next(side, field, &cursor) != nil { count += 1 }
    return count
  }

  mutating func endOfRun(
    _ side: Side, _ field: ComparedField, _ first: Occurrence, _ limit: Int
  ) throws(WireError) -> Int {
    var offset = first.end
    while offset < limit {
      spend()
      let found = try next(side, offset, limit)
      guard found.number == field.number else { return offset }
      offset = found.end
    }
    return offset
  }

  /// The one value of a field in a small message; nil when it has none.
  func only(_ number: UInt32, _ side: Side, _ range: Range<Int>) throws(WireError) -> Occurrence? {
    var offset = range.lowerBound
    var last: Occurrence?
    while offset < range.upperBound {
      let found = try next(side, offset, range.upperBound)
      if found.number == number { last = found }
      offset = found.end
    }
    return last
  }
}
