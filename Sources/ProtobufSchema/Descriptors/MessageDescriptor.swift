/// A DescriptorProto, in so far as it matters here.
struct MessageDescriptor: Equatable, Sendable {
  /// libprotobuf's limit for nested messages, which declarations in declarations are.
  static let maximumDepth = 100

  var name = ""
  var fields: [FieldDescriptor] = []
  var extensions: [FieldDescriptor] = []
  var nested: [MessageDescriptor] = []
  var enums: [EnumDescriptor] = []
  var extensionRanges: [ExtensionRange] = []
  var oneofs: [OneofDescriptor] = []
  var isMapEntry = false
  var isMessageSet = false
  var overrides = FeatureOverrides()

  init(_ bytes: Span<UInt8>, depth: Int) throws(WireError) {
    guard depth <= Self.maximumDepth else { throw WireError(.depth, at: 0) }
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): name = try reader.readString()
      case (2, .lengthDelimited): fields.append(try FieldDescriptor(reader.readBytes()))
      case (3, .lengthDelimited): nested.append(try MessageDescriptor(reader.readBytes(), depth: depth + 1))
      case (4, .lengthDelimited): enums.append(try EnumDescriptor(reader.readBytes()))
      case (5, .lengthDelimited): extensionRanges.append(try ExtensionRange(reader.readBytes()))
      case (6, .lengthDelimited): extensions.append(try FieldDescriptor(reader.readBytes()))
      case (7, .lengthDelimited): try mergeOptions(reader.readBytes())
      case (8, .lengthDelimited): oneofs.append(try OneofDescriptor(reader.readBytes()))
      default: try reader.skip(tag)
      }
    }
  }

  private mutating func mergeOptions(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .varint): isMessageSet = try reader.readVarint() != 0
      case (7, .varint): isMapEntry = try reader.readVarint() != 0
      case (12, .lengthDelimited): try overrides.merge(reader.readBytes())
      default: try reader.skip(tag)
      }
    }
  }
}

/// Numbers that a message leaves to extensions.
struct ExtensionRange: Equatable, Sendable {
  var start: Int32 = 0
  /// The first number behind it.
  var end: Int32 = 0

  init(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .varint): start = Int32(truncatingIfNeeded: try reader.readVarint())
      case (2, .varint): end = Int32(truncatingIfNeeded: try reader.readVarint())
      default: try reader.skip(tag)
      }
    }
  }

  func contains(_ number: Int32) -> Bool { number >= start && number < end }
}

/// A OneofDescriptorProto.
struct OneofDescriptor: Equatable, Sendable {
  var name = ""
  var overrides = FeatureOverrides()

  init(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): name = try reader.readString()
      case (2, .lengthDelimited): try overrides.merge(options: reader.readBytes(), number: 1)
      default: try reader.skip(tag)
      }
    }
  }
}
