import ProtobufSchema

/// Schemas written by hand, because the loader is not part of this target.
struct FixtureField {
  var name: String
  var number: Int32
  var kind: Field.Kind
  var type: String?
  var cardinality = Field.Cardinality.singular
  var oneof: String?
  var hasPresence = false
  var isPacked = true
  var jsonName: String?
  var extensionName: String?
  var isRequired = false

  init(
    _ name: String, _ number: Int32, _ kind: Field.Kind, _ type: String? = nil, oneof: String? = nil,
    hasPresence: Bool = false, isPacked: Bool = true, jsonName: String? = nil, extensionName: String? = nil
  ) {
    self.name = name
    self.number = number
    self.kind = kind
    self.type = type
    self.oneof = oneof
    self.hasPresence = hasPresence || oneof != nil || kind == .message || kind == .group
    self.isPacked = isPacked
    self.jsonName = jsonName
    self.extensionName = extensionName
  }

  func repeated() -> Self {
    var copy = self
    copy.cardinality = .repeated
    copy.hasPresence = false
    return copy
  }

  func required() -> Self {
    var copy = self
    copy.isRequired = true
    copy.hasPresence = true
    return copy
  }

  static func map(
    _ name: String, _ number: Int32, _ key: Field.Kind, _ value: Field.Kind, _ type: String? = nil
  ) -> Self {
    var field = FixtureField(name, number, .message, "entry:\(key.rawValue):\(value.rawValue):\(type ?? "")")
    field.cardinality = .map
    field.hasPresence = false
    return field
  }
}

struct FixtureBuilder {
  private var messages: [(name: String, fields: [FixtureField], isEntry: Bool)] = []
  private var enums: [EnumType] = []

  mutating func message(_ name: String, _ fields: [FixtureField]) {
    messages.append((name, fields, false))
    for field in fields where field.cardinality == .map { entry(field.type ?? "") }
  }

  mutating func enumeration(_ name: String, _ values: [(name: String, number: Int32)], isOpen: Bool = true) {
    enums.append(EnumType(fullName: name, values: values, isOpen: isOpen))
  }

  private mutating func entry(_ name: String) {
    guard !messages.contains(where: { $0.name == name }) else { return }
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    guard let key = Field.Kind(rawValue: UInt8(parts[1]) ?? 0), let value = Field.Kind(rawValue: UInt8(parts[2]) ?? 0)
    else { return }
    let fields = [
      FixtureField("key", 1, key), FixtureField("value", 2, value, parts[3].isEmpty ? nil : String(parts[3])),
    ]
    messages.append((name, fields, true))
  }

  func build() -> Schema {
    func index(_ name: String?) -> Int { messages.firstIndex { $0.name == name } ?? -1 }
    let types = messages.map { message in
      var oneofs: [String] = []
      for field in message.fields {
        if let oneof = field.oneof, !oneofs.contains(oneof) { oneofs.append(oneof) }
      }
      let fields = message.fields.map { field in
        Field(
          name: field.name, jsonName: field.jsonName ?? Self.camel(field.name), number: field.number, kind: field.kind,
          cardinality: field.cardinality, messageIndex: index(field.type),
          enumIndex: field.kind == .enum ? enums.firstIndex { $0.fullName == field.type } ?? -1 : -1,
          oneofIndex: field.oneof.flatMap { oneofs.firstIndex(of: $0) } ?? -1, hasPresence: field.hasPresence,
          isRequired: field.isRequired, isPacked: field.isPacked && field.cardinality == .repeated,
          extensionName: field.extensionName)
      }
      return MessageType(
        fullName: message.name, file: "fixture.proto", fields: fields,
        oneofs: oneofs.map { name in
          Oneof(name: name, members: message.fields.indices.filter { message.fields[$0].oneof == name })
        },
        wellKnown: WellKnownType(rawValue: message.name), isMapEntry: message.isEntry)
    }
    return Schema(messages: types, enums: enums, services: [])
  }

  static func camel(_ name: String) -> String {
    var result = ""
    var isUpper = false
    for character in name {
      if character == "_" {
        isUpper = true
      } else {
        result += isUpper ? character.uppercased() : String(character)
        isUpper = false
      }
    }
    return result
  }
}

