import Diagnostics

extension LoadContext {
  /// The entries of a mapping; none for nothing at all.
  ///
  /// - Parameter cure: What to write in place of what is none, if that can be said.
  func mapping(_ node: Node, _ wanted: String, cure: String? = nil) -> [Node.Entry]? {
    if node.isNull { return [] }
    guard case .mapping(let entries) = node.content else {
      error(
        node.position, "a mapping, \(wanted), belongs here, not \(node.kindName)",
        cure: cure ?? "write `key: value` lines")
      return nil
    }
    return entries
  }

  /// The elements of a list; none for nothing at all.
  func list(_ node: Node, _ wanted: String) -> [Node]? {
    if node.isNull { return [] }
    guard case .sequence(let elements) = node.content else {
      var cure = "write it as `[…]`"
      if case .mapping = node.content { cure = "begin each of its elements with `- `" }
      error(node.position, "a list of \(wanted) belongs here, not \(node.kindName)", cure: cure)
      return nil
    }
    return elements
  }

  /// A list of texts that are not empty; those that are wrong are reported and left out.
  func texts(_ node: Node, _ wanted: String, each: String) -> [Text]? {
    list(node, wanted)?.compactMap { name($0, each) }
  }

  /// A file's path: absolute, or relative to the folder of the file that names it.
  func path(_ node: Node) -> Text? {
    guard var text = name(node, "a path") else { return nil }
    text.value = FilePath.resolve(text.value, from: node.position.file)
    return text
  }
}
