import Bytes

/// Gathers the paths of a FieldMask while a body is read.
struct MaskCollector {
  /// Off inside lists, maps and well-known types: those are leaves.
  var isActive: Bool
  private(set) var paths: [String] = []
  private var parents: [String] = []
  private var size = 0

  init(isActive: Bool) {
    self.isActive = isActive
  }

  mutating func enter(_ name: String) { parents.append(name) }

  mutating func leave() { _ = parents.popLast() }

  mutating func add(leaf: String, at offset: Int) throws(Fault) {
    try add((parents + [leaf]).joined(separator: "."), at: offset)
  }

  /// A message without members is a leaf itself; the decoded message is none.
  mutating func addEmptyMessage(at offset: Int) throws(Fault) {
    if !parents.isEmpty { try add(parents.joined(separator: "."), at: offset) }
  }

  private mutating func add(_ path: String, at offset: Int) throws(Fault) {
    size += path.utf8.count
    guard paths.count < DecodingOutcome.maximumMaskPaths, size <= DecodingOutcome.maximumMaskBytes else {
      throw Fault(.range, at: offset, "fewer fields expected: the update mask becomes too long")
    }
    paths.append(path)
  }
}
