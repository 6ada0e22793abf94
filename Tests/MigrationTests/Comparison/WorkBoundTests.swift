import Bytes
import Configuration
import Diagnostics
import Glibc
import ProtoJSON
import ProtobufSchema
import Testing

@testable import Migration

/// How much a comparison does at most.
@Suite struct WorkBoundTests {
  /// `fields` fields in the elements of a list; an element without content takes two bytes.
  private static func schema(fields: Int) throws -> Schema {
    let folder = "/tmp/turnout-work-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    mkdir(folder, 0o700)
    let path = "\(folder)/wide.proto"
    var text = "syntax = \"proto3\";\nmessage Wide {\n"
    for number in 1...fields { text += "  int32 f\(number) = \(number);\n" }
    text += "}\nmessage List { repeated Wide items = 1; map<int32, Wide> named = 2; int32 last = 3; }\n"
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
    defer {
      unlink(path)
      rmdir(folder)
    }
    let place = SourcePosition(file: "t.yaml", line: 1, column: 1)
    let (schema, diagnostics) = SchemaLoader.load([
      .protos(files: ["wide.proto"], importPaths: [folder], position: place)
    ])
    return try #require(schema, "\(diagnostics)")
  }

  private func compare(
    _ schema: Schema, _ rest: [UInt8], _ rpc: [UInt8], unordered: Bool = false
  ) throws -> AnswerComparison {
    var rig = try ComparisonRig(unordered: unordered ? ["items"] : [])
    rig.settings.samples = .values
    let message = try #require(schema.messageIndex(named: "List"))
    let plan = ComparisonPlan(schema, message: message, rules: ComparisonRules(rig.settings))
    var workspace = ComparisonWorkspace()
    return plan.compare(
      rest: rest.span, rpc: rpc.span, codec: JSONCodec(schema: schema, profile: .standard), keepsValues: true,
      workspace: &workspace)
  }

  /// Elements of few bytes whose type has a great many fields cost what their tables cost, not what their bytes do.
  @Test(arguments: [false, true]) func wideElementsAreCountedByTheirFields(unordered: Bool) throws {
    let elements = (0..<20_000).flatMap { _ in [0x0A, 0x00] as [UInt8] }
    // Told apart by the last field, so that the bytes as a whole are not the same.
    let (rest, rpc) = (elements + [0x18, 1], elements + [0x18, 2])
    let narrow = try compare(try Self.schema(fields: 3), rest, rpc, unordered: unordered)
    #expect(narrow.isComplete)
    #expect(narrow.differences.map(\.path) == ["last"])
    let wide = try compare(try Self.schema(fields: 5_000), rest, rpc, unordered: unordered)
    #expect(!wide.isComplete)
    #expect(wide.differences.isEmpty)
  }

  @Test func wideEntriesOfMapsAreToo() throws {
    func entries(_ last: UInt8) -> [UInt8] {
      (0..<16_000).flatMap { number -> [UInt8] in
        [0x12, 0x06, 0x08, UInt8(0x80 | number & 0x7F), UInt8(0x80 | number >> 7 & 0x7F), 0x00, 0x12, 0x00]
      } + [0x18, last]
    }
    let narrow = try compare(try Self.schema(fields: 3), entries(1), entries(2))
    #expect(narrow.isComplete)
    #expect(narrow.differences.map(\.path) == ["last"])
    let wide = try compare(try Self.schema(fields: 8_000), entries(1), entries(2))
    #expect(!wide.isComplete)
    #expect(wide.differences.isEmpty)
  }
}
