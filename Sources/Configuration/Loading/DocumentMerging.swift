import Diagnostics

/// Lays the files of a configuration over each other.
enum DocumentMerging {
  /// Mappings with free names inside, where every file may add its own: a path of keys, `*` for any.
  private static let open: [[String]] = [
    [], ["upstreams"], ["services"], ["services", "*"], ["services", "*", "methods"], ["limits"], ["timeouts"],
  ]

  /// Adds what `more` says to `base`; a key that both give is a fault with both places.
  static func merge(_ more: Node, into base: inout Node, _ context: LoadContext) {
    merge(more, into: &base, path: [], context)
  }

  private static func merge(_ more: Node, into base: inout Node, path: [String], _ context: LoadContext) {
    guard case .mapping(var entries) = base.content, case .mapping(let added) = more.content else { return }
    var indices: [String: Int] = [:]
    for (index, entry) in entries.enumerated() { indices[entry.key] = index }
    for entry in added {
      guard let index = indices[entry.key] else {
        entries.append(entry)
        continue
      }
      let inner = path + [entry.key]
      if isOpen(inner), entries[index].value.isMapping, entry.value.isMapping {
        if entries[index].value.isNull {
          entries[index].value = entry.value
        } else if !entry.value.isNull {
          merge(entry.value, into: &entries[index].value, path: inner, context)
        }
      } else {
        context.report(.givenTwice(entry.key, at: entry.keyPosition, first: entries[index].keyPosition))
      }
    }
    base.content = .mapping(entries)
  }

  private static func isOpen(_ path: [String]) -> Bool {
    open.contains { pattern in
      pattern.count == path.count && zip(pattern, path).allSatisfy { $0 == "*" || $0 == $1 }
    }
  }
}

extension Node {
  /// A mapping, or nothing, which stands for an empty one.
  fileprivate var isMapping: Bool {
    if case .mapping = content { return true }
    return isNull
  }
}
