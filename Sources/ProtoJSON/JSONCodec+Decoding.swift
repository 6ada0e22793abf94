package import Bytes
import ProtobufSchema

extension JSONCodec {
  /// Decodes a JSON document into a message and appends its wire bytes.
  ///
  /// Fields are written in the order of the JSON; fields without presence that hold their default are left out.
  /// - Parameters:
  ///   - message: index in ``Schema/messages``.
  ///   - bound: values that the request binds elsewhere, inside this message; at most 64.
  ///   - outcome: takes the mask's paths and the unknown members.
  /// - Throws: ``JSONError``; the output is then as it was before.
  package func decode(
    _ json: Span<UInt8>, message: Int, bound: [BoundField] = [], outcome: inout DecodingOutcome,
    into output: inout ByteBuffer
  ) throws(JSONError) {
    try requireMessage(message)
    try run(tables, json, bound: bound, outcome: &outcome, into: &output) { decoder, output throws(Fault) in
      try decoder.document(message, bindings: decoder.allBindings, into: &output)
    }
  }

  /// Decodes the JSON value of one field and appends tag and value, or several.
  ///
  /// `null` sets nothing, but for `google.protobuf.Value`. Bound paths and mask paths are relative to the field's
  /// message; what is bound is written even if the value is null.
  package func decodeField(
    _ json: Span<UInt8>, message: Int, field: Int, bound: [BoundField] = [], outcome: inout DecodingOutcome,
    into output: inout ByteBuffer
  ) throws(JSONError) {
    let plan = try requirePlan(message, field)
    try run(tables, json, bound: bound, outcome: &outcome, into: &output) { decoder, output throws(Fault) in
      try decoder.field(plan, into: &output)
    }
  }

  /// The tables are an argument so that they are borrowed: a copy would count references of each.
  private func run(
    _ tables: borrowing Tables, _ json: Span<UInt8>, bound: [BoundField], outcome: inout DecodingOutcome,
    into output: inout ByteBuffer,
    _ body: (inout MessageDecoder, inout ByteBuffer) throws(Fault) -> Void
  ) throws(JSONError) {
    guard bound.count <= 64 else {
      throw JSONError(path: "", offset: 0, reason: "at most 64 bound values expected", kind: .range)
    }
    let before = output.count
    var decoder = MessageDecoder(
      json, tables: TableView(tables), schema: schema, profile: profile, maximumDepth: maximumDepth, bound: bound,
      collectsMask: outcome.collectsMask, memory: RunMemory(memory))
    defer { decoder.memory.close() }
    do throws(Fault) {
      decoder.cursor.skipBlanks()
      try body(&decoder, &output)
      try decoder.cursor.end()
    } catch {
      output.truncate(to: before)
      // A fault names a field only if the JSON lacks it.
      let path = PathScanner.path(in: json, at: error.offset)
      throw (path.isEmpty ? error : error.inside(path)).error
    }
    if outcome.collectsMask { outcome.maskPaths += decoder.mask.paths }
    if !decoder.unknownOffsets.isEmpty {
      let room = Swift.max(0, DecodingOutcome.maximumUnknownFields - outcome.unknownFields.count)
      outcome.unknownFields += PathScanner.paths(in: json, at: decoder.unknownOffsets.sorted()).prefix(room)
    }
  }
}

extension MessageDecoder {
  /// A bit for each bound value.
  var allBindings: UInt64 { bound.isEmpty ? 0 : UInt64.max >> UInt64(64 - Swift.min(bound.count, 64)) }

  /// The value of one field as the whole document.
  mutating func field(_ field: FieldPlan, into output: inout ByteBuffer) throws(Fault) {
    let before = output.count
    let isMessage = field.shape == .singular && (field.kind == .message || field.kind == .group)
    if cursor.byte == UInt8(ascii: "n"), !field.kind.acceptsNull || field.shape != .singular {
      try cursor.literal("null")
      guard isMessage, !bound.isEmpty else { return }
      try appendParent(field, into: &output)
      return
    }
    guard isMessage else {
      guard bound.isEmpty else { throw Fault(.conflict, at: cursor.index, "no part of this field can be bound") }
      mask.isActive = false
      if try value(of: field, into: &output) == .dropped { output.truncate(to: before) }
      return
    }
    // As null: what is bound is written all the same.
    if try tagged(field, bindings: allBindings, level: 0, into: &output) == .dropped {
      output.truncate(to: before)
      if !bound.isEmpty { try appendParent(field, into: &output) }
    }
  }

  private func appendParent(_ field: FieldPlan, into output: inout ByteBuffer) throws(Fault) {
    output.append(encodedTag: field.tag, length: field.tagLength)
    if field.kind == .group {
      try appendBound(Int(field.sub), allBindings, level: 0, into: &output)
      output.append(encodedTag: field.endGroupTag, length: field.tagLength)
    } else {
      let start = output.beginLengthDelimited()
      try appendBound(Int(field.sub), allBindings, level: 0, into: &output)
      output.endLengthDelimited(start)
      if field.kind == .item { output.append(MessageSetItem.end) }
    }
  }
}
