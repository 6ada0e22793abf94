import Configuration
import Diagnostics
import EventLoopsTestSupport
import Testing

@testable import Gateway

/// What a configuration and a schema compile to, without running anything.
struct Compiled {
  let snapshot: Snapshot?
  let diagnostics: [Diagnostic]
  let text: String

  /// - Parameter settings: the keys of the one service.
  init(_ settings: [String], proto: String = Depot.proto, service: String = Depot.service) throws {
    let lines =
      [
        "listeners: [{ address: 127.0.0.1:0 }]", "schema: [{ protos: [depot.proto], import_paths: [.] }]", "upstreams:",
        "  legacy: { protocol: rest, endpoints: [\"http://127.0.0.1:1\"] }",
        "  depot: { protocol: connect, codec: json, endpoints: [\"http://127.0.0.1:2\"] }", "services:",
        "  \(service):", "    rest: legacy", "    rpc: depot",
      ] + settings.map { "    \($0)" }
    try self.init(text: lines.joined(separator: "\n") + "\n", proto: proto)
  }

  /// - Parameter files: further ones, by name.
  init(text: String, proto: String = Depot.proto, files: [String: String] = [:]) throws {
    self.text = text
    let folder = try TemporaryFolder()
    try folder.write(text, to: "turnout.yaml")
    try folder.write(proto, to: "depot.proto")
    for (name, text) in files { try folder.write(text, to: name) }
    let (configuration, faults) = ConfigurationLoader.load(path: folder.file("turnout.yaml"))
    guard let configuration else {
      (snapshot, diagnostics) = (nil, faults)
      return
    }
    let (snapshot, more) = SnapshotCompiler.compile(
      configuration, stages: StageRegistry(), generation: 1, interceptors: [])
    self.snapshot = snapshot
    diagnostics = faults + more
  }

  var errors: [Diagnostic] { diagnostics.filter { $0.severity == .error } }

  /// The text that stands where a fault is reported.
  func place(_ diagnostic: Diagnostic) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard diagnostic.position.file.hasSuffix("turnout.yaml"), lines.indices.contains(diagnostic.position.line - 1)
    else {
      return "(elsewhere)"
    }
    return String(lines[diagnostic.position.line - 1].dropFirst(diagnostic.position.column - 1))
  }
}
