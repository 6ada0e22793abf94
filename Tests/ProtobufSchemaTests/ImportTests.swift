import Diagnostics
import ProtobufSchema
import Testing

/// What comes through imports, public ones too.
@Suite struct ImportTests {
  /// a.proto uses a type of c.proto, which b.proto imports publicly.
  private static func set(withTarget: Bool) -> [UInt8] {
    DescriptorBytes.make { set in
      set.file("a.proto", package: "a") { file in
        file.text(3, "b.proto")
        file.message("A") { $0.field("c", 1, type: 11) { $0.text(6, ".c.C") } }
      }
      set.file("b.proto", package: "b") { file in
        file.text(3, "c.proto")
        file.number(10, 0)
      }
      if withTarget { set.file("c.proto", package: "c") { $0.message("C") } }
    }
  }

  @Test func publicImportsAreFollowed() throws {
    let schema = try Fixtures.schema(Fixtures.set(Self.set(withTarget: true)))
    #expect(schema.messages[try schema.field("a.A", "c").messageIndex].fullName == "c.C")
  }

  @Test func aMissingPublicImportIsNamedWithFileAndSymbol() {
    let (schema, diagnostics) = SchemaLoader.load([Fixtures.set(Self.set(withTarget: false))])
    #expect(schema == nil)
    #expect(
      diagnostics.map(\.what) == ["a.proto: field a.A.c refers to c.C, which fixture.binpb lacks"])
    #expect(diagnostics.first?.cure.contains("--include_imports") == true)
  }
}
