import Diagnostics
import ProtobufSchema
import Testing

@Suite struct ProtoTwoTests {
  let schema: Schema

  init() throws {
    schema = try Fixtures.schema(Fixtures.set(Fixtures.compiled("legacy/v1/legacy.proto")))
  }

  private func order(_ name: String) throws -> Field { try schema.field("legacy.v1.Order", name) }

  @Test func hasPresenceAndRequiredFields() throws {
    let order = try schema.message("legacy.v1.Order")
    let own = order.fields.filter { $0.extensionName == nil }
    #expect(own.filter { !$0.hasPresence }.map(\.name) == ["loose", "packed", "part", "stock"])
    #expect(own.filter(\.isRequired).map(\.name) == ["id"])
    #expect(own.allSatisfy { !$0.validatesUTF8 })
  }

  @Test func packsOnlyWhatSaysSo() throws {
    #expect(try !order("loose").isPacked)
    #expect(try order("packed").isPacked)
  }

  @Test func keepsDefaults() throws {
    #expect(try order("count").defaultValue == "-4")
    #expect(try order("colour").defaultValue == "GREEN")
    #expect(try order("title").defaultValue == "a\"b")
    #expect(try order("id").defaultValue == nil)
  }

  @Test func readsGroups() throws {
    let line = try order("line")
    #expect(line.kind == .group)
    #expect(line.hasPresence)
    #expect(schema.messages[line.messageIndex].fullName == "legacy.v1.Order.Line")
    let part = try order("part")
    #expect(part.kind == .group)
    #expect(part.cardinality == .repeated)
  }

  @Test func closesEnums() throws {
    let colour = try schema.enumeration("legacy.v1.Colour")
    #expect(!colour.isOpen)
    #expect(colour.values.first?.number == 3)
  }

  @Test func addsExtensionsBehindTheFields() throws {
    let order = try schema.message("legacy.v1.Order")
    let extensions = order.fields.dropFirst(11)
    #expect(
      extensions.map(\.extensionName) == [
        "legacy.v1.rank", "legacy.v1.colours", "legacy.v1.far", "legacy.v1.Order.Extra.extra",
      ])
    #expect(extensions.map(\.number) == [101, 102, 536_870_911, 100])
    #expect(extensions.map(\.jsonName).first == "[legacy.v1.rank]")
    #expect(extensions.map(\.hasPresence) == [true, false, true, true])
    #expect(extensions.map(\.isPacked) == [false, true, false, false])
    #expect(order.fieldIndex(named: "[legacy.v1.rank]") == 11)
    #expect(order.fieldIndex(named: "rank") == nil)
  }

  @Test func extendsAcrossSets() throws {
    let base = DescriptorBytes.set("a.proto", syntax: "proto2") {
      $0.message("M") {
        $0.nested(5) { range in
          range.number(1, 10); range.number(2, 20)
        }
      }
    }
    let more = DescriptorBytes.make { set in
      set.file("b.proto", package: "y", syntax: "proto2") { file in
        file.text(3, "a.proto")
        file.field("more", 10, in: 7) { $0.text(2, ".x.M") }
      }
    }
    for sources in [[base, more], [more, base]] {
      let (schema, diagnostics) = SchemaLoader.load(sources.map { Fixtures.set($0) })
      #expect(diagnostics.isEmpty)
      #expect(try #require(schema).field("x.M", "[y.more]").number == 10)
    }
  }

  @Test func hasTheMessagesOfMessageSets() throws {
    let set = DescriptorBytes.set(syntax: "proto2") { file in
      file.message("M") { $0.messageSet() }
      for (name, number) in [("near", Int64(100)), ("far", 2_147_483_646)] {
        file.field(name, number, in: 7, type: 11) {
          $0.text(2, ".x.M"); $0.text(6, ".x.M")
        }
      }
    }
    let message = try Fixtures.schema(Fixtures.set(set)).message("x.M")
    #expect(message.isMessageSet)
    #expect(message.fields.map(\.name) == ["[x.near]", "[x.far]"])
    #expect(message.fields.map(\.number) == [100, 2_147_483_646])
  }
}
