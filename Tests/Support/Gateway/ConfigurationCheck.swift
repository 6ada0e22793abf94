import Diagnostics
import ProtobufSchema

@testable import Configuration
@testable import Gateway

/// What must hold of any bytes as a configuration file, read and compiled as `turnout check` does it: nothing traps, what
/// is wrong stands in the file, and no value from outside is shown.
///
/// The schema is that of gRPC's health service, and no other file is there.
package struct ConfigurationCheck {
  /// What a run came to, so that a test can see that it got that far.
  package enum Outcome: Equatable {
    case refused
    case compiled
    case fault(String)
  }

  private static let file = "/nowhere/turnout.yaml"
  /// The values of variables that begin with these letters; others are not set.
  private static let values: [Character: String] = ["S": "Qx7-value-of-S", "N": "8429317", "E": ""]
  /// What libyaml takes for the end of a line.
  private static let breaks: Set<Unicode.Scalar> = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]

  private let schema: Schema

  package init?() {
    guard let schema = SchemaLoader.load([], services: ["grpc.health.v1.Health"]).schema else { return nil }
    self.schema = schema
  }

  /// The first property that does not hold.
  package func fault(_ bytes: [UInt8]) -> String? {
    if case .fault(let fault) = outcome(bytes) { return fault }
    return nil
  }

  package func outcome(_ bytes: [UInt8]) -> Outcome {
    let text = String(decoding: bytes, as: UTF8.self)
    let bounds = bounds(of: text)
    let (configuration, found) = ConfigurationLoader.load(bytes: bytes, file: Self.file) { name in
      name.first.flatMap { Self.values[$0] }
    }
    if let fault = fault(found, text, bounds, isDone: configuration != nil) { return .fault(fault) }
    guard let configuration else { return .refused }
    let compiled = SnapshotCompiler.compile(
      configuration, stages: StageRegistry(), generation: 1, known: (schema, hash: "", warnings: []))
    let more = configuration.hidingSecrets(in: compiled.diagnostics)
    if let fault = fault(more, text, bounds, isDone: compiled.snapshot != nil) { return .fault(fault) }
    return compiled.snapshot == nil ? .refused : .compiled
  }

  /// The last line and the last column that a place can have. The place behind all that there is, is one too.
  private func bounds(of text: String) -> (line: Int, column: Int) {
    let lines = text.unicodeScalars.split(omittingEmptySubsequences: false) { Self.breaks.contains($0) }.count
    // Bytes that are no text are found before libyaml sees any, and then only a line feed ends a line.
    let longest = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(\.count).max() ?? 0
    return (lines + 1, longest + 1)
  }

  private func fault(
    _ diagnostics: [Diagnostic], _ text: String, _ bounds: (line: Int, column: Int), isDone: Bool
  ) -> String? {
    if isDone == diagnostics.contains(where: { $0.severity == .error }) {
      return isDone ? "taken with errors: \(diagnostics)" : "refused without an error: \(diagnostics)"
    }
    for diagnostic in diagnostics {
      let (position, shown) = (diagnostic.position, diagnostic.description)
      guard 1...bounds.line ~= position.line, 1...bounds.column ~= position.column else {
        return "a place that is not in the file: \(shown)"
      }
      if position.file != Self.file { return "another file: \(shown)" }
      if diagnostic.what.isEmpty { return "an error without words" }
      if shown.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
        return "a control character in \(shown.debugDescription)"
      }
      for value in Self.values.values where !value.isEmpty && shown.contains(value) && !text.contains(value) {
        return "a value from outside in \(shown)"
      }
    }
    return nil
  }
}
