import Diagnostics

/// Turns parsed files into a ``Schema``: gives every type its index, resolves references, and gathers all faults.
struct SchemaBuilder {
  /// A type, and what its place says about it.
  struct PendingType<Descriptor> {
    var descriptor: Descriptor
    var fullName: String
    var file: Int
    /// In SourceCodeInfo.
    var path: [Int32]
    var features: Features
  }

  typealias PendingMessage = PendingType<MessageDescriptor>
  typealias PendingEnum = PendingType<EnumDescriptor>

  /// An extension, kept with the message that it extends.
  struct PendingExtension {
    var descriptor: FieldDescriptor
    var scope: String
    var file: Int
    /// In SourceCodeInfo.
    var path: [Int32]
    var features: Features
  }

  let files: [LoadedFile]
  var diagnostics: [Diagnostic]
  /// Whether something is missing for a fault that was reported: then nothing is said about what is undefined.
  var isPartial: Bool
  var symbols = SymbolTable()
  var messages: [PendingMessage] = []
  var enums: [PendingEnum] = []
  /// By index of the extended message.
  var extensions: [Int: [PendingExtension]] = [:]
  /// What was named as undefined, by file.
  var undefined: Set<String> = []

  init(_ collection: FileCollection) {
    files = collection.files
    diagnostics = collection.diagnostics
    isPartial = collection.isPartial
  }

  /// The schema; it is whole only if ``diagnostics`` holds no error afterwards.
  mutating func build(keepsFiles: Bool) -> Schema {
    for file in files.indices { declare(file) }
    for file in files.indices { collectExtensions(file) }
    checkWellKnownTypes()
    let messageTypes = messages.indices.map { buildMessage($0) }
    let enumTypes = enums.map { buildEnum($0) }
    var services: [ServiceType] = []
    for file in files.indices {
      for (index, service) in files[file].descriptor.services.enumerated() {
        services.append(buildService(service, file: file, path: [6, index.number]))
      }
    }
    return Schema(
      messages: messageTypes, enums: enumTypes, services: services, files: keepsFiles ? descriptorFiles() : nil)
  }

  // MARK: Declaring

  private mutating func declare(_ file: Int) {
    let descriptor = files[file].descriptor
    guard let features = descriptor.features else {
      let release = descriptor.syntax == "editions" ? "edition \(descriptor.edition)" : "syntax \(descriptor.syntax)"
      report(file, "it has \(release), which is not known", cure: "use proto2, proto3 or an edition up to 2026")
      isPartial = true
      return
    }
    checkFeatures(descriptor.overrides, of: "it", file: file, path: [8])
    if !Identifier.isValidPackage(descriptor.package) {
      report(file, "\(descriptor.package) is not a valid package name")
    }
    for (index, message) in descriptor.messages.enumerated() {
      declare(message, scope: descriptor.package, file: file, path: [4, index.number], features: features)
    }
    for (index, entry) in descriptor.enums.enumerated() {
      declare(entry, scope: descriptor.package, file: file, path: [5, index.number], features: features)
    }
    for (index, service) in descriptor.services.enumerated() {
      let fullName = Self.join(descriptor.package, service.name)
      checkName(service.name, of: "service \(fullName)", file: file)
      reportTwice(fullName, symbols.declare(fullName, .service, file: file), file: file, path: [6, index.number])
    }
  }

  private mutating func declare(
    _ message: MessageDescriptor, scope: String, file: Int, path: [Int32], features: Features
  ) {
    let fullName = Self.join(scope, message.name)
    let features = features.applying(message.overrides)
    checkName(message.name, of: "message \(fullName)", file: file)
    checkFeatures(message.overrides, of: "message \(fullName)", file: file, path: path)
    for oneof in message.oneofs {
      checkFeatures(oneof.overrides, of: "oneof \(fullName).\(oneof.name)", file: file, path: path)
    }
    let earlier = symbols.declare(fullName, .message(messages.count), file: file)
    if earlier == nil {
      messages.append(
        PendingMessage(
          descriptor: message, fullName: fullName, file: file, path: path, features: features))
    }
    reportTwice(fullName, earlier, file: file, path: path)
    for (index, nested) in message.nested.enumerated() {
      declare(nested, scope: fullName, file: file, path: path + [3, index.number], features: features)
    }
    for (index, entry) in message.enums.enumerated() {
      declare(entry, scope: fullName, file: file, path: path + [4, index.number], features: features)
    }
  }

