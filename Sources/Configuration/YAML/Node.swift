import Diagnostics

/// One value of a YAML file, and where it stands.
///
/// A value that was reached through an alias has the place of its definition.
struct Node: Sendable {
  struct Scalar: Sendable {
    var text: String
    /// Written without quotes, so that `~` and an empty text mean null.
    var isPlain: Bool
    /// Columns from the node's place to the first character of the text; nil where the file spells it otherwise.
    var offset: Int?
  }

  struct Entry: Sendable {
    var key: String
    var keyPosition: SourcePosition
    var value: Node
  }

  enum Content: Sendable {
    case scalar(Scalar)
    case sequence([Node])
    case mapping([Entry])
  }

  var content: Content
  var position: SourcePosition
  /// Nodes below and including this one, aliases counted as often as they are used.
  var weight = 1
  /// Levels below and including this one.
  var height = 1

  /// Where the first character of a text stands, when the file has the text as it is.
  func textPosition(of value: String) -> SourcePosition? {
    guard case .scalar(let scalar) = content, let offset = scalar.offset, scalar.text == value else { return nil }
    return SourcePosition(file: position.file, line: position.line, column: position.column + offset)
  }

  static func empty(at position: SourcePosition) -> Node { Node(content: .mapping([]), position: position) }

  var isNull: Bool {
    guard case .scalar(let scalar) = content, scalar.isPlain else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.text)
  }

  /// What this is, for a message: `text`, `a list`, `a mapping`, `nothing`.
  var kindName: String {
    switch content {
    case .scalar: isNull ? "nothing" : "text"
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}
