import Diagnostics

/// A file and where it comes from.
struct LoadedFile {
  var descriptor: FileDescriptor
  var origin: Origin

  struct Origin {
    enum Kind { case descriptorSet, sources, builtIn }

    var kind: Kind
    /// The path of the set, or words for the sources.
    var label: String
    /// Of a source: where it was read from.
    var path: String?
    /// The entry in the configuration.
    var position: SourcePosition
  }
}

/// The files of all sources, each name once.
struct FileCollection {
  private(set) var files: [LoadedFile] = []
  private(set) var diagnostics: [Diagnostic] = []
  /// Whether a source could not be read whole, so that what is missing says nothing.
  private(set) var isPartial = false
  private var indices: [String: Int] = [:]
  /// Whether reflection will hand the files out.
  private let keepsBytes: Bool
  private let reading: ([UInt8]) -> Void

  init(keepsBytes: Bool = false, reading: @escaping ([UInt8]) -> Void = { _ in }) {
    self.keepsBytes = keepsBytes
    self.reading = reading
  }

  func contains(_ name: String) -> Bool { indices[name] != nil }

  mutating func addDescriptorSet(_ bytes: [UInt8], path: String, position: SourcePosition) {
    reading(bytes)
    let origin = LoadedFile.Origin(kind: .descriptorSet, label: path, position: position)
    let set: [FileDescriptor]
    do throws(WireError) {
      set = try FileDescriptor.set(bytes.span, keepsBytes: keepsBytes)
    } catch {
      let what = "\(path) is not a FileDescriptorSet: \(error.kind.rawValue) (in what begins at byte \(error.offset))"
      refuse(position, what, cure: Self.cure(for: bytes))
      return
    }
    if set.isEmpty {
      refuse(position, "\(path) holds no files", cure: Self.cure(for: bytes))
    }
    for file in set { add(file, origin: origin) }
  }

  mutating func addSources(_ names: [String], importPaths: [String], position: SourcePosition) {
    if names.isEmpty {
      refuse(position, "no sources are named", cure: "list .proto files under protos")
      return
    }
    let paths = importPaths.isEmpty ? [Self.folder(of: position.file)] : importPaths
    let compiled = ProtoCompiler.compile(files: names, importPaths: paths)
    reading(compiled.descriptorSet)
    for fault in compiled.faults { diagnostics.append(Diagnostic(fault, entry: position)) }
    if compiled.faults.contains(where: { !$0.isWarning }) { isPartial = true }
    guard
      let set = try? FileDescriptor.set(compiled.descriptorSet.span, readsPlaces: true, keepsBytes: keepsBytes)
    else {
      refuse(position, "the sources cannot be compiled", cure: "")
      return
    }
    for file in set {
      let path = compiled.paths[file.name]
      add(file, origin: LoadedFile.Origin(kind: .sources, label: "the sources", path: path, position: position))
    }
  }

  /// Adds what every schema has, and what is at hand of the files that others import or that have a wanted service.
  mutating func addBuiltIns(services: [String] = []) {
    let builtIns = keepsBytes ? BuiltInFiles.read(keepsBytes: true) : BuiltInFiles.all
    let nowhere = SourcePosition(file: "built-in types", line: 1, column: 1)
    if builtIns.isEmpty { refuse(nowhere, "the program's own types cannot be read", cure: "install it anew") }
    let origin = LoadedFile.Origin(kind: .builtIn, label: "the built-in types", position: nowhere)
    var wanted = Set(BuiltInFiles.always)
    for file in files { wanted.formUnion(file.descriptor.dependencies) }
    let declared = Set(files.flatMap(\.descriptor.serviceNames))
    for service in services where !declared.contains(service) {
      if let file = BuiltInFiles.services[service] { wanted.insert(file) }
    }
    // In reverse order of dependence, so that one pass finds what an added file imports.
    for file in builtIns.reversed() where wanted.contains(file.name) && !contains(file.name) {
      wanted.formUnion(file.dependencies)
    }
    for file in builtIns where wanted.contains(file.name) && !contains(file.name) { add(file, origin: origin) }
  }

  private mutating func add(_ file: FileDescriptor, origin: LoadedFile.Origin) {
    guard !file.name.isEmpty else {
      refuse(origin.position, "\(origin.label) holds a file without a name", cure: "")
      return
    }
    guard let index = indices[file.name] else {
      indices[file.name] = files.count
      files.append(LoadedFile(descriptor: file, origin: origin))
      return
    }
    let first = files[index]
    if first.descriptor == file { return }
    if BuiltInFiles.isStandard(file.name) {
      // Sets that were built with different releases: the one that declares more has all of the other.
      if file.declarationCount > first.descriptor.declarationCount { files[index].descriptor = file }
      return
    }
    diagnostics.append(
      Diagnostic(
        at: origin.position, "\(file.name) in \(origin.label) differs from \(file.name) in \(first.origin.label)",
        cure: "build both from the same sources, or leave one out"))
  }

  private mutating func refuse(_ position: SourcePosition, _ what: String, cure: String) {
    isPartial = true
    diagnostics.append(Diagnostic(at: position, what, cure: cure))
  }

  /// What to do about bytes that are no descriptor set, by what they look like.
  private static func cure(for bytes: [UInt8]) -> String {
    let build = "build it with `buf build -o x.binpb` or `protoc --include_imports -o x.binpb`"
    if bytes.starts(with: [0x1F, 0x8B]) { return "it is compressed with gzip: unpack it" }
    if bytes.first == UInt8(ascii: "{") { return "it is JSON, and the binary form is needed: \(build)" }
    for word in ["syntax", "edition", "package", "import", "//", "/*"] where bytes.starts(with: word.utf8) {
      return "it is a source: name it under protos, or \(build)"
    }
    return build
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

extension Diagnostic {
  /// A compiler's fault, at its own place if it has one.
  fileprivate init(_ fault: ProtoCompiler.Fault, entry: SourcePosition) {
    var message = fault.message
    if message.hasSuffix(".") { message.removeLast() }
    var cure = ""
    if message.hasPrefix("Import \""), message.hasSuffix("was not found") {
      cure = "add the folder that it is relative to under import_paths"
    } else if message == "File not found" {
      cure = "name it relative to one of import_paths"
    } else if message.hasPrefix("Sources with \"edition\"") {
      cure = "give a descriptor_set instead (`buf build -o x.binpb`, or a newer `protoc --include_imports -o x.binpb`)"
    }
    let severity = fault.isWarning ? Severity.warning : .error
    if fault.line > 0 {
      let place = SourcePosition(file: fault.file, line: fault.line, column: fault.column)
      self.init(severity: severity, at: place, message, cure: cure)
    } else {
      self.init(severity: severity, at: entry, fault.file.isEmpty ? message : "\(fault.file): \(message)", cure: cure)
    }
  }
}
