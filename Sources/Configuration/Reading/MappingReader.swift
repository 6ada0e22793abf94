import Diagnostics

extension Node {
  /// What to write in place of a bare value that somebody took for a shorthand.
  fileprivate func cure(as key: some SectionKey) -> String? {
    guard case .scalar(let scalar) = content, !isNull, !scalar.text.contains(where: \.isNewline) else { return nil }
    return "write \(quoted("{ \(key.rawValue): \(scalar.text) }"))"
  }
}

/// The entries of a mapping by known key; the others were reported when it was made.
struct MappingReader<Key: SectionKey> {
  /// Where a missing key is reported; the mapping itself unless somebody knows better.
  var place: SourcePosition
  private var entries: [Key: Node.Entry] = [:]
  private var meant: Set<String> = []

  /// Nil, and a fault, when the value is not a mapping; nothing at all is an empty one.
  init?(_ node: Node, _ section: Section<Key>, _ context: LoadContext) {
    place = node.position
    guard let all = context.mapping(node, section.name, cure: section.shorthand.flatMap { node.cure(as: $0) }) else {
      return nil
    }
    for entry in all {
      if let key = section.key(entry.key) {
        entries[key] = entry
        if !section.isForeign { context.saw(entry.key, of: section.name) }
      } else {
        refuse(entry, section, context)
      }
    }
  }

  private mutating func refuse(_ entry: Node.Entry, _ section: Section<Key>, _ context: LoadContext) {
    switch section.hints[entry.key] {
    case .notYet(let instead):
      context.error(entry.keyPosition, "\(quoted(entry.key)) is not supported by this version", cure: instead)
    case .misplaced(let place):
      context.error(entry.keyPosition, "\(quoted(entry.key)) is not a key of \(section.name)", cure: place)
    case .means(let key):
      meant.insert(key)
      context.error(
        entry.keyPosition, "unknown key \(quoted(entry.key)) in \(section.name)",
        cure: "it is called \(quoted(key)) here")
    case nil:
      let keys = section.keys.map(\.rawValue)
      let near = context.nearest(entry.key, in: keys)
      if let near { meant.insert(near) }
      context.error(
        entry.keyPosition, "unknown key \(quoted(entry.key)) in \(section.name)",
        cure: near.map { "did you mean \(quoted($0))?" } ?? "the keys are \(listed(keys))")
    }
  }

  subscript(key: Key) -> Node? { entries[key]?.value }

  /// Of the key itself.
  func keyPosition(_ key: Key) -> SourcePosition { entries[key]?.keyPosition ?? place }

  /// Whether a misspelt key was probably this one, so that its absence needs no second fault.
  func wasMeant(_ key: Key) -> Bool { entries[key] == nil && meant.contains(key.rawValue) }

  /// The value of a key that must be there; its absence is reported, unless a file is missing as a whole.
  func required(_ key: Key, _ section: Section<Key>, _ context: LoadContext, cure: String) -> Node? {
    if let node = entries[key]?.value { return node }
    if !context.isIncomplete, !wasMeant(key) {
      context.error(place, "\(section.name) needs \(quoted(key.rawValue))", cure: cure)
    }
    return nil
  }
}