  private mutating func declare(_ entry: EnumDescriptor, scope: String, file: Int, path: [Int32], features: Features) {
    let fullName = Self.join(scope, entry.name)
    checkName(entry.name, of: "enum \(fullName)", file: file)
    checkFeatures(entry.overrides, of: "enum \(fullName)", file: file, path: path)
    let earlier = symbols.declare(fullName, .enumeration(enums.count), file: file)
    if earlier == nil {
      let features = features.applying(entry.overrides)
      enums.append(PendingEnum(descriptor: entry, fullName: fullName, file: file, path: path, features: features))
    }
    reportTwice(fullName, earlier, file: file, path: path)
  }

  /// A built-in type gives way to one that a source declares under another file name.
  private mutating func reportTwice(_ fullName: String, _ earlier: Int?, file: Int, path: [Int32]) {
    guard let earlier, files[file].origin.kind != .builtIn else { return }
    let place = files[earlier].descriptor.name
    report(
      file, at: path,
      place == files[file].descriptor.name
        ? "\(fullName) is declared twice" : "\(fullName) is declared in \(place) too",
      cure: "leave one of the files out, or build all sets from the same root folder")
  }

  static func join(_ scope: String, _ name: String) -> String { scope.isEmpty ? name : "\(scope).\(name)" }

  // MARK: Reporting

  /// A fault in a file: at its place in a source, else at the entry of the set with the file's name in front.
  mutating func report(
    _ file: Int, at path: [Int32] = [], severity: Diagnostic.Severity = .error, _ what: String, cure: String = ""
  ) {
    if let position = position(of: path, in: file) {
      diagnostics.append(Diagnostic(severity: severity, at: position, what, cure: cure))
    } else {
      let name = files[file].descriptor.name
      diagnostics.append(
        Diagnostic(severity: severity, at: files[file].origin.position, "\(name): \(what)", cure: cure))
    }
  }

  /// Where a declaration stands, if its file was read as a source.
  func position(of path: [Int32], in file: Int) -> SourcePosition? {
    guard let source = files[file].origin.path, let place = files[file].descriptor.places[path] else { return nil }
    return SourcePosition(file: source, line: place.line, column: place.column)
  }

  mutating func checkName(_ name: String, of element: String, file: Int) {
    if !Identifier.isValid(name) { report(file, "\(element) has a name that is no identifier") }
  }

  /// What a reference means; reports it when nothing declares it.
  mutating func resolve(_ reference: String, from scope: String, file: Int, user: String) -> Symbol? {
    if let symbol = symbols.resolve(reference, from: scope) { return symbol }
    let name = reference.hasPrefix(".") ? String(reference.dropFirst()) : reference
    guard !isPartial, undefined.insert("\(files[file].descriptor.name)\n\(name)").inserted else { return nil }
    if name.isEmpty {
      report(file, "\(user) names no type")
      return nil
    }
    let missing = files[file].descriptor.dependencies.filter { name in
      !files.contains { $0.descriptor.name == name }
    }
    let imports = missing.isEmpty ? "" : "; of its imports \(missing.joined(separator: ", ")) is missing"
    report(
      file, "\(user) refers to \(name), which \(files[file].origin.label) lacks\(imports)",
      cure: "build the set with all imports (`buf build`, or `protoc --include_imports`)")
    return nil
  }
}

extension Int {
  /// As an index in a path of SourceCodeInfo.
  var number: Int32 { Int32(truncatingIfNeeded: self) }
}
