import Foundation
import Testing

@testable import ProtobufSchema

/// What reflection hands out of a schema.
@Suite struct DescriptorFilesTests {
  static let extended = """
    syntax = "proto2";
    package yard;
    message Wagon {
      optional string name = 1;
      oneof load { int32 coal = 2; Crate crate = 3; }
      message Crate { enum Size { SMALL = 0; } optional Size size = 1; }
      extensions 100 to 199;
    }
    extend Wagon { optional string colour = 100; }
    message Paint { extend Wagon { optional int32 coats = 150; } }
    service Yard { rpc Shunt(Wagon) returns (Wagon); }
    """

  private func files(_ source: String, services: [String] = []) throws -> DescriptorFiles {
    let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(source.utf8).write(to: folder.appendingPathComponent("yard.proto"))
    let (schema, diagnostics) = SchemaLoader.load(
      [.protos(files: ["yard.proto"], importPaths: [folder.path], position: Fixtures.entry)], services: services,
      keepsFiles: true)
    try #require(diagnostics.isEmpty, "\(diagnostics)")
    return try #require(schema?.files)
  }

  @Test func aFileIsFoundByAllThatItDeclares() throws {
    let files = try files(Self.extended)
    let yard = try #require(files.file(named: "yard.proto"))
    for name in [
      "yard.Wagon", "yard.Wagon.name", "yard.Wagon.load", "yard.Wagon.Crate", "yard.Wagon.Crate.Size",
      "yard.Wagon.Crate.SMALL", "yard.Wagon.Crate.size", "yard.colour", "yard.Paint.coats", "yard.Yard",
      "yard.Yard.Shunt",
    ] {
      #expect(files.file(declaring: name) == yard, "\(name)")
    }
    for name in ["", "yard", "Wagon", ".yard.Wagon", "yard.Wagon.", "yard.Wagon.Crate.Size.SMALL"] {
      #expect(files.file(declaring: name) == nil, "\(name)")
    }
  }

  @Test func extensionsAreFoundByWhatTheyExtend() throws {
    let files = try files(Self.extended)
    #expect(files.extensionNumbers(of: "yard.Wagon") == [100, 150])
    #expect(files.extensionNumbers(of: "yard.Paint") == [])
    #expect(files.extensionNumbers(of: "yard.Nothing") == nil)
    #expect(files.file(extending: "yard.Wagon", 150) == files.file(named: "yard.proto"))
    #expect(files.file(extending: "yard.Wagon", 151) == nil)
  }

  @Test func bytesAreThoseOfTheFileWithoutComments() throws {
    let files = try files("// A comment.\nsyntax = \"proto3\"; message A { string a = 1; /* another */ }")
    let bytes = files.bytes(of: try #require(files.file(named: "yard.proto")))
    let again = try FileDescriptor(bytes.span, readsPlaces: true)
    #expect(again.messages.map(\.name) == ["A"])
    #expect(!String(decoding: bytes, as: UTF8.self).contains("comment"))
  }

  @Test func importsComeOnce() throws {
    let files = try files(
      "syntax = \"proto3\"; import \"google/rpc/status.proto\"; message A { google.rpc.Status status = 1; }")
    var known: Set<Int> = []
    let first = files.closure(of: try #require(files.file(named: "yard.proto")), known: &known).map(files.name(of:))
    #expect(first == ["yard.proto", "google/rpc/status.proto", "google/protobuf/any.proto"])
    let status = try #require(files.file(named: "google/rpc/status.proto"))
    #expect(files.closure(of: status, known: &known) == [status])
  }

  @Test func servicesOfEveryServerAreAtHand() throws {
    let named = [
      "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
    ]
    let (schema, diagnostics) = SchemaLoader.load([], services: named)
    #expect(diagnostics.isEmpty)
    #expect(schema?.services.map(\.fullName) == named)
    #expect(schema?.files == nil)
    #expect(SchemaLoader.load([], services: []).schema?.services.isEmpty == true)
  }

  @Test func aServiceThatASourceHasIsTheSources() throws {
    let source = """
      syntax = "proto3";
      package grpc.health.v1;
      message Ask { string service = 1; }
      service Health { rpc Check(Ask) returns (Ask); }
      """
    let files = try files(source, services: ["grpc.health.v1.Health"])
    #expect(files.file(named: "grpc/health/v1/health.proto") == nil)
    #expect(files.file(declaring: "grpc.health.v1.Health.Check") == files.file(named: "yard.proto"))
  }
}
