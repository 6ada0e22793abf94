import Diagnostics

/// The main file with its includes as one tree.
struct MainDocument {
  /// Files of one load; a glob over a wrong folder ends here.
  static let mostFiles = 1_000

  let context: LoadContext

  init(_ context: LoadContext) { self.context = context }

  func read(_ path: String) -> Node? {
    switch SourceFile.read(path, limit: DocumentLimits().bytes) {
    case .bytes(let bytes): return read(bytes, file: path)
    case .tooLong: return read([UInt8](repeating: 0x20, count: DocumentLimits().bytes + 1), file: path)
    case .failed(let reason):
      context.error(
        SourcePosition(file: path, line: 1, column: 1), "the file cannot be read: \(reason)",
        cure: "name an existing file")
      return nil
    }
  }

  func read(_ bytes: [UInt8], file: String) -> Node? {
    guard var root = compose(bytes, file: file) else { return nil }
    guard case .mapping(let entries) = root.content else { return root }
    if let include = entries.first(where: { $0.key == RootKey.include.rawValue }) {
      for (path, position) in included(include.value, main: file) { add(path, namedAt: position, to: &root) }
    }
    return root
  }

  private func compose(_ bytes: [UInt8], file: String) -> Node? {
    context.opened(file)
    context.read(document: bytes)
    let (root, faults) = Composer.compose(bytes, file: file)
    faults.forEach { context.report($0) }
    guard var root else {
      context.isIncomplete = true
      return nil
    }
    if root.isNull { root = .empty(at: root.position) }
    return root
  }

  /// The files that the patterns name, each once.
  private func included(_ node: Node, main: String) -> [(path: String, position: SourcePosition)] {
    var result: [(path: String, position: SourcePosition)] = []
    for element in context.list(node, "files") ?? [] {
      guard let pattern = context.path(element) else {
        context.isIncomplete = true
        continue
      }
      let paths = SourceFile.matches(pattern.value)
      if paths.isEmpty { report(noMatchOf: pattern) }
      for path in paths where !SourceFile.isSame(path, main) && !result.contains(where: { $0.path == path }) {
        if result.count == Self.mostFiles {
          context.error(element.position, "more than \(Self.mostFiles) files are included", cure: "include fewer")
          return result
        }
        result.append((path, element.position))
      }
    }
    return result
  }

  private func report(noMatchOf pattern: Text) {
    if pattern.value.contains(where: { "*?[".contains($0) }) {
      context.warning(pattern.position, "\(pattern.shown) matches no file")
    } else {
      context.error(pattern.position, "there is no file \(pattern.shown)", cure: "paths are relative to this file")
      context.isIncomplete = true
    }
  }

  private func add(_ path: String, namedAt position: SourcePosition, to root: inout Node) {
    switch SourceFile.read(path, limit: DocumentLimits().bytes) {
    case .failed(let reason):
      context.error(position, "\(quoted(path)) cannot be read: \(reason)")
      context.isIncomplete = true
    case .tooLong:
      context.error(position, "\(quoted(path)) is larger than \(DocumentLimits().bytes) bytes", cure: "split it")
      context.isIncomplete = true
    case .bytes(let bytes):
      guard var more = compose(bytes, file: path) else { return }
      guard case .mapping(let entries) = more.content else {
        context.error(more.position, "a mapping belongs here, not \(more.kindName)", cure: "write `key: value` lines")
        return
      }
      more.content = .mapping(
        entries.filter { entry in
          let isInclude = entry.key == RootKey.include.rawValue
          if isInclude {
            context.error(
              entry.keyPosition, "an included file includes others", cure: "name them in the main file's `include:`")
          }
          return !isInclude
        })
      DocumentMerging.merge(more, into: &root, context)
    }
  }
}
