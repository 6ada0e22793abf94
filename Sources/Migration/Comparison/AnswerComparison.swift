import Bytes
package import ProtoJSON
import ProtobufSchema
package import RPC

/// What came of comparing two answers.
package struct AnswerComparison: Sendable {
  package var differences: [Difference] = []
  /// Whether the answers were looked at to their end, or at least until enough was found.
  package var isComplete = true

  package init() {}

  package init(_ difference: Difference) { differences = [difference] }

  /// - Parameters:
  ///   - unknownMatters: whether fields that the schema does not know make answers different.
  ///   - spellingMatters: whether another spelling does.
  package func isMatch(unknownMatters: Bool, spellingMatters: Bool = true) -> Bool {
    !differences.contains {
      $0.kind == .unknown ? unknownMatters : $0.kind.isOfSpelling ? spellingMatters : true
    }
  }

  /// The codes that two answers ended with, at least one of which is an error; nil: ok.
  package static func ofCodes(rest: Code?, rpc: Code?) -> AnswerComparison {
    if rest == rpc { return AnswerComparison() }
    return AnswerComparison(Difference(.status, at: "", rest: text(rest), rpc: text(rpc)))
  }

  /// A code as differences show it; nil: ok.
  package static func text(_ code: Code?) -> DifferenceValue { .text(code.map { "\($0.name)" } ?? "ok") }
}

/// Memory that comparisons use one after the other.
package struct ComparisonWorkspace: ~Copyable {
  fileprivate var rest = ByteBuffer()
  fileprivate var rpc = ByteBuffer()
  /// More than this is not kept.
  private static let maximumKept = 1 << 20

  package init() {}

  fileprivate mutating func clear() {
    rest.removeAll()
    rpc.removeAll()
    if rest.capacity > Self.maximumKept { rest = ByteBuffer() }
    if rpc.capacity > Self.maximumKept { rpc = ByteBuffer() }
  }
}

extension ComparisonPlan {
  /// Compares two messages, the wire bytes of which are in whatever form.
  ///
  /// Not different are: the order of fields and maps, packed lists and others, a default and nothing where presence
  /// does not count, NaN and NaN, the two zeros, and numbers in more bytes than they need.
  ///
  /// - Parameters:
  ///   - codec: of plain ProtoJSON, for the plan's schema.
  ///   - keepsValues: whether differences show texts themselves.
  package func compare(
    rest: Span<UInt8>, rpc: Span<UInt8>, codec: JSONCodec, keepsValues: Bool, workspace: inout ComparisonWorkspace
  ) -> AnswerComparison {
    var result = AnswerComparison()
    guard let message = messages.first.map({ Int($0.message) }) else { return result }
    if Self.areSame(rest, rpc) { return result }
    workspace.clear()
    do throws(JSONError) {
      try codec.normalize(rest, message: message, into: &workspace.rest)
    } catch {
      return AnswerComparison(misfit(.rest, error, message))
    }
    do throws(JSONError) {
      try codec.normalize(rpc, message: message, into: &workspace.rpc)
    } catch {
      return AnswerComparison(misfit(.rpc, error, message))
    }
    let (left, right) = (workspace.rest.span, workspace.rpc.span)
    if Self.areSame(left, right) { return result }
    var run = ComparisonRun(rest: left, rpc: right, plan: self, codec: codec, keepsValues: keepsValues)
    do throws(WireError) {
      try run.whole()
    } catch {
      result.isComplete = false
    }
    result.differences = run.list.all
    if run.isExhausted, result.differences.isEmpty { result.isComplete = false }
    return result
  }

  private static func areSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool { ASCII.equal(left, right) }

  private func misfit(_ side: ComparisonRun.Side, _ error: JSONError, _ message: Int) -> Difference {
    let path = SpelledPath.generic(error.path, in: schema, message: message)
    let value = DifferenceValue.text(error.reason)
    return Difference(
      .type, at: path, rest: side == .rest ? value : .absent, rpc: side == .rpc ? value : .absent)
  }
}
