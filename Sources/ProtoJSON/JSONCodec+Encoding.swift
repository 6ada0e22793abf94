package import Bytes
import ProtobufSchema

extension JSONCodec {
  /// Writes the wire bytes of a message as JSON.
  ///
  /// - Parameter omitting: field paths (indices into ``MessageType/fields``) that are left out; at most 64.
  /// - Throws: ``JSONError``; the output is then as it was before.
  package func encode(
    _ wire: Span<UInt8>, message: Int, omitting: [[Int]] = [], into output: inout ByteBuffer
  ) throws(JSONError) {
    try requireMessage(message)
    try run(tables, wire, omitting: omitting, into: &output) { encoder, reader, output throws(Fault) in
      try encoder.value(
        encoder.tables.messages[message].kind, message, reader, omit: encoder.allOmitted, level: 0, into: &output)
    }
  }

  /// Writes one field of a message alone as a JSON value.
  ///
  /// Unset it is `{}`, `[]` or the default of a scalar; `null` for a well-known type that is not an object.
  /// - Parameter omitting: paths inside the field's message.
  package func encodeField(
    _ wire: Span<UInt8>, message: Int, field: Int, omitting: [[Int]] = [], into output: inout ByteBuffer
  ) throws(JSONError) {
    let plan = try requirePlan(message, field)
    try run(tables, wire, omitting: omitting, into: &output) { encoder, reader, output throws(Fault) in
      var ordered = encoder.memory.takeBuffer()
      defer { encoder.memory.give(&ordered) }
      try encoder.order(message, reader, only: plan, into: &ordered)
      let span = ordered.span
      try encoder.field(plan, WireReader(span), into: &output)
    }
  }

  private func run(
    _ tables: borrowing Tables, _ wire: Span<UInt8>, omitting: [[Int]], into output: inout ByteBuffer,
    _ body: (inout MessageEncoder, WireReader, inout ByteBuffer) throws(Fault) -> Void
  ) throws(JSONError) {
    guard omitting.count <= 64 else {
      throw JSONError(path: "", offset: 0, reason: "at most 64 omitted fields expected", kind: .range)
    }
    let before = output.count
    var isCareful = false
    while true {
      var encoder = MessageEncoder(
        tables: TableView(tables), schema: schema, profile: profile, maximumDepth: maximumDepth,
        maximumCount: maximumOutput > .max - before ? .max : before + maximumOutput, omitting: omitting,
        isCareful: isCareful, memory: RunMemory(memory))
      defer { encoder.memory.close() }
      do {
        try body(&encoder, WireReader(wire), &output)
        return
      } catch {
        output.truncate(to: before)
        // What has no JSON in the first run may be a part that goes on elsewhere, or be replaced later on.
        guard !isCareful, encoder.mayFollow(error) else { throw error.error }
        isCareful = true
      }
    }
  }
}

extension MessageEncoder {
  /// A bit for each path to leave out.
  var allOmitted: UInt64 { omitting.isEmpty ? 0 : UInt64.max >> UInt64(64 - Swift.min(omitting.count, 64)) }

  /// Writes one field without its name; the bytes hold that field only, in order.
  mutating func field(_ plan: FieldPlan, _ source: WireReader, into output: inout ByteBuffer) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    var bare = plan.copy
    bare.quotedLength = 0
    let start = output.count
    if !reader.isAtEnd {
      let tag: WireTag
      do { tag = try reader.readTag() } catch { throw Fault(error) }
      if plan.shape == .singular, !plan.kind.isScalar {
        let range = try reader.content(plan)
        try value(
          plan.kind, Int(plan.sub), WireReader(reader.bytes, range), omit: allOmitted, level: 0, into: &output)
      } else {
        try unsafe withUnsafePointer(to: &bare) { record throws(Fault) in
          try unsafe member(FieldPlan(record), tag.type, &reader, omit: 0, level: 0, into: &output)
        }
      }
    }
    if output.count == start { defaultValue(plan, into: &output) }
  }
}
