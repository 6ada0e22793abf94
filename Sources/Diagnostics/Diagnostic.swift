/// A place in a file that a person wrote. Lines and columns count from 1, columns in characters.
package struct SourcePosition: Sendable, Hashable {
  package var file: String
  package var line: Int
  package var column: Int

  package init(file: String, line: Int, column: Int) {
    self.file = file
    self.line = line
    self.column = column
  }
}

/// One fault in what an operator wrote: where, what, and the cure.
package struct Diagnostic: Error, Sendable, Equatable {
  package enum Severity: String, Sendable {
    case error
    case warning
  }

  package var severity: Severity
  package var position: SourcePosition
  /// What is wrong, naming the value.
  package var what: String
  /// What to write instead; may be empty where nothing can be said.
  package var cure: String

  package init(severity: Severity = .error, at position: SourcePosition, _ what: String, cure: String = "") {
    self.severity = severity
    self.position = position
    self.what = what
    self.cure = cure
  }

  /// What and cure in one line, without the place.
  package var message: String { cure.isEmpty ? what : "\(what); \(cure)" }
}

extension Diagnostic: CustomStringConvertible {
  /// `file:line:column: error: what; the cure`, without a line break.
  package var description: String {
    let place = "\(position.file):\(position.line):\(position.column)"
    return "\(place): \(severity.rawValue): \(message)".map { $0.isNewline ? " " : String($0) }.joined()
  }
}