enum Fixture {
  /// All types the tests use.
  static let schema: Schema = {
    var builder = FixtureBuilder()
    addWellKnown(&builder)
    addScalars(&builder)
    addParcel(&builder)
    addOld(&builder)
    return builder.build()
  }()

  static let scalars: [(name: String, kind: Field.Kind)] = [
    ("double", .double), ("float", .float), ("int64", .int64), ("uint64", .uint64), ("int32", .int32),
    ("fixed64", .fixed64), ("fixed32", .fixed32), ("bool", .bool), ("string", .string), ("bytes", .bytes),
    ("uint32", .uint32), ("sfixed32", .sfixed32), ("sfixed64", .sfixed64), ("sint32", .sint32), ("sint64", .sint64),
  ]

  private static func addScalars(_ builder: inout FixtureBuilder) {
    builder.message("t.Scalars", scalars.enumerated().map { FixtureField("f_\($1.name)", Int32($0 + 1), $1.kind) })
    builder.message(
      "t.Optionals",
      scalars.enumerated().map { FixtureField("f_\($1.name)", Int32($0 + 1), $1.kind, hasPresence: true) })
    builder.message(
      "t.Lists", scalars.enumerated().map { FixtureField("f_\($1.name)", Int32($0 + 1), $1.kind).repeated() })
    builder.message(
      "t.Maps",
      scalars.enumerated().filter { $1.kind != .double && $1.kind != .float && $1.kind != .bytes }.map {
        .map("f_\($1.name)", Int32($0 + 1), $1.kind, .string)
      } + scalars.enumerated().map { .map("v_\($1.name)", Int32($0 + 31), .string, $1.kind) } + [
        .map("v_size", 60, .string, .enum, "t.Size"), .map("v_point", 61, .string, .message, "t.Point"),
        .map("v_time", 62, .string, .message, "google.protobuf.Timestamp"),
        .map("v_any_json", 63, .string, .message, "google.protobuf.Value"),
      ])
    builder.message(
      "t.Wide", (0..<300).map { FixtureField("field_number_\($0)_of_many", Int32($0 * 7 + 1), .int32) })
  }

  private static func addParcel(_ builder: inout FixtureBuilder) {
    builder.enumeration(
      "t.Size", [("SIZE_UNSPECIFIED", 0), ("SIZE_S", 1), ("SIZE_L", 2), ("SIZE_BIG", 2), ("SIZE_XL", -7)])
    builder.enumeration("t.Closed", [("CLOSED_A", 1), ("CLOSED_B", 5)], isOpen: false)
    builder.message("t.Point", [FixtureField("lat", 1, .double), FixtureField("lon", 2, .double)])
    builder.message(
      "t.Address",
      [
        FixtureField("street", 1, .string), FixtureField("city", 2, .string),
        FixtureField("geo", 3, .message, "t.Point"),
      ])
    builder.message(
      "t.Parcel",
      [
        FixtureField("id", 1, .string), FixtureField("tracking_no", 2, .string), FixtureField("weight_g", 3, .int64),
        FixtureField("size", 4, .enum, "t.Size"), FixtureField("tags", 5, .string).repeated(),
        .map("labels", 6, .string, .string), FixtureField("to", 7, .message, "t.Address"),
        FixtureField("seal", 8, .bytes), FixtureField("created", 9, .message, "google.protobuf.Timestamp"),
        FixtureField("eta", 10, .message, "google.protobuf.Duration"),
        FixtureField("floor", 11, .message, "google.protobuf.Int32Value"),
        FixtureField("extra", 12, .message, "google.protobuf.Struct"), FixtureField("fragile", 13, .bool),
        FixtureField("card", 14, .string, oneof: "pay"), FixtureField("cash", 15, .int32, oneof: "pay"),
        FixtureField("cheque", 19, .message, "t.Point", oneof: "pay"), FixtureField("insured", 16, .double),
        FixtureField("route", 17, .message, "t.Point").repeated(),
        FixtureField("note", 18, .message, "google.protobuf.Any"),
        FixtureField("sizes", 20, .enum, "t.Size").repeated(),
        FixtureField("odd", 21, .string, jsonName: "f[\"x\"]"), FixtureField("inner", 22, .message, "t.Parcel"),
      ])
    builder.message(
      "t.WellKnown",
      WellKnownType.allCases.enumerated().map {
        FixtureField("w\($0)", Int32($0 + 1), .message, $1.rawValue, jsonName: $1.rawValue)
      } + [
        FixtureField("nothing", 40, .enum, "google.protobuf.NullValue"),
        FixtureField("values", 41, .message, "google.protobuf.Value").repeated(),
        FixtureField("anys", 42, .message, "google.protobuf.Any").repeated(),
        FixtureField("times", 43, .message, "google.protobuf.Timestamp").repeated(),
      ])
  }

