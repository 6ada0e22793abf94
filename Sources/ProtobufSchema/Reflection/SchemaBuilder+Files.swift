extension SchemaBuilder {
  /// The files as reflection hands them out, found by all that they declare.
  func descriptorFiles() -> DescriptorFiles {
    var index = DeclarationIndex()
    let numbers = Dictionary(files.enumerated().map { ($0.element.descriptor.name, $0.offset) }) { first, _ in first }
    var all: [DescriptorFiles.File] = []
    for (number, file) in files.enumerated() {
      index.add(file.descriptor, file: number)
      all.append(
        DescriptorFiles.File(
          name: file.descriptor.name, bytes: file.descriptor.serialized.bytes,
          imports: file.descriptor.dependencies.compactMap { numbers[$0] }))
    }
    var extended: [DescriptorFiles.ExtensionKey: Int] = [:]
    for (message, pending) in extensions {
      for one in pending {
        extended[.init(type: messages[message].fullName, number: one.descriptor.number)] = one.file
      }
    }
    return DescriptorFiles(
      files: all, symbols: index.symbols, messages: Set(messages.map(\.fullName)), extensions: extended)
  }
}

/// Which file declares a full name.
private struct DeclarationIndex {
  private(set) var symbols: [String: Int] = [:]

  private mutating func add(_ scope: String, _ name: String, file: Int) {
    let fullName = SchemaBuilder.join(scope, name)
    if symbols[fullName] == nil { symbols[fullName] = file }
  }

  mutating func add(_ descriptor: FileDescriptor, file: Int) {
    let scope = descriptor.package
    for message in descriptor.messages { add(message, scope, file: file) }
    for entry in descriptor.enums { add(entry, scope, file: file) }
    for field in descriptor.extensions { add(scope, field.name, file: file) }
    for service in descriptor.services {
      add(scope, service.name, file: file)
      for method in service.methods { add(SchemaBuilder.join(scope, service.name), method.name, file: file) }
    }
  }

  private mutating func add(_ message: MessageDescriptor, _ scope: String, file: Int) {
    add(scope, message.name, file: file)
    let inner = SchemaBuilder.join(scope, message.name)
    for field in message.fields + message.extensions { add(inner, field.name, file: file) }
    for oneof in message.oneofs { add(inner, oneof.name, file: file) }
    for nested in message.nested { add(nested, inner, file: file) }
    for entry in message.enums { add(entry, inner, file: file) }
  }

  /// The values of an enum are its siblings.
  private mutating func add(_ entry: EnumDescriptor, _ scope: String, file: Int) {
    add(scope, entry.name, file: file)
    for value in entry.values { add(scope, value.name, file: file) }
  }
}
