/// All types and services of the loaded descriptors, resolved: references are indices into ``messages`` and ``enums``.
///
/// Immutable and shared by all loops. Built by ``SchemaLoader``; the codecs compile their own flat tables from it.
package final class Schema: Sendable {
  package let messages: [MessageType]
  package let enums: [EnumType]
  package let services: [ServiceType]
  /// What reflection hands out; nil where nobody asked for it.
  package let files: DescriptorFiles?
  private let messageIndices: [String: Int]
  private let messageNames: NameIndex

  package init(
    messages: [MessageType], enums: [EnumType], services: [ServiceType], files: DescriptorFiles? = nil
  ) {
    self.messages = messages
    self.enums = enums
    self.services = services
    self.files = files
    var indices: [String: Int] = [:]
    for (index, message) in messages.enumerated() { indices[message.fullName] = index }
    messageIndices = indices
    messageNames = NameIndex(messages.map(\.fullName))
  }

  /// The index of a message in ``messages`` by its full name without a leading dot.
  package func messageIndex(named fullName: String) -> Int? { messageIndices[fullName] }

  /// The same for a name that stands in some input: nothing is made of it.
  package func messageIndex(named fullName: Span<UInt8>) -> Int? { messageNames.index(of: fullName) }
}

/// One message type.
package final class MessageType: Sendable {
  package let fullName: String
  /// The `.proto` file that declares it.
  package let file: String
  /// In declaration order, extensions of it last.
  package let fields: [Field]
  package let oneofs: [Oneof]
  package let wellKnown: WellKnownType?
  package let isMapEntry: Bool
  /// Whether it has the wire format of message sets (proto2): all fields are extensions, each a singular message.
  package let isMessageSet: Bool

  package init(
    fullName: String, file: String, fields: [Field], oneofs: [Oneof], wellKnown: WellKnownType?, isMapEntry: Bool,
    isMessageSet: Bool = false
  ) {
    self.fullName = fullName
    self.file = file
    self.fields = fields
    self.oneofs = oneofs
    self.wellKnown = wellKnown
    self.isMapEntry = isMapEntry
    self.isMessageSet = isMessageSet
  }

  /// The index in ``fields`` of a field by proto name or JSON name.
  package func fieldIndex(named name: String) -> Int? {
    fields.firstIndex { $0.name == name || $0.jsonName == name }
  }
}

/// One field, or one extension.
package struct Field: Sendable {
  /// The scalar, message or enum kind as in FieldDescriptorProto.Type.
  package enum Kind: UInt8, Sendable {
    case double = 1
    case float = 2
    case int64 = 3
    case uint64 = 4
    case int32 = 5
    case fixed64 = 6
    case fixed32 = 7
    case bool = 8
    case string = 9
    case group = 10
    case message = 11
    case bytes = 12
    case uint32 = 13
    case `enum` = 14
    case sfixed32 = 15
    case sfixed64 = 16
    case sint32 = 17
    case sint64 = 18
  }

  /// How many values a field has.
  package enum Cardinality: UInt8, Sendable {
    case singular
    case repeated
    /// A repeated map entry; the entry's type is ``Field/messageIndex``, its first field the key, its second the value.
    case map
  }

  /// As declared. Of an extension, this and ``jsonName`` are `[full.name]`, so that no other name means it.
  package let name: String
  package let jsonName: String
  package let number: Int32
  package let kind: Kind
  package let cardinality: Cardinality
  /// Of the message, group or map entry type; -1 for scalars.
  package let messageIndex: Int
  /// -1 unless an enum.
  package let enumIndex: Int
  /// Into ``MessageType/oneofs``; -1 outside oneofs and for the synthetic one of a proto3 `optional`.
  package let oneofIndex: Int
  /// Whether set and unset differ although the value is zero: proto2, `optional`, messages, members of a oneof.
  package let hasPresence: Bool
  package let isRequired: Bool
  /// Whether repeated scalars are written packed; both forms are always read.
  package let isPacked: Bool
  /// Whether a string must be UTF-8 (proto3, and editions by feature).
  package let validatesUTF8: Bool
  /// Set for extensions: the full name that stands in brackets in JSON.
  package let extensionName: String?
  /// Whether `debug_redact` is set: never in logs or samples.
  package let isRedacted: Bool
  /// What an unset field reads as, where the declaration says so (proto2, editions); spelt as in
  /// FieldDescriptorProto: numbers, `true`, enum names, strings as they are, bytes C-escaped.
  package let defaultValue: String?

  package init(
    name: String, jsonName: String, number: Int32, kind: Kind, cardinality: Cardinality, messageIndex: Int = -1,
    enumIndex: Int = -1, oneofIndex: Int = -1, hasPresence: Bool, isRequired: Bool = false, isPacked: Bool = false,
    validatesUTF8: Bool = true, extensionName: String? = nil, isRedacted: Bool = false,
    defaultValue: String? = nil
  ) {
    self.name = name
    self.jsonName = jsonName
    self.number = number
    self.kind = kind
    self.cardinality = cardinality
    self.messageIndex = messageIndex
    self.enumIndex = enumIndex
    self.oneofIndex = oneofIndex
    self.hasPresence = hasPresence
    self.isRequired = isRequired
    self.isPacked = isPacked
    self.validatesUTF8 = validatesUTF8
    self.extensionName = extensionName
    self.isRedacted = isRedacted
    self.defaultValue = defaultValue
  }
}

/// A oneof that the source declares; synthetic ones are left out.
package struct Oneof: Sendable {
  package let name: String
  /// Indices into ``MessageType/fields``.
  package let members: [Int]

  package init(name: String, members: [Int]) {
    self.name = name
    self.members = members
  }
}

/// One enum and its values.
package final class EnumType: Sendable {
  package let fullName: String
  /// In declaration order; two names of one number are aliases, the first is the one to write.
  package let values: [(name: String, number: Int32)]
  /// Whether numbers without a name are kept as they are (proto3, and editions by feature).
  package let isOpen: Bool

  package init(fullName: String, values: [(name: String, number: Int32)], isOpen: Bool) {
    self.fullName = fullName
    self.values = values
    self.isOpen = isOpen
  }

  /// The name to write for a number; nil when it has none.
  package func name(of number: Int32) -> String? { values.first { $0.number == number }?.name }
}

/// Types with a JSON form of their own (ProtoJSON, Well-Known Types).
package enum WellKnownType: String, Sendable, CaseIterable {
  case any = "google.protobuf.Any"
  case timestamp = "google.protobuf.Timestamp"
  case duration = "google.protobuf.Duration"
  case fieldMask = "google.protobuf.FieldMask"
  case structure = "google.protobuf.Struct"
  case value = "google.protobuf.Value"
  case listValue = "google.protobuf.ListValue"
  case doubleValue = "google.protobuf.DoubleValue"
  case floatValue = "google.protobuf.FloatValue"
  case int64Value = "google.protobuf.Int64Value"
  case uint64Value = "google.protobuf.UInt64Value"
  case int32Value = "google.protobuf.Int32Value"
  case uint32Value = "google.protobuf.UInt32Value"
  case boolValue = "google.protobuf.BoolValue"
  case stringValue = "google.protobuf.StringValue"
  case bytesValue = "google.protobuf.BytesValue"
  case empty = "google.protobuf.Empty"
  /// Special to HTTP transcoding only: ProtoJSON treats it as any message.
  case httpBody = "google.api.HttpBody"
}