  /// proto2: groups, presence, closed enums, unpacked lists, an extension.
  private static func addOld(_ builder: inout FixtureBuilder) {
    builder.message(
      "t.Old",
      [
        FixtureField("result", 1, .group, "t.Old.Result"),
        FixtureField("results", 2, .group, "t.Old.Result").repeated(),
        FixtureField("closed", 3, .enum, "t.Closed", hasPresence: true),
        FixtureField("numbers", 4, .int32, isPacked: false).repeated(),
        FixtureField("count", 5, .int32, hasPresence: true),
        FixtureField("priority", 100, .int32, hasPresence: true, extensionName: "t.ext.priority"),
      ])
    builder.message(
      "t.Form",
      [
        FixtureField("state", 1, .enum, "t.Closed").required(), FixtureField("name", 2, .string, hasPresence: true),
        FixtureField("size", 3, .enum, "t.Size"), FixtureField("stamp", 4, .enum, "t.Size", oneof: "proof"),
        FixtureField("seal", 5, .string, oneof: "proof"),
      ])
    builder.message(
      "t.Old.Result", [FixtureField("url", 1, .string, hasPresence: true), FixtureField("old", 2, .message, "t.Old")])
  }

  private static func addWellKnown(_ builder: inout FixtureBuilder) {
    builder.enumeration("google.protobuf.NullValue", [("NULL_VALUE", 0)])
    let wrapped: [(String, Field.Kind)] = [
      ("Double", .double), ("Float", .float), ("Int64", .int64), ("UInt64", .uint64), ("Int32", .int32),
      ("UInt32", .uint32), ("Bool", .bool), ("String", .string), ("Bytes", .bytes),
    ]
    for (name, kind) in wrapped {
      builder.message("google.protobuf.\(name)Value", [FixtureField("value", 1, kind)])
    }
    for name in ["Timestamp", "Duration"] {
      builder.message(
        "google.protobuf.\(name)", [FixtureField("seconds", 1, .int64), FixtureField("nanos", 2, .int32)])
    }
    builder.message("google.protobuf.FieldMask", [FixtureField("paths", 1, .string).repeated()])
    builder.message("google.protobuf.Empty", [])
    builder.message("google.protobuf.Any", [FixtureField("type_url", 1, .string), FixtureField("value", 2, .bytes)])
    builder.message("google.protobuf.Struct", [.map("fields", 1, .string, .message, "google.protobuf.Value")])
    builder.message(
      "google.protobuf.ListValue", [FixtureField("values", 1, .message, "google.protobuf.Value").repeated()])
    builder.message(
      "google.protobuf.Value",
      [
        FixtureField("null_value", 1, .enum, "google.protobuf.NullValue", oneof: "kind"),
        FixtureField("number_value", 2, .double, oneof: "kind"),
        FixtureField("string_value", 3, .string, oneof: "kind"),
        FixtureField("bool_value", 4, .bool, oneof: "kind"),
        FixtureField("struct_value", 5, .message, "google.protobuf.Struct", oneof: "kind"),
        FixtureField("list_value", 6, .message, "google.protobuf.ListValue", oneof: "kind"),
      ])
    builder.message(
      "google.api.HttpBody",
      [
        FixtureField("content_type", 1, .string), FixtureField("data", 2, .bytes),
        FixtureField("extensions", 3, .message, "google.protobuf.Any").repeated(),
      ])
  }
}
