/// A ServiceDescriptorProto, in so far as it matters here.
struct ServiceDescriptor: Equatable, Sendable {
  var name = ""
  var methods: [MethodDescriptor] = []

  init(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): name = try reader.readString()
      case (2, .lengthDelimited): methods.append(try MethodDescriptor(reader.readBytes()))
      default: try reader.skip(tag)
      }
    }
  }
}

/// A MethodDescriptorProto, in so far as it matters here.
struct MethodDescriptor: Equatable, Sendable {
  var name = ""
  var input = ""
  var output = ""
  var isClientStreaming = false
  var isServerStreaming = false
  var idempotency = MethodType.Idempotency.unknown
  var httpRule: HTTPRuleDescriptor?

  /// `google.api.http` as an extension of MethodOptions.
  static let httpRuleNumber: UInt32 = 72_295_728

  init(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): name = try reader.readString()
      case (2, .lengthDelimited): input = try reader.readString()
      case (3, .lengthDelimited): output = try reader.readString()
      case (4, .lengthDelimited): try mergeOptions(reader.readBytes())
      case (5, .varint): isClientStreaming = try reader.readVarint() != 0
      case (6, .varint): isServerStreaming = try reader.readVarint() != 0
      default: try reader.skip(tag)
      }
    }
  }

  private mutating func mergeOptions(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (34, .varint):
        let value = UInt8(exactly: try reader.readVarint())
        idempotency = value.flatMap(MethodType.Idempotency.init(rawValue:)) ?? .unknown
      case (Self.httpRuleNumber, .lengthDelimited):
        var rule = httpRule ?? HTTPRuleDescriptor()
        try rule.merge(reader.readBytes(), depth: 1)
        httpRule = rule
      default: try reader.skip(tag)
      }
    }
  }
}

/// A google.api.HttpRule as it stands.
struct HTTPRuleDescriptor: Equatable, Sendable {
  /// Nothing is nested deeper by the rule's own words (one level); more is read so that it can be named as a fault.
  static let maximumDepth = 10

  var method: String?
  var path = ""
  var body = ""
  var responseBody = ""
  var additionalBindings: [HTTPRuleDescriptor] = []
  /// The number of a field that the rule does not have in any release known here; 0 for none.
  var unknownField: UInt32 = 0

  mutating func merge(_ bytes: Span<UInt8>, depth: Int) throws(WireError) {
    guard depth <= Self.maximumDepth else { throw WireError(.depth, at: 0) }
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (2, .lengthDelimited): (method, path) = ("GET", try reader.readString())
      case (3, .lengthDelimited): (method, path) = ("PUT", try reader.readString())
      case (4, .lengthDelimited): (method, path) = ("POST", try reader.readString())
      case (5, .lengthDelimited): (method, path) = ("DELETE", try reader.readString())
      case (6, .lengthDelimited): (method, path) = ("PATCH", try reader.readString())
      case (7, .lengthDelimited): body = try reader.readString()
      case (8, .lengthDelimited): try mergeCustom(reader.readBytes())
      case (11, .lengthDelimited):
        var rule = HTTPRuleDescriptor()
        try rule.merge(reader.readBytes(), depth: depth + 1)
        additionalBindings.append(rule)
      case (12, .lengthDelimited): responseBody = try reader.readString()
      // The selector: an annotation stands at its method.
      case (1, .lengthDelimited): try reader.skip(tag)
      default:
        unknownField = tag.number
        try reader.skip(tag)
      }
    }
  }

  private mutating func mergeCustom(_ bytes: Span<UInt8>) throws(WireError) {
    (method, path) = ("", "")
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): method = try reader.readString()
      case (2, .lengthDelimited): path = try reader.readString()
      default: try reader.skip(tag)
      }
    }
  }
}
