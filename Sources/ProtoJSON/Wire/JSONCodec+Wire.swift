package import Bytes
import ProtobufSchema

/// What becomes of fields on the wire that the schema does not know.
package enum UnknownWireFields: Sendable {
  /// They follow as they are: a newer program behind may know them.
  case keep
  case drop
}

extension JSONCodec {
  /// Checks the wire bytes of a message and appends them as a serializer would have written them.
  ///
  /// Refused are bytes that are cut short, bad tags, groups that do not match, strings that must be UTF-8 and are not,
  /// messages nested too deeply, and messages that lack a required field. Parts that concatenation made are merged:
  /// the last of a scalar, of a oneof and of a map key, messages field by field. Lists are packed as declared, integers
  /// are as short as they can be, fields without presence that hold their default are left out. Numbers that a closed
  /// enum lacks, and fields of another wire type, are unknown fields. What is in an `Any` or in bytes is not looked at.
  /// - Parameter message: index in ``Schema/messages``.
  /// - Throws: ``JSONError`` with the offset in the wire bytes; the output is then as it was before.
  package func normalize(
    _ wire: Span<UInt8>, message: Int, unknownFields: UnknownWireFields = .keep, into output: inout ByteBuffer
  ) throws(JSONError) {
    try requireMessage(message)
    guard wire.count <= Int(Int32.max) else {
      throw JSONError(path: "", offset: 0, reason: "less than 2 GiB expected", kind: .range)
    }
    try normalize(tables, wire, message, unknownFields, into: &output)
  }

  /// The tables are an argument so that they are borrowed: a copy would count references of each.
  private func normalize(
    _ tables: borrowing Tables, _ wire: Span<UInt8>, _ message: Int, _ unknownFields: UnknownWireFields,
    into output: inout ByteBuffer
  ) throws(JSONError) {
    let before = output.count
    var isCareful = false
    while true {
      var run = WireNormalizer(
        wire, tables: TableView(tables), maximumDepth: maximumDepth, unknownFields: unknownFields,
        isCareful: isCareful, memory: RunMemory(memory))
      defer { run.memory.close() }
      do {
        try run.message(message, 0..<wire.count, into: &output)
        return
      } catch {
        output.truncate(to: before)
        // What a part lacks another one may have, which comes behind it.
        guard run.isScattered || error.kind == .missing, !isCareful else { throw error.error }
        isCareful = true
      }
    }
  }
}
