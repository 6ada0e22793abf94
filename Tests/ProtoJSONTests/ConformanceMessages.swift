import Bytes
import Diagnostics
import Foundation
import ProtobufSchema
import Testing

@testable import ProtoJSON

/// The test messages of protobuf's conformance runner: all that proto2, proto3 and editions have.
enum ConformanceMessages {
  static let proto2 = "protobuf_test_messages.proto2.TestAllTypesProto2"
  static let required = "protobuf_test_messages.proto2.TestAllRequiredTypesProto2"
  static let proto3 = "protobuf_test_messages.proto3.TestAllTypesProto3"
  static let edition2023 = "protobuf_test_messages.editions.TestAllTypesEdition2023"
  static let all = [proto2, proto3, edition2023]

  static let schema = Result {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Conformance/messages.binpb")
    let (schema, diagnostics) = SchemaLoader.load([
      .descriptorSet(
        path: path.path, bytes: [UInt8](try Data(contentsOf: path)),
        position: SourcePosition(file: path.path, line: 1, column: 1))
    ])
    return try #require(schema, "\(diagnostics)")
  }

  static func bench(_ profile: JSONProfile = .standard) throws -> Bench {
    Bench(codec: JSONCodec(schema: try schema.get(), profile: profile))
  }
}

extension Bench {
  func normalize(
    _ wire: [UInt8], _ message: String, unknownFields: UnknownWireFields = .keep
  ) throws(JSONError) -> [UInt8] {
    var output = ByteBuffer()
    guard let index = codec.schema.messageIndex(named: message) else {
      throw JSONError(path: "", offset: 0, reason: "no message \(message)", kind: .type)
    }
    try codec.normalize(wire.span, message: index, unknownFields: unknownFields, into: &output)
    return output.bytes
  }

  /// The error of refused bytes; the test fails when they are accepted.
  func normalizingError(_ wire: [UInt8], _ message: String) -> JSONError {
    do throws(JSONError) {
      let normal = try normalize(wire, message)
      Issue.record("accepted: \(wire) as \(normal)")
      return JSONError(path: "accepted", offset: -1, reason: "accepted", kind: .syntax)
    } catch {
      return error
    }
  }
}
