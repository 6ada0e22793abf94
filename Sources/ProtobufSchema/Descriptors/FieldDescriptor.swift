/// A FieldDescriptorProto, in so far as it matters here.
struct FieldDescriptor: Equatable, Sendable {
  enum Label: UInt64 {
    case optional = 1
    case required = 2
    case repeated = 3
  }

  var name = ""
  /// Set for extensions.
  var extendee: String?
  var number: Int32 = 0
  var label = Label.optional
  /// Absent where only ``typeName`` says it.
  var kind: Field.Kind?
  var typeName = ""
  var defaultValue: String?
  var oneofIndex: Int32?
  /// As declared, else derived from the name.
  var jsonName = ""
  var isProto3Optional = false
  var isPacked: Bool?
  var isRedacted = false
  var overrides = FeatureOverrides()
  /// Whether `type` has a value that no release knows.
  var hasUnknownKind = false

  init(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): name = try reader.readString()
      case (2, .lengthDelimited): extendee = try reader.readString()
      case (3, .varint): number = Int32(truncatingIfNeeded: try reader.readVarint())
      case (4, .varint): label = Label(rawValue: try reader.readVarint()) ?? .optional
      case (5, .varint):
        kind = UInt8(exactly: try reader.readVarint()).flatMap(Field.Kind.init(rawValue:))
        hasUnknownKind = kind == nil
      case (6, .lengthDelimited): typeName = try reader.readString()
      case (7, .lengthDelimited): defaultValue = try reader.readString()
      case (8, .lengthDelimited): try mergeOptions(reader.readBytes())
      case (9, .varint): oneofIndex = Int32(truncatingIfNeeded: try reader.readVarint())
      case (10, .lengthDelimited): jsonName = try reader.readString()
      case (17, .varint): isProto3Optional = try reader.readVarint() != 0
      default: try reader.skip(tag)
      }
    }
    if jsonName.isEmpty { jsonName = Self.jsonName(for: name) }
  }

  private mutating func mergeOptions(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (2, .varint): isPacked = try reader.readVarint() != 0
      case (16, .varint): isRedacted = try reader.readVarint() != 0
      case (21, .lengthDelimited): try overrides.merge(reader.readBytes())
      default: try reader.skip(tag)
      }
    }
  }

  /// lowerCamelCase as protoc makes it: each `_` goes, and the letter behind it becomes upper case.
  static func jsonName(for name: String) -> String {
    var result: [UInt8] = []
    var afterUnderscore = false
    for byte in name.utf8 {
      if byte == UInt8(ascii: "_") {
        afterUnderscore = true
      } else {
        let isLower = byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
        result.append(afterUnderscore && isLower ? byte &- 0x20 : byte)
        afterUnderscore = false
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

/// An EnumDescriptorProto, in so far as it matters here.
struct EnumDescriptor: Equatable, Sendable {
  struct Value: Equatable, Sendable {
    var name = ""
    var number: Int32 = 0

    init(_ bytes: Span<UInt8>) throws(WireError) {
      var reader = WireReader(bytes)
      while let tag = try reader.nextTag() {
        switch (tag.number, tag.type) {
        case (1, .lengthDelimited): name = try reader.readString()
        case (2, .varint): number = Int32(truncatingIfNeeded: try reader.readVarint())
        default: try reader.skip(tag)
        }
      }
    }
  }

  var name = ""
  var values: [Value] = []
  var overrides = FeatureOverrides()

  init(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): name = try reader.readString()
      case (2, .lengthDelimited): values.append(try Value(reader.readBytes()))
      case (3, .lengthDelimited): try overrides.merge(options: reader.readBytes(), number: 7)
      default: try reader.skip(tag)
      }
    }
  }
}
