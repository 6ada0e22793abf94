import Bytes
import Configuration
import Diagnostics
import ProtoJSON
import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import Migration

/// Compares messages of the rich schema, given as JSON or as wire bytes.
struct ComparisonRig {
  static let schema = Result { try RichSchema.load() }

  let schema: Schema
  let codec: JSONCodec
  var settings = RouteSettings.Shadow()

  init(ignore: [String] = [], unordered: [String] = [], tolerance: [String: RouteSettings.FieldTolerance.Amount] = [:])
    throws
  {
    schema = try Self.schema.get()
    codec = JSONCodec(schema: schema, profile: .standard)
    settings.ignore = ignore.map(Self.path)
    settings.unordered = unordered.map(Self.path)
    settings.tolerance = tolerance.sorted { $0.key < $1.key }.map { .init(path: Self.path($0.key), amount: $0.value) }
  }

  static func path(_ text: String) -> Reference {
    Reference(name: text, position: SourcePosition(file: "t.yaml", line: 1, column: 1))
  }

  func index(_ message: String) throws -> Int {
    try #require(schema.messageIndex(named: message), "no message \(message)")
  }

  func wire(_ json: String, _ message: String, _ profile: JSONProfile = .standard) throws -> [UInt8] {
    var output = ByteBuffer()
    var outcome = DecodingOutcome()
    let codec = profile == .standard ? codec : JSONCodec(schema: schema, profile: profile)
    try codec.decode(Array(json.utf8).span, message: try index(message), outcome: &outcome, into: &output)
    return output.bytes
  }

  func compare(_ message: String, rest: [UInt8], rpc: [UInt8]) throws -> AnswerComparison {
    let plan = ComparisonPlan(schema, message: try index(message), rules: ComparisonRules(settings))
    var workspace = ComparisonWorkspace()
    return plan.compare(
      rest: rest.span, rpc: rpc.span, codec: codec, keepsValues: settings.samples == .values, workspace: &workspace)
  }

  func compare(_ message: String, _ rest: String, _ rpc: String) throws -> AnswerComparison {
    try compare(message, rest: wire(rest, message), rpc: wire(rpc, message))
  }

  /// `kind path` of each difference, sorted.
  func differences(_ message: String, _ rest: String, _ rpc: String) throws -> [String] {
    let result = try compare(message, rest, rpc)
    #expect(result.isComplete)
    return result.differences.map { "\($0.kind.rawValue) \($0.path)" }.sorted()
  }
}
