import Bytes
import Configuration
import Diagnostics
import Migration
import ProtoJSON
import ProtobufSchema
import TranslationTestSupport

/// What must hold of any two messages that are compared.
package struct ComparisonCheck {
  private static let types = [
    "rich.Scalars", "rich.Lists", "rich.Maps", "rich.Node", "rich.Known", "rich.Old", "rich.Strict",
  ]

  private let codec: JSONCodec
  /// A type's number, and its plans: without rules and with some.
  private let plans: [(message: Int, plans: [ComparisonPlan])]

  package init() throws {
    let schema = try RichSchema.load()
    codec = JSONCodec(schema: schema, profile: .standard)
    var rules = RouteSettings.Shadow()
    rules.ignore = [Self.path("*.name")]
    rules.unordered = [Self.path("*")]
    rules.tolerance = [.init(path: Self.path("*"), amount: .relative(0.5))]
    plans = Self.types.compactMap { name in
      schema.messageIndex(named: name).map { message in
        (
          message,
          [RouteSettings.Shadow(), rules].map {
            ComparisonPlan(schema, message: message, rules: ComparisonRules($0))
          }
        )
      }
    }
  }

  private static func path(_ text: String) -> Reference {
    Reference(name: text, position: SourcePosition(file: "", line: 1, column: 1))
  }

  /// The first property that does not hold. The first byte chooses type and rules, the second how the rest is shared.
  package func fault(_ bytes: [UInt8]) -> String? {
    guard bytes.count > 2, !plans.isEmpty else { return nil }
    let (message, both) = plans[Int(bytes[0] >> 1) % plans.count]
    let plan = both[Int(bytes[0] & 1)]
    let rest = Array(bytes[2...])
    let cut = rest.count * Int(bytes[1]) / 255
    let (left, right) = (Array(rest[..<cut]), Array(rest[cut...]))
    return equal(plan, message, left) ?? symmetric(plan, left, right)
  }

  /// A message and its normal form are the same.
  private func equal(_ plan: ComparisonPlan, _ message: Int, _ wire: [UInt8]) -> String? {
    var normal = ByteBuffer()
    do throws(JSONError) {
      try codec.normalize(wire.span, message: message, into: &normal)
    } catch {
      return nil
    }
    let result = compare(plan, wire, normal.bytes)
    return result.differences.isEmpty ? nil : "\(wire) is not its own normal form: \(result.differences)"
  }

  private func symmetric(_ plan: ComparisonPlan, _ left: [UInt8], _ right: [UInt8]) -> String? {
    let (one, other) = (compare(plan, left, right), compare(plan, right, left))
    for found in one.differences where found.kind != .status && found.path.utf8.count > 20_000 {
      return "a path of \(found.path.utf8.count) bytes"
    }
    guard one.isComplete, other.isComplete else { return nil }
    return one.differences.isEmpty == other.differences.isEmpty
      ? nil : "\(left) and \(right) differ by \(one.differences), the other way by \(other.differences)"
  }

  private func compare(_ plan: ComparisonPlan, _ rest: [UInt8], _ rpc: [UInt8]) -> AnswerComparison {
    var workspace = ComparisonWorkspace()
    return plan.compare(
      rest: rest.span, rpc: rpc.span, codec: codec, keepsValues: rest.count % 2 == 0, workspace: &workspace)
  }
}
