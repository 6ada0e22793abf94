/// Gathers the paths of a FieldMask from wire bytes, where a field may come in parts and a list element by element.
struct WireMask {
  /// Off inside lists, maps and well-known types: those are leaves.
  var isActive: Bool
  /// A tree of names, the checked message first: what comes again is found by its name alone.
  private var nodes = [Node(parent: 0, name: "")]
  private var known: [Step: Int] = [:]
  /// The message that is open.
  private var open = 0
  /// Nodes that were added as leaves, in the order of the bytes.
  private var added: [Int] = []
  private var size = 0

  private struct Node {
    let parent: Int
    let name: String
    var isAdded = false
  }

  private struct Step: Hashable {
    let parent: Int
    let name: String
  }

  /// Messages that hold nothing known make no paths, but nodes.
  private static let maximumNodes = DecodingOutcome.maximumMaskPaths * 8

  init(isActive: Bool) {
    self.isActive = isActive
  }

  /// Each path once, in the order of the bytes; a message that is empty in one part and not in another is no leaf.
  var leaves: [String] {
    var inner: Set<Int> = []
    for node in added {
      var above = node
      while above != 0 {
        above = nodes[above].parent
        guard inner.insert(above).inserted else { break }
      }
    }
    return added.filter { !inner.contains($0) }.map { path(of: $0) }
  }

  mutating func enter(_ name: String, at offset: Int) throws(Fault) { open = try node(name, at: offset) }

  mutating func leave() { open = nodes[open].parent }

  mutating func add(leaf: String, at offset: Int) throws(Fault) {
    try add(try node(leaf, at: offset), at: offset)
  }

  /// A message without fields is a leaf itself; the checked message is none.
  mutating func addEmptyMessage(at offset: Int) throws(Fault) {
    if open != 0 { try add(open, at: offset) }
  }

  private mutating func node(_ name: String, at offset: Int) throws(Fault) -> Int {
    let step = Step(parent: open, name: name)
    if let node = known[step] { return node }
    guard nodes.count < Self.maximumNodes else { throw tooLong(offset) }
    known[step] = nodes.count
    nodes.append(Node(parent: open, name: name))
    return nodes.count - 1
  }

  private mutating func add(_ node: Int, at offset: Int) throws(Fault) {
    guard !nodes[node].isAdded else { return }
    nodes[node].isAdded = true
    size += path(of: node).utf8.count
    guard added.count < DecodingOutcome.maximumMaskPaths, size <= DecodingOutcome.maximumMaskBytes else {
      throw tooLong(offset)
    }
    added.append(node)
  }

  private func tooLong(_ offset: Int) -> Fault {
    Fault(.range, at: offset, "fewer fields expected: the update mask becomes too long")
  }

  private func path(of node: Int) -> String {
    var names: [String] = []
    var step = node
    while step != 0 {
      names.append(nodes[step].name)
      step = nodes[step].parent
    }
    return names.reversed().joined(separator: ".")
  }
}
