extension WireReader {
  /// The range of a group's fields, without the end tag; the reader is behind the end tag afterwards.
  package mutating func readGroup(_ number: UInt32) throws(WireError) -> Range<Int> {
    let from = offset
    // Nested groups are counted on a stack of their own: a peer chooses their depth.
    var open = InlineArray<100, UInt32>(repeating: 0)
    var count = 1
    open[0] = number
    while count > 0 {
      let at = offset
      guard !isAtEnd else { throw WireError(.truncated, at: from) }
      let tag = try readTag()
      switch tag.type {
      case .startGroup:
        guard count < Self.maximumGroupDepth else { throw WireError(.depth, at: at) }
        open[count] = tag.number
        count &+= 1
      case .endGroup:
        guard tag.number == open[count &- 1] else { throw WireError(.group, at: at) }
        count &-= 1
        if count == 0 { return from..<at }
      default: try skip(tag)
      }
    }
    return from..<offset
  }

  /// Skips the value of a field whose tag was read, whole groups included.
  package mutating func skip(_ tag: WireTag) throws(WireError) {
    switch tag.type {
    case .varint: _ = try readVarint()
    case .fixed64: _ = try readFixed64()
    case .lengthDelimited: _ = try readLengthDelimited()
    case .startGroup: _ = try readGroup(tag.number)
    case .endGroup: throw WireError(.group, at: offset)
    case .fixed32: _ = try readFixed32()
    }
  }
}
