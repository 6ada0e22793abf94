import Diagnostics
import Foundation
import ProtobufSchema
import Testing

/// The committed `.proto` files and descriptor sets.
enum Fixtures {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
    .path
  /// The place of the entry in an invented configuration.
  static let entry = SourcePosition(file: "turnout.yaml", line: 3, column: 5)

  static func path(_ name: String) -> String { "\(folder)/\(name)" }

  static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
  }

  /// A descriptor set of fixture sources, compiled on the spot.
  static func compiled(_ files: String..., folder: String = "proto") throws -> [UInt8] {
    let result = ProtoCompiler.compile(files: files, importPaths: [path(folder)])
    try #require(result.faults.isEmpty, "\(result.faults)")
    return result.descriptorSet
  }

  static func set(_ bytes: [UInt8], path: String = "fixture.binpb") -> SchemaLoader.Source {
    .descriptorSet(path: path, bytes: bytes, position: entry)
  }

  static func sources(_ files: String..., in folders: [String]) -> SchemaLoader.Source {
    .protos(files: files, importPaths: folders.map(path), position: entry)
  }

  /// The schema of sources that must have no fault.
  static func schema(_ sources: SchemaLoader.Source...) throws -> Schema {
    let (schema, diagnostics) = SchemaLoader.load(sources)
    try #require(diagnostics.isEmpty, "\(diagnostics)")
    return try #require(schema)
  }
}

extension Schema {
  func message(_ fullName: String) throws -> MessageType {
    let index = try #require(messageIndex(named: fullName), "no message \(fullName)")
    return messages[index]
  }

  func field(_ message: String, _ name: String) throws -> Field {
    try #require(try self.message(message).fields.first { $0.name == name }, "no field \(name) in \(message)")
  }

  func enumeration(_ fullName: String) throws -> EnumType {
    try #require(enums.first { $0.fullName == fullName }, "no enum \(fullName)")
  }

  func method(_ service: String, _ name: String) throws -> MethodType {
    let found = try #require(services.first { $0.fullName == service }, "no service \(service)")
    return try #require(found.methods.first { $0.name == name }, "no method \(name)")
  }
}
