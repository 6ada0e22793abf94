import Diagnostics

/// The entries of a mapping by known key; the others were reported when it was made.
struct MappingReader<Key: SectionKey> {
  /// Where a missing key is reported; the mapping itself unless somebody knows better.
  var place: SourcePosition
  private var entries: [Key: Node.Entry] = [:]

  /// Nil, and a fault, when the value is not a mapping; nothing at all is an empty one.
  init?(_ node: Node, _ section: Section<Key>, _ context: LoadContext) {
    place = node.position
    guard let all = context.mapping(node, section.name) else { return nil }
    for entry in all {
      if let key = Key(rawValue: entry.key), section.keys.contains(key) {
        entries[key] = entry
        context.saw(entry.key, of: section.name)
      } else {
        Self.refuse(entry, section, context)
      }
    }
  }

  private static func refuse(_ entry: Node.Entry, _ section: Section<Key>, _ context: LoadContext) {
    switch section.hints[entry.key] {
    case .notYet(let instead):
      context.error(entry.keyPosition, "\(quoted(entry.key)) is not supported by this version", cure: instead)
    case .misplaced(let place):
      context.error(entry.keyPosition, "\(quoted(entry.key)) is not a key of \(section.name)", cure: place)
    case nil:
      context.error(
        entry.keyPosition, "unknown key \(quoted(entry.key)) in \(section.name)",
        cure: guess(entry.key, in: section.keys.map(\.rawValue), called: "the keys"))
    }
  }

  subscript(key: Key) -> Node? { entries[key]?.value }

  /// Of the key itself.
  func keyPosition(_ key: Key) -> SourcePosition { entries[key]?.keyPosition ?? place }

  var isEmpty: Bool { entries.isEmpty }

  /// The value of a key that must be there; its absence is reported, unless a file is missing as a whole.
  func required(_ key: Key, _ section: Section<Key>, _ context: LoadContext, cure: String) -> Node? {
    if let node = entries[key]?.value { return node }
    if !context.isIncomplete {
      context.error(place, "\(section.name) needs \(quoted(key.rawValue))", cure: cure)
    }
    return nil
  }
}

/// The nearest name, else all of them.
func guess(_ name: String, in names: [String], called plural: String) -> String {
  if let near = Nearest.match(name, in: names) { return "did you mean \(quoted(near))?" }
  if names.isEmpty { return "" }
  return "\(plural) are \(listed(names.prefix(40).map { $0 }))"
}
