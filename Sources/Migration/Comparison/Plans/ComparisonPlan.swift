package import ProtobufSchema
import Synchronization

/// How answers of one message type are compared: flat tables of its fields, with the route's rules worked in.
///
/// Immutable; shared by all loops.
package final class ComparisonPlan: Sendable {
  let schema: Schema
  let messages: [ComparedMessage]
  let fields: [ComparedField]
  /// JSON names, by the indices of ``fields``.
  let names: [String]
  let tolerances: [Tolerance]
  /// Plans of what was met in `google.protobuf.Any`, by message; no rule reaches in there.
  private let embedded = Mutex<[Int: ComparisonPlan]>([:])

  init(
    schema: Schema, messages: [ComparedMessage], fields: [ComparedField], names: [String], tolerances: [Tolerance]
  ) {
    self.schema = schema
    self.messages = messages
    self.fields = fields
    self.names = names
    self.tolerances = tolerances
  }

  /// - Parameter message: index into ``Schema/messages``.
  package convenience init(_ schema: Schema, message: Int, rules: ComparisonRules = .none) {
    var builder = ComparisonPlanBuilder(schema, rules.rules)
    builder.build(message)
    self.init(
      schema: schema, messages: builder.messages, fields: builder.fields, names: builder.names,
      tolerances: builder.tolerances)
  }

  /// The plan for a message in an `Any`.
  func plan(embedding message: Int) -> ComparisonPlan {
    if let known = embedded.withLock({ $0[message] }) { return known }
    let plan = ComparisonPlan(schema, message: message)
    embedded.withLock { $0[message] = plan }
    return plan
  }

  /// The position of a field among those of a message, by its number; nil when it has none.
  func position(of number: UInt32, in message: ComparedMessage) -> Int? {
    let start = Int(message.fieldsStart)
    var low = 0
    var high = Int(message.fieldsCount)
    // Most messages count from 1 without gaps.
    let guess = Int(truncatingIfNeeded: number) &- 1
    if guess < high, guess >= 0, fields[start + guess].number == number { return guess }
    while low < high {
      let middle = (low + high) / 2
      let found = fields[start + middle].number
      if found == number { return middle }
      if found < number { low = middle + 1 } else { high = middle }
    }
    return nil
  }
}
