package import Bytes
import ProtobufSchema

/// Messages that come as protobuf bytes from outside: what ``JSONCodec/decode(_:message:bound:outcome:into:)`` is for
/// JSON.
extension JSONCodec {
  /// Checks the wire bytes of a message and appends them, with what the request binds elsewhere behind them.
  ///
  /// Checked is what a protobuf parser would: tags, lengths, nesting, UTF-8 where the schema wants it, required fields
  /// wherever they come from. Fields that the schema does not know stay. Bound values are watched for as in JSON: equal
  /// is fine, each time it is given.
  ///
  /// - Parameters:
  ///   - message: index in ``Schema/messages``.
  ///   - bound: values that the request binds elsewhere, inside this message; at most 64.
  ///   - outcome: takes the mask's paths: one per leaf that the bytes hold.
  /// - Throws: ``JSONError``; the output is then as it was before.
  package func check(
    _ wire: Span<UInt8>, message: Int, bound: [BoundField] = [], outcome: inout DecodingOutcome,
    into output: inout ByteBuffer
  ) throws(JSONError) {
    try requireMessage(message)
    try run(tables, wire, message, bound, &outcome, into: &output)
  }

  /// Checks the wire bytes of the message that one field holds, and appends them as that field.
  ///
  /// - Parameter field: a singular message or group. Bound paths and mask paths are relative to it.
  package func checkField(
    _ wire: Span<UInt8>, message: Int, field: Int, bound: [BoundField] = [], outcome: inout DecodingOutcome,
    into output: inout ByteBuffer
  ) throws(JSONError) {
    let plan = try requirePlan(message, field)
    guard plan.shape == .singular, !plan.kind.isScalar, plan.sub >= 0 else {
      throw JSONError(path: "", offset: 0, reason: "a field that holds a message expected", kind: .type)
    }
    let before = output.count
    output.append(encodedTag: plan.tag, length: plan.tagLength)
    do throws(JSONError) {
      if plan.kind == .group {
        try run(tables, wire, Int(plan.sub), bound, &outcome, into: &output)
        output.append(encodedTag: plan.endGroupTag, length: plan.tagLength)
      } else {
        let start = output.beginLengthDelimited()
        try run(tables, wire, Int(plan.sub), bound, &outcome, into: &output)
        output.endLengthDelimited(start)
      }
    } catch {
      output.truncate(to: before)
      throw error
    }
  }

  /// The tables are an argument so that they are borrowed: a copy would count references of each.
  private func run(
    _ tables: borrowing Tables, _ wire: Span<UInt8>, _ message: Int, _ bound: [BoundField],
    _ outcome: inout DecodingOutcome, into output: inout ByteBuffer
  ) throws(JSONError) {
    guard bound.count <= 64 else {
      throw JSONError(path: "", offset: 0, reason: "at most 64 bound values expected", kind: .range)
    }
    let before = output.count
    let all: UInt64 = bound.isEmpty ? 0 : .max >> UInt64(64 - bound.count)
    var checker = MessageChecker(
      wire, tables: TableView(tables), schema: schema, profile: profile, maximumDepth: maximumDepth, bound: bound,
      collectsMask: outcome.collectsMask, memory: memory)
    do {
      try checker.message(message, 0..<wire.count, bindings: all, level: 0, depth: 1)
      try checker.compareMessages(in: message)
    } catch { throw error.error }
    output.append(wire)
    let left = all & ~checker.met
    if left != 0 { TableView(tables).append(bound, message, left, level: 0, into: &output) }
    try requireAll(tables, message, from: before, in: &output)
    if outcome.collectsMask { outcome.maskPaths += checker.mask.leaves }
  }

  /// Looks for missing required fields in what was appended; takes it back with a fault.
  ///
  /// A message may come in parts, and what the request binds is one: only all of them together are complete.
  private func requireAll(
    _ tables: borrowing Tables, _ message: Int, from before: Int, in output: inout ByteBuffer
  ) throws(JSONError) {
    guard tables.messages[message].reachesRequired else { return }
    var scratch = ByteBuffer()
    do throws(JSONError) {
      try normalize(output.span.extracting(before..<output.count), message: message, into: &scratch)
    } catch {
      output.truncate(to: before)
      throw error
    }
  }
}
