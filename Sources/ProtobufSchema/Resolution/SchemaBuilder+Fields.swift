import Diagnostics

extension SchemaBuilder {
  /// A field of a message; nil when its type cannot be known, which is reported.
  mutating func buildField(_ descriptor: FieldDescriptor, in message: PendingMessage, oneof: Int?) -> Field? {
    var features = message.features
    if oneof != nil, let index = descriptor.oneofIndex {
      features = features.applying(message.descriptor.oneofs[Int(index)].overrides)
    }
    features = features.applying(descriptor.overrides)
    let fullName = "\(message.fullName).\(descriptor.name)"
    checkName(descriptor.name, of: "field \(fullName)", file: message.file)
    checkFeatures(descriptor.overrides, of: "field \(fullName)", file: message.file, path: message.path)
    guard let type = resolveType(of: descriptor, named: fullName, scope: message.fullName, file: message.file)
    else { return nil }
    var kind = type.kind
    let isMap = type.isMapEntry
    if isMap, descriptor.label != .repeated || kind != .message {
      report(message.file, "field \(fullName) has the type of a map's entries and is no map")
    }
    if kind == .message, features.isDelimited, !isMap, !message.descriptor.isMapEntry { kind = .group }
    let isRepeated = descriptor.label == .repeated
    let isMessage = kind == .message || kind == .group
    let isInOneof = descriptor.oneofIndex != nil
    return Field(
      name: descriptor.name, jsonName: descriptor.jsonName, number: descriptor.number, kind: kind,
      cardinality: isMap ? .map : isRepeated ? .repeated : .singular, messageIndex: type.messageIndex,
      enumIndex: type.enumIndex, oneofIndex: oneof ?? -1,
      hasPresence: !isRepeated && (isMessage || isInOneof || !features.isImplicitPresence),
      isRequired: descriptor.label == .required || (features.isRequired && !isRepeated && !isInOneof),
      isPacked: isRepeated && kind.isPackable && (descriptor.isPacked ?? features.isPacked),
      validatesUTF8: features.validatesUTF8, isRedacted: descriptor.isRedacted,
      defaultValue: isRepeated ? nil : descriptor.defaultValue)
  }

  /// An extension as a field of the message that it extends.
  mutating func buildExtension(_ pending: PendingExtension, of message: PendingMessage) -> Field? {
    let descriptor = pending.descriptor
    let features = pending.features.applying(descriptor.overrides)
    let fullName = Self.join(pending.scope, descriptor.name)
    checkName(descriptor.name, of: "extension \(fullName)", file: pending.file)
    checkFeatures(descriptor.overrides, of: "extension \(fullName)", file: pending.file, path: pending.path)
    guard let type = resolveType(of: descriptor, named: fullName, scope: pending.scope, file: pending.file)
    else { return nil }
    if type.isMapEntry || descriptor.oneofIndex != nil || descriptor.label == .required {
      report(pending.file, "extension \(fullName) cannot be a map, required or in a oneof")
      return nil
    }
    let kind = type.kind == .message && features.isDelimited ? Field.Kind.group : type.kind
    let isRepeated = descriptor.label == .repeated
    return Field(
      name: "[\(fullName)]", jsonName: "[\(fullName)]", number: descriptor.number, kind: kind,
      cardinality: isRepeated ? .repeated : .singular, messageIndex: type.messageIndex, enumIndex: type.enumIndex,
      hasPresence: !isRepeated, isPacked: isRepeated && kind.isPackable && (descriptor.isPacked ?? features.isPacked),
      validatesUTF8: features.validatesUTF8, extensionName: fullName, isRedacted: descriptor.isRedacted,
      defaultValue: isRepeated ? nil : descriptor.defaultValue)
  }

  /// Finds the messages that are extended. After all are declared, since any file may extend any message.
  mutating func collectExtensions(_ file: Int) {
    let descriptor = files[file].descriptor
    guard let features = descriptor.features else { return }
    collect(descriptor.extensions, scope: descriptor.package, file: file, path: [7], features: features)
    for (index, message) in descriptor.messages.enumerated() {
      let path = [4, index.number]
      collectExtensions(in: message, scope: descriptor.package, file: file, path: path, features: features)
    }
  }

  private mutating func collectExtensions(
    in message: MessageDescriptor, scope: String, file: Int, path: [Int32], features: Features
  ) {
    let scope = Self.join(scope, message.name)
    let features = features.applying(message.overrides)
    collect(message.extensions, scope: scope, file: file, path: path + [6], features: features)
    for (index, nested) in message.nested.enumerated() {
      let path = path + [3, index.number]
      collectExtensions(in: nested, scope: scope, file: file, path: path, features: features)
    }
  }

  private mutating func collect(
    _ fields: [FieldDescriptor], scope: String, file: Int, path: [Int32], features: Features
  ) {
    for (position, field) in fields.enumerated() {
      let path = path + [position.number]
      let fullName = Self.join(scope, field.name)
      let user = "extension \(fullName)"
      guard let symbol = resolve(field.extendee ?? "", from: scope, file: file, user: user) else { continue }
      guard case .message(let index) = symbol else {
        report(file, "\(user) extends \(field.extendee ?? ""), which is no message")
        continue
      }
      let message = messages[index]
      guard message.descriptor.extensionRanges.contains(where: { $0.contains(field.number) }) else {
        report(file, "\(user) has number \(field.number), which \(message.fullName) does not leave to extensions")
        continue
      }
      extensions[index, default: []].append(
        PendingExtension(descriptor: field, scope: scope, file: file, path: path, features: features))
    }
  }

  private struct ResolvedType {
    var kind: Field.Kind
    var messageIndex = -1
    var enumIndex = -1
    var isMapEntry = false
  }

  private mutating func resolveType(
    of field: FieldDescriptor, named fullName: String, scope: String, file: Int
  ) -> ResolvedType? {
    if field.hasUnknownKind || (field.kind == nil && field.typeName.isEmpty) {
      report(file, "field \(fullName) has no type that is known")
      return nil
    }
    if let kind = field.kind, !kind.isReference { return ResolvedType(kind: kind) }
    guard let symbol = resolve(field.typeName, from: scope, file: file, user: "field \(fullName)") else { return nil }
    switch (symbol, field.kind) {
    case (.message(let index), nil), (.message(let index), .message), (.message(let index), .group):
      return ResolvedType(
        kind: field.kind ?? .message, messageIndex: index, isMapEntry: messages[index].descriptor.isMapEntry)
    case (.enumeration(let index), nil), (.enumeration(let index), .enum):
      return ResolvedType(kind: .enum, enumIndex: index)
    default:
      report(file, "field \(fullName) refers to \(field.typeName), which is of another kind")
      return nil
    }
  }
}

extension Field.Kind {
  /// Whether the type is declared elsewhere.
  fileprivate var isReference: Bool { self == .message || self == .group || self == .enum }

  /// Whether several values can stand in one length-delimited field.
  fileprivate var isPackable: Bool {
    switch self {
    case .string, .bytes, .message, .group: false
    default: true
    }
  }
}
