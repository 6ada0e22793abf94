import Diagnostics

extension SchemaBuilder {
  /// Numbers and names of fields: in range, each once.
  mutating func checkFields(_ fields: [Field], of message: PendingMessage) {
    var numbers: [Int32: String] = [:]
    var names: Set<String> = []
    for field in fields {
      let element = "field \(message.fullName).\(field.name)"
      // In a message set the number is no field number on the wire.
      let last: Int32 = message.descriptor.isMessageSet ? .max - 1 : 536_870_911
      if field.number < 1 || field.number > last || (19_000...19_999).contains(field.number) {
        report(message.file, "\(element) has number \(field.number), which no field can have")
      }
      if let other = numbers.updateValue(field.name, forKey: field.number) {
        report(message.file, "\(element) and \(other) have the same number \(field.number)")
      }
      if !names.insert(field.name).inserted { report(message.file, "\(element) is declared twice") }
    }
    checkJSONNames(fields, of: message)
  }

  /// Two fields with one JSON name cannot be told apart in a body.
  private mutating func checkJSONNames(_ fields: [Field], of message: PendingMessage) {
    var owners: [String: String] = [:]
    // Fields that clash may have been given another name since.
    let declared = Dictionary(message.descriptor.fields.map { ($0.name, $0.jsonName) }) { first, _ in first }
    let byName = Dictionary(fields.map { ($0.name, $0) }) { first, _ in first }
    for (index, field) in fields.enumerated() {
      let path = message.path + [2, index.number]
      let jsonName = declared[field.name] ?? field.jsonName
      if let other = owners.updateValue(field.name, forKey: jsonName), other != field.name {
        report(
          message.file, at: path, severity: message.features.allowsJSON ? .error : .warning,
          "fields \(other) and \(field.name) of \(message.fullName) have the same JSON name \(jsonName)",
          cure: "give one of them another json_name")
      } else if field.jsonName != field.name, let other = byName[field.jsonName], other.jsonName != field.jsonName {
        report(
          message.file, at: path, severity: .warning,
          "the JSON name \(field.jsonName) of \(message.fullName).\(field.name) is the name of another field",
          cure: "give it another json_name")
      }
    }
  }

  /// What is decided wrongly about presence or encoding mangles each message.
  mutating func checkFeatures(_ overrides: FeatureOverrides, of element: String, file: Int, path: [Int32]) {
    guard let unknown = overrides.unknown else { return }
    report(
      file, at: path, "\(element) sets the feature \(unknown), which is not known",
      cure: "use the features of an edition up to 2024")
  }

  /// The wire format of message sets has room for singular messages only.
  mutating func checkMessageSet(_ fields: [Field], of message: PendingMessage) {
    if !message.descriptor.fields.isEmpty {
      report(
        message.file, at: message.path, "\(message.fullName) has the wire format of message sets and fields of its own",
        cure: "declare them as extensions, or remove the option message_set_wire_format")
    }
    for field in fields where field.extensionName != nil {
      if field.kind == .message, field.cardinality == .singular { continue }
      report(
        message.file, at: message.path,
        "\(field.name) extends \(message.fullName), which has the wire format of message sets, and is no optional message",
        cure: "declare it as an optional message")
    }
  }

  /// The codecs take the first field of an entry as the key and the second as the value.
  mutating func checkMapEntry(_ fields: [Field], of message: PendingMessage) {
    // Fields that could not be built were reported.
    guard fields.count == message.descriptor.fields.count else { return }
    var isEntry = fields.count == 2
    if isEntry {
      let (key, value) = (fields[0], fields[1])
      isEntry =
        key.number == 1 && value.number == 2 && key.cardinality == .singular && value.cardinality == .singular
        && key.kind.isMapKey && value.kind != .group && key.oneofIndex < 0 && value.oneofIndex < 0
    }
    if !isEntry {
      report(message.file, "message \(message.fullName) is marked as the entry of a map and has not the fields of one")
    }
  }

  /// The codecs know the fields of these types by number: another type under such a name must not reach them.
  mutating func checkWellKnownTypes() {
    for file in BuiltInFiles.all {
      for expected in file.messages {
        let fullName = Self.join(file.package, expected.name)
        guard WellKnownType(rawValue: fullName) != nil, case .message(let index)? = symbols[fullName] else { continue }
        let found = messages[index]
        if !found.descriptor.hasShape(of: expected) {
          report(
            found.file, at: found.path, "message \(fullName) has not the fields of the well-known type",
            cure: "leave the file out, it is built in")
        }
      }
    }
  }
}

extension MessageDescriptor {
  /// Whether the fields of both, and of the types in them, are the same on the wire.
  fileprivate func hasShape(of other: MessageDescriptor) -> Bool {
    isMapEntry == other.isMapEntry && fields.count == other.fields.count && nested.count == other.nested.count
      && zip(fields, other.fields).allSatisfy {
        $0.name == $1.name && $0.number == $1.number && $0.kind == $1.kind && $0.label == $1.label
          && $0.typeName == $1.typeName && $0.oneofIndex == $1.oneofIndex
      }
      && zip(nested, other.nested).allSatisfy { $0.hasShape(of: $1) }
  }
}

extension Field.Kind {
  fileprivate var isMapKey: Bool {
    switch self {
    case .double, .float, .bytes, .enum, .message, .group: false
    default: true
    }
  }
}
