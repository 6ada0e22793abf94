/// The bytes that a file was read from, without SourceCodeInfo: of no use to callers, and most of a file with comments.
/// All are equal, since two files mean the same however they are written.
struct SerializedFile: Equatable, Sendable {
  /// Empty where nobody asked for them.
  var bytes: [UInt8] = []

  init() {}

  /// - Parameter descriptor: a FileDescriptorProto.
  init(_ descriptor: Span<UInt8>) throws(WireError) {
    var reader = WireReader(descriptor)
    var start = 0
    while let tag = try reader.nextTag() {
      try reader.skip(tag)
      if tag.number != 9 { append(descriptor.extracting(start..<reader.offset)) }
      start = reader.offset
    }
  }

  private mutating func append(_ part: Span<UInt8>) {
    for index in part.indices { bytes.append(part[index]) }
  }

  static func == (left: Self, right: Self) -> Bool { true }
}
