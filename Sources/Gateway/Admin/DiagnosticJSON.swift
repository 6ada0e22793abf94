import Diagnostics

extension Diagnostic {
  /// `{"file", "line", "column", "message"}`, as `POST /reload` and `GET /config` have it.
  var json: JSONValue {
    [
      "file": .string(position.file), "line": .integer(position.line), "column": .integer(position.column),
      "message": .string(message),
    ]
  }
}
