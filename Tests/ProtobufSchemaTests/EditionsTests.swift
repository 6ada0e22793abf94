import Diagnostics
import ProtobufSchema
import Testing

/// Sets that a newer protoc made of Fixtures/editions.
@Suite struct EditionsTests {
  let schema: Schema

  init() throws {
    schema = try Fixtures.schema(
      Fixtures.set(Fixtures.bytes("editions/yard.binpb"), path: "yard.binpb"),
      Fixtures.set(Fixtures.bytes("editions/siding.binpb"), path: "siding.binpb"))
  }

  private func track(_ name: String) throws -> Field { try schema.field("yard.v1.Track", name) }

  @Test func followsPresenceOfFileAndField() throws {
    let track = try schema.message("yard.v1.Track")
    #expect(
      track.fields.filter(\.hasPresence).map(\.name) == [
        "gauge", "code", "next", "inner", "buffer", "gate", "state", "[yard.v1.slope]", "[yard.v1.shadow]",
      ])
    #expect(track.fields.filter(\.isRequired).map(\.name) == ["code"])
    #expect(try self.track("gauge").defaultValue == "1435")
    #expect(track.oneofs.map(\.name) == ["end"])
  }

  @Test func followsPackingAndUTF8() throws {
    #expect(try track("marks").isPacked)
    #expect(try !track("loose").isPacked)
    #expect(try track("code").validatesUTF8)
    #expect(try !track("raw").validatesUTF8)
  }

  @Test func writesDelimitedMessagesAsGroups() throws {
    #expect(try track("next").kind == .message)
    #expect(try track("inner").kind == .group)
    #expect(try track("[yard.v1.shadow]").kind == .group)
    let map = try track("by_name")
    #expect(map.kind == .message)
    #expect(map.cardinality == .map)
    #expect(schema.messages[map.messageIndex].fields.map(\.kind) == [.string, .message])
  }

  @Test func opensAndClosesEnums() throws {
    #expect(try !schema.enumeration("yard.v1.State").isOpen)
    #expect(try schema.enumeration("yard.v1.Track.Mode").isOpen)
  }

  @Test func hasTheDefaultsOfEdition2024() throws {
    let siding = try schema.message("siding.v1.Siding")
    #expect(siding.fields.map(\.hasPresence) == [true, false, true, true])
    #expect(siding.fields.map(\.isPacked) == [false, true, false, false])
    #expect(siding.fields.allSatisfy { $0.validatesUTF8 && !$0.isRequired })
    #expect(try schema.enumeration("siding.v1.Kind").isOpen)
  }

  @Test func inheritsThroughOneofs() throws {
    let set = DescriptorBytes.set(syntax: "editions") { file in
      file.number(14, 1000)
      file.message("M") { message in
        message.field("a", 1) { $0.number(9, 0) }
        message.field("b", 2)
        message.nested(8) { oneof in
          oneof.text(1, "o")
          oneof.nested(2) { $0.nested(1) { $0.number(4, 3) } }
        }
      }
    }
    let message = try Fixtures.schema(Fixtures.set(set)).message("x.M")
    #expect(message.fields.map(\.validatesUTF8) == [false, true])
  }

  /// By the file, by a message of it, and by the syntax.
  @Test(arguments: ["file", "message", "proto2"]) func bestEffortJSONKeepsClashingFieldsApart(_ place: String) throws {
    let legacy: (inout DescriptorBytes) -> Void = { $0.number(6, 2) }
    let set = DescriptorBytes.set(syntax: place == "proto2" ? "proto2" : "editions") { file in
      if place != "proto2" { file.number(14, 1000) }
      if place == "file" { file.nested(8) { $0.nested(50, legacy) } }
      file.message("M") { message in
        for (index, name) in ["foo_bar", "fooBar", "other_one"].enumerated() { message.field(name, Int64(index + 1)) }
        if place == "message" { message.nested(7) { $0.nested(12, legacy) } }
      }
    }
    let (schema, diagnostics) = SchemaLoader.load([Fixtures.set(set)])
    let message = try #require(schema).message("x.M")
    #expect(message.fields.map(\.jsonName) == ["foo_bar", "fooBar", "otherOne"])
    #expect(diagnostics.map(\.severity) == [.warning])
    #expect(
      diagnostics.first?.what == "x.proto: fields foo_bar and fooBar of x.M have the same JSON name fooBar")
  }

  @Test(arguments: [("editions", Int64(1003)), ("editions", 0), ("editions", 998), ("proto4", 0)])
  func refusesWhatItDoesNotKnow(syntax: String, edition: Int64) {
    let set = DescriptorBytes.set(syntax: syntax) { file in
      if edition != 0 { file.number(14, edition) }
      file.message("M")
    }
    let (schema, diagnostics) = SchemaLoader.load([Fixtures.set(set)])
    #expect(schema == nil)
    #expect(diagnostics.count == 1)
    #expect(diagnostics.first?.what.contains("which is not known") == true)
    #expect(diagnostics.first?.position == Fixtures.entry)
  }
}
