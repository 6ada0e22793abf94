import Diagnostics

extension SchemaBuilder {
  mutating func buildMessage(_ index: Int) -> MessageType {
    let message = messages[index]
    let oneofs = keptOneofs(of: message)
    var fields: [Field] = []
    var members = [[Int]](repeating: [], count: oneofs.names.count)
    let clashes = jsonNameClashes(of: message)
    for var descriptor in message.descriptor.fields {
      if clashes.contains(descriptor.jsonName) { descriptor.jsonName = descriptor.name }
      let declared = descriptor.oneofIndex.flatMap { oneofs.kept[$0] }
      guard let field = buildField(descriptor, in: message, oneof: declared) else { continue }
      if let declared { members[declared].append(fields.count) }
      fields.append(field)
    }
    for descriptor in extensions[index] ?? [] {
      if let field = buildExtension(descriptor, of: message) { fields.append(field) }
    }
    checkFields(fields, of: message)
    if message.descriptor.isMessageSet { checkMessageSet(fields, of: message) }
    if message.descriptor.isMapEntry { checkMapEntry(fields, of: message) }
    return MessageType(
      fullName: message.fullName, file: files[message.file].descriptor.name, fields: fields,
      oneofs: zip(oneofs.names, members).map { Oneof(name: $0, members: $1) },
      wellKnown: WellKnownType(rawValue: message.fullName), isMapEntry: message.descriptor.isMapEntry,
      isMessageSet: message.descriptor.isMessageSet)
  }

  /// The JSON names that several fields have where that is no error (`json_format = LEGACY_BEST_EFFORT`): the fields go
  /// by their proto names, so that no key is written twice.
  private func jsonNameClashes(of message: PendingMessage) -> Set<String> {
    guard !message.features.allowsJSON else { return [] }
    var seen: Set<String> = []
    return Set(message.descriptor.fields.map(\.jsonName).filter { !seen.insert($0).inserted })
  }

  mutating func buildEnum(_ entry: PendingEnum) -> EnumType {
    let values = entry.descriptor.values
    var names: Set<String> = []
    for value in values {
      checkName(value.name, of: "a value of enum \(entry.fullName)", file: entry.file)
      if !names.insert(value.name).inserted {
        report(entry.file, "enum \(entry.fullName) has two values \(value.name)")
      }
    }
    if let first = values.first {
      if entry.features.isOpenEnum, first.number != 0 {
        report(entry.file, "the first value of enum \(entry.fullName) is \(first.number), it must be 0")
      }
    } else {
      report(entry.file, "enum \(entry.fullName) has no values")
    }
    return EnumType(
      fullName: entry.fullName, values: values.map { ($0.name, $0.number) }, isOpen: entry.features.isOpenEnum)
  }

  /// The oneofs that the source declares: the synthetic one of a proto3 `optional` field and empty ones are left out.
  /// `kept` gives the new index by the declared one.
  private mutating func keptOneofs(of message: PendingMessage) -> (names: [String], kept: [Int32: Int]) {
    let declared = message.descriptor.oneofs
    var used: Set<Int32> = []
    for field in message.descriptor.fields {
      guard let index = field.oneofIndex else { continue }
      guard index >= 0, index < declared.count else {
        report(message.file, "field \(message.fullName).\(field.name) is in a oneof that does not exist")
        continue
      }
      if field.label == .repeated {
        report(message.file, "field \(message.fullName).\(field.name) is repeated and in a oneof")
      }
      if !field.isProto3Optional { used.insert(index) }
    }
    var names: [String] = []
    var kept: [Int32: Int] = [:]
    for (index, oneof) in declared.enumerated() {
      guard let number = Int32(exactly: index), used.contains(number) else { continue }
      checkName(oneof.name, of: "oneof \(message.fullName).\(oneof.name)", file: message.file)
      kept[number] = names.count
      names.append(oneof.name)
    }
    return (names, kept)
  }
}
