import Diagnostics
import Foundation
import ProtobufSchema
import Testing

/// Faults of `.proto` sources have the place in the source.
@Suite struct SourceFaultTests {
  private func faults(_ files: String..., in folders: [String] = ["broken"]) -> [String] {
    let source = SchemaLoader.Source.protos(
      files: files, importPaths: folders.map(Fixtures.path), position: Fixtures.entry)
    let (schema, diagnostics) = SchemaLoader.load([source])
    #expect((schema == nil) == diagnostics.contains { $0.severity == .error })
    return diagnostics.map { $0.description.replacing(Fixtures.folder + "/", with: "") }
  }

  @Test func areAllNamed() {
    #expect(
      faults("two_faults.proto") == [
        "broken/two_faults.proto:7:1: error: Expected \";\"",
        "broken/two_faults.proto:10:12: error: Expected field number",
      ])
  }

  @Test func countCharacters() {
    #expect(
      faults("undefined.proto") == [
        "broken/undefined.proto:6:12: error: \"Absent\" is not defined",
        "broken/undefined.proto:7:2: error: \"Elsewhere\" is not defined",
      ])
  }

  @Test func nameTheMissingImportAndItsSymbol() {
    #expect(
      faults("import_missing.proto") == [
        "broken/import_missing.proto:5:1: error: Import \"absent/thing.proto\" was not found; "
          + "add the folder that it is relative to under import_paths",
        "broken/import_missing.proto:8:3: error: \"absent.Thing\" is not defined",
      ])
  }

  @Test func areNotRepeatedByImporters() {
    #expect(faults("import_broken.proto").allSatisfy { $0.hasPrefix("broken/two_faults.proto:") })
    #expect(faults("import_broken.proto").count == 2)
  }

  @Test func sayThatEditionsNeedASet() {
    #expect(
      faults("edition.proto") == [
        "broken/edition.proto:3:3: error: Sources with \"edition\" cannot be read here; give a descriptor_set instead "
          + "(`buf build -o x.binpb`, or a newer `protoc --include_imports -o x.binpb`)"
      ])
  }

  @Test func areAtTheEntryForAFileThatIsMissing() {
    #expect(
      faults("nowhere.proto", "two_faults.proto").first
        == "turnout.yaml:3:5: error: nowhere.proto: File not found; name it relative to one of import_paths")
    #expect(faults("nowhere.proto", "two_faults.proto").count == 3)
  }

  @Test func refuseAFolder() {
    #expect(
      faults("proto", in: ["."]) == [
        "turnout.yaml:3:5: error: proto: File not found; name it relative to one of import_paths"
      ])
  }

  @Test func includeClashesOfJSONNamesOnce() {
    let found = faults("json_clash.proto")
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("broken/json_clash.proto:7:10: error: ") == true)
    #expect(
      faults("json_clash_proto2.proto") == [
        "broken/json_clash_proto2.proto:5:3: warning: fields foo_bar and fooBar of broken.v1.Clash have the same JSON "
          + "name fooBar; give one of them another json_name"
      ])
  }

  @Test func nameThePlaceOfARule() throws {
    #expect(
      faults("rule.proto") == [
        "broken/rule.proto:12:3: error: google.api.http of method broken.v1.S/Do has no path; "
          + "give it one of get, put, post, delete, patch or custom"
      ])
  }

  @Test func methodsKnowTheirPlace() throws {
    let schema = try Fixtures.schema(Fixtures.sources("depot/v1/depot.proto", in: ["proto"]))
    let file = Fixtures.path("proto/depot/v1/depot.proto")
    let get = try schema.method("depot.v1.CrateService", "Get")
    #expect(get.position == SourcePosition(file: file, line: 47, column: 5))
    let watch = try schema.method("depot.v1.CrateService", "Watch")
    #expect(watch.position == SourcePosition(file: file, line: 86, column: 3))
    let set = try Fixtures.schema(Fixtures.set(Fixtures.compiled("depot/v1/depot.proto")))
    #expect(try set.method("depot.v1.CrateService", "Get").position == nil)
  }

  @Test func refuseSourcesThatWouldExhaustTheParser() throws {
    let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ name: String, depth: Int, quoted: Int = 0) throws {
      let text =
        "syntax = \"proto3\"; // \(String(repeating: "{", count: quoted))\n"
        + String(repeating: "message A {", count: depth) + String(repeating: "}", count: depth)
      try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }
    try write("fine.proto", depth: 30, quoted: 5_000)
    try write("deep.proto", depth: 20_000)
    try Data("syntax = \"proto3\";\nimport \"deep.proto\";\nmessage M { A a = 1; }".utf8)
      .write(to: folder.appendingPathComponent("user.proto"))
    func load(_ file: String) -> [Diagnostic] {
      SchemaLoader.load([.protos(files: [file], importPaths: [folder.path], position: Fixtures.entry)]).diagnostics
    }
    #expect(load("fine.proto").isEmpty)
    for file in ["deep.proto", "user.proto"] {
      let diagnostics = load(file)
      #expect(diagnostics.map(\.position) == [Fixtures.entry])
      #expect(diagnostics.first?.what.hasSuffix("deep.proto: Nested deeper than 100 levels") == true)
    }
  }

  @Test func nameAnEmptyList() {
    #expect(faults() == ["turnout.yaml:3:5: error: no sources are named; list .proto files under protos"])
  }

  @Test func standBesideFaultsOfOtherSources() {
    let (schema, diagnostics) = SchemaLoader.load([
      Fixtures.sources("two_faults.proto", in: ["broken"]), Fixtures.set([0x0A, 0x05]),
      Fixtures.sources("undefined.proto", in: ["broken"]),
    ])
    #expect(schema == nil)
    #expect(diagnostics.count == 5)
  }

  @Test func acceptPathsOnDiskAndTheFolderOfTheConfiguration() throws {
    let absolute = Fixtures.path("proto/depot/v1/types.proto")
    let schema = try Fixtures.schema(Fixtures.sources(absolute, in: ["proto"]))
    #expect(try schema.enumeration("depot.v1.Size").values.count == 5)
    let entry = SourcePosition(file: Fixtures.path("proto/turnout.yaml"), line: 1, column: 1)
    let relative = SchemaLoader.Source.protos(files: ["depot/v1/types.proto"], importPaths: [], position: entry)
    #expect(try Fixtures.schema(relative).enumeration("depot.v1.Size").values.count == 5)
  }

  @Test func loadSharedImportsOfSeveralSourcesOnce() throws {
    let set = try Fixtures.set(Fixtures.compiled("depot/v1/types.proto"))
    let schema = try Fixtures.schema(
      Fixtures.sources("depot/v1/depot.proto", in: ["proto"]), Fixtures.sources("depot/v1/types.proto", in: ["proto"]),
      set)
    #expect(schema.enums.count { $0.fullName == "depot.v1.Size" } == 1)
    #expect(schema.services.count == 1)
  }
}
