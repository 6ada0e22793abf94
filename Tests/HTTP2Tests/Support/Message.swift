/// Request heads to begin with.
enum Message {
  static let get = [(":method", "GET"), (":scheme", "http"), (":authority", "a.example"), (":path", "/")]
  static let post = [(":method", "POST"), (":scheme", "http"), (":authority", "a.example"), (":path", "/")]

  /// ``get`` with other pseudo fields, and more fields.
  static func get(_ changes: [String: String] = [:], _ more: [(String, String)] = []) -> [(String, String)] {
    get.map { ($0, changes[$0] ?? $1) } + more
  }

  static func get(without name: String) -> [(String, String)] { get.filter { $0.0 != name } }
}
