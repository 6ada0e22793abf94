/// What decides about presence, packing and the like: the defaults of a syntax or edition, changed by what the
/// file and each enclosing declaration say (Protobuf Editions, "Feature Settings").
struct Features: Equatable, Sendable {
  var isImplicitPresence: Bool
  var isRequired: Bool
  var isOpenEnum: Bool
  var isPacked: Bool
  var validatesUTF8: Bool
  var isDelimited: Bool
  /// Whether JSON names must be unique.
  var allowsJSON: Bool

  static let proto2 = Features(
    isImplicitPresence: false, isRequired: false, isOpenEnum: false, isPacked: false, validatesUTF8: false,
    isDelimited: false, allowsJSON: false)
  static let proto3 = Features(
    isImplicitPresence: true, isRequired: false, isOpenEnum: true, isPacked: true, validatesUTF8: true,
    isDelimited: false, allowsJSON: true)
  /// Also those of the editions after it: none changes a default that counts here.
  static let edition2023 = Features(
    isImplicitPresence: false, isRequired: false, isOpenEnum: true, isPacked: true, validatesUTF8: true,
    isDelimited: false, allowsJSON: true)

  /// These with what a declaration sets.
  func applying(_ overrides: FeatureOverrides) -> Features {
    var result = self
    if overrides.fieldPresence != 0 {
      result.isImplicitPresence = overrides.fieldPresence == 2
      result.isRequired = overrides.fieldPresence == 3
    }
    if overrides.enumType != 0 { result.isOpenEnum = overrides.enumType == 1 }
    if overrides.repeatedEncoding != 0 { result.isPacked = overrides.repeatedEncoding == 1 }
    if overrides.utf8Validation != 0 { result.validatesUTF8 = overrides.utf8Validation == 2 }
    if overrides.messageEncoding != 0 { result.isDelimited = overrides.messageEncoding == 2 }
    if overrides.jsonFormat != 0 { result.allowsJSON = overrides.jsonFormat == 1 }
    return result
  }
}

/// The `google.protobuf.FeatureSet` of one declaration as it stands; 0 where it says nothing.
struct FeatureOverrides: Equatable, Sendable {
  var fieldPresence: UInt8 = 0
  var enumType: UInt8 = 0
  var repeatedEncoding: UInt8 = 0
  var utf8Validation: UInt8 = 0
  var messageEncoding: UInt8 = 0
  var jsonFormat: UInt8 = 0
  /// The first feature, or value of one, that no release up to edition 2024 has.
  var unknown: String?

  /// The features for languages and code generators; no wire format hangs on them.
  private static let languages: ClosedRange<UInt32> = 1_000...10_000

  /// Reads a FeatureSet on top of what is here.
  mutating func merge(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .varint): fieldPresence = try known(reader.readVarint(), in: 1...3, "field_presence")
      case (2, .varint): enumType = try known(reader.readVarint(), in: 1...2, "enum_type")
      case (3, .varint): repeatedEncoding = try known(reader.readVarint(), in: 1...2, "repeated_field_encoding")
      case (4, .varint): utf8Validation = try known(reader.readVarint(), in: 2...3, "utf8_validation")
      case (5, .varint): messageEncoding = try known(reader.readVarint(), in: 1...2, "message_encoding")
      case (6, .varint): jsonFormat = try known(reader.readVarint(), in: 1...2, "json_format")
      // enforce_naming_style and default_symbol_visibility: rules for sources only.
      case (7...8, .varint): try reader.skip(tag)
      default:
        if !Self.languages.contains(tag.number) { note("number \(tag.number)") }
        try reader.skip(tag)
      }
    }
  }

  /// Reads the FeatureSet of an options message of which nothing else matters: the field with this number.
  mutating func merge(options bytes: Span<UInt8>, number: UInt32) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (number, .lengthDelimited): try merge(reader.readBytes())
      default: try reader.skip(tag)
      }
    }
  }

  /// The value, 0 when a later release invented it, which is noted.
  private mutating func known(_ value: UInt64, in range: ClosedRange<UInt8>, _ feature: String) -> UInt8 {
    if let small = UInt8(exactly: value), range.contains(small) { return small }
    note("\(feature) with the value \(value)")
    return 0
  }

  private mutating func note(_ feature: String) {
    if unknown == nil { unknown = feature }
  }
}
