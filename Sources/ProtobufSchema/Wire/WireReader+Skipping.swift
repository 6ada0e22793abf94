extension WireReader {
  /// The range of a group's fields, without the end tag; the reader is behind the end tag afterwards.
  package mutating func readGroup(_ number: UInt32) throws(WireError) -> Range<Int> {
    let from = offset
    // Nested groups are counted on a stack of their own: a peer chooses their depth.
    var open: [UInt32] = [number]
    while let innermost = open.last {
      let at = offset
      guard !isAtEnd else { throw WireError(.truncated, at: from) }
      let tag = try readTag()
      switch tag.type {
      case .startGroup:
        guard open.count < Self.maximumGroupDepth else { throw WireError(.depth, at: at) }
        open.append(tag.number)
      case .endGroup:
        guard tag.number == innermost else { throw WireError(.group, at: at) }
        open.removeLast()
        if open.isEmpty { return from..<at }
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
