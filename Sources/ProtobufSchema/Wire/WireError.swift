/// Why bytes are not protobuf's wire format, and where.
@usableFromInline
package struct WireError: Error, Sendable, Equatable {
  @usableFromInline
  package enum Kind: String, Sendable, CaseIterable {
    /// The bytes end inside a tag, a value or a group.
    case truncated = "the bytes end inside a field"
    /// A varint of more than ten bytes.
    case varint = "a varint is too long"
    /// Field number 0 or above 2^29-1, wire type 6 or 7, or a tag above 32 bits or of more than five bytes.
    case tag = "a tag is not valid"
    /// A group ends that did not begin, or with another number.
    case group = "a group ends without its beginning"
    /// Groups or messages nested deeper than the limit.
    case depth = "messages are nested too deeply"
    /// A string that is not UTF-8.
    case utf8 = "a string is not UTF-8"
  }

  package let kind: Kind
  /// The byte at which the tag or value with the fault begins, from the front of the reader's bytes.
  package let offset: Int

  package init(_ kind: Kind, at offset: Int) {
    self.kind = kind
    self.offset = offset
  }

  package var reason: String { kind.rawValue }
}
