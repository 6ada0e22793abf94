import Diagnostics
package import ProtobufSchema

/// A schema with all that protobuf has, for fuzzers and property tests: `Protos/new.proto` and `Protos/old.proto`.
package enum RichSchema {
  package struct Fault: Error {
    package let description: String
  }

  /// Compiled anew with each call.
  package static func load() throws(Fault) -> Schema {
    let folder = "\(#filePath)".split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/Protos"
    let (schema, diagnostics) = SchemaLoader.load([
      .protos(
        files: ["new.proto", "old.proto"], importPaths: [folder],
        position: SourcePosition(file: "rich schema", line: 1, column: 1))
    ])
    guard let schema else { throw Fault(description: diagnostics.map { "\($0)" }.joined(separator: "\n")) }
    return schema
  }

  /// The messages that documents are read as, by name.
  package static let messages = [
    "rich.Node", "rich.Scalars", "rich.Lists", "rich.Maps", "rich.Known", "rich.Old", "rich.Strict",
    "google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue",
    "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask",
    "google.protobuf.DoubleValue", "google.protobuf.BytesValue",
  ]
}
