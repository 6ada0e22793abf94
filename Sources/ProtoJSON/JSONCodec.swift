package import ProtobufSchema

/// Turns JSON into protobuf wire bytes and back, each in one pass, for the messages of one schema.
///
/// The rules are those of ProtoJSON, strictly: RFC 8259 text, UTF-8, each member once, exact integers, no null where
/// none belongs. Compiled once for a schema and a profile into flat tables; immutable afterwards and shared by all
/// loops. Between calls it keeps memory alone, see ``RunMemory``.
package final class JSONCodec: Sendable {
  package let schema: Schema
  package let profile: JSONProfile
  /// Levels of arrays and objects that are read, and of messages that are written.
  package let maximumDepth: Int
  /// Bytes of JSON that are written of one message at the most; its last value may go beyond.
  package let maximumOutput: Int
  let tables: Tables
  let memory = MemoryStore()

  package init(schema: Schema, profile: JSONProfile, maximumDepth: Int = 100, maximumOutput: Int = .max) {
    self.schema = schema
    self.profile = profile
    self.maximumDepth = maximumDepth
    self.maximumOutput = maximumOutput
    tables = TablesBuilder.build(schema, profile)
  }

  /// The plan of a field; nil for indices that are not of the schema.
  func plan(_ message: Int, _ field: Int) -> FieldPlan? {
    guard tables.messages.indices.contains(message), field >= 0 else { return nil }
    let plan = tables.messages[message]
    let index = Int(plan.fieldsStart) + field
    return index < Int(plan.fieldsEnd) ? FieldList(tables.fields)[index] : nil
  }

  func requireMessage(_ message: Int) throws(JSONError) {
    guard tables.messages.indices.contains(message) else {
      throw JSONError(path: "", offset: 0, reason: "a message of the schema expected", kind: .type)
    }
  }

  func requirePlan(_ message: Int, _ field: Int) throws(JSONError) -> FieldPlan {
    guard let plan = plan(message, field) else {
      throw JSONError(path: "", offset: 0, reason: "a field of the schema expected", kind: .type)
    }
    return plan
  }
}
