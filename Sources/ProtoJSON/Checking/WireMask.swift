/// Gathers the paths of a FieldMask from wire bytes, where a field may come in parts and a list element by element.
struct WireMask {
  /// Off inside lists, maps and well-known types: those are leaves.
  var isActive: Bool
  private var paths: [String] = []
  private var known: Set<String> = []
  private var parents: [String] = []
  private var size = 0

  init(isActive: Bool) {
    self.isActive = isActive
  }

  /// Each path once, in the order of the bytes; a message that is empty in one part and not in another is no leaf.
  var leaves: [String] {
    var inner: Set<String> = []
    for path in paths {
      var steps = path.split(separator: ".")
      while steps.popLast() != nil, !steps.isEmpty { inner.insert(steps.joined(separator: ".")) }
    }
    return paths.filter { !inner.contains($0) }
  }

  mutating func enter(_ name: String) { parents.append(name) }

  mutating func leave() { _ = parents.popLast() }

  mutating func add(leaf: String, at offset: Int) throws(Fault) {
    try add((parents + [leaf]).joined(separator: "."), at: offset)
  }

  /// A message without fields is a leaf itself; the checked message is none.
  mutating func addEmptyMessage(at offset: Int) throws(Fault) {
    if !parents.isEmpty { try add(parents.joined(separator: "."), at: offset) }
  }

  private mutating func add(_ path: String, at offset: Int) throws(Fault) {
    guard known.insert(path).inserted else { return }
    size += path.utf8.count
    guard paths.count < DecodingOutcome.maximumMaskPaths, size <= DecodingOutcome.maximumMaskBytes else {
      throw Fault(.range, at: offset, "fewer fields expected: the update mask becomes too long")
    }
    paths.append(path)
  }
}
