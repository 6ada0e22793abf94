import Testing

@testable import Gateway

extension RawMessage {
  /// All values of a field, in order.
  func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
}

extension TestGateway {
  /// One request on a connection of its own that some backend answers.
  ///
  /// - Returns: what the backend was asked, and what the caller was told.
  func exchange(
    _ method: String, _ target: String, _ fields: [String] = [], body: String? = nil, at upstream: ScriptedUpstream,
    answers: [String] = [], json: String = #"{"id":"7"}"#
  ) throws -> (asked: RawMessage, answer: RawMessage) {
    let client = try client()
    client.request(method, target, fields, body: body)
    let backend = try upstream.accept()
    let asked = try backend.receiveMessage()
    backend.answer(200, ["connection: close"] + answers, json: json)
    return (asked, try client.receiveMessage())
  }
}

/// Where the calls of a test go: passed on, or translated.
enum Way: String, CaseIterable, CustomStringConvertible {
  case passedOn
  case translated

  var description: String { rawValue }

  /// A gateway whose GET `/v1/crates/7` goes this way, with these lines of YAML.
  func gateway(_ backend: ScriptedUpstream, _ more: [String]) throws -> TestGateway {
    switch self {
    case .passedOn: try TestGateway(Depot.configuration(rest: backend, rpc: nil, more: more))
    case .translated: try TestGateway(Depot.configuration(rest: nil, rpc: backend, ["stage: rpc"], more: more))
    }
  }
}
