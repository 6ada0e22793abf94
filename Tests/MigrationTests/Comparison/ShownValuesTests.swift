import Configuration
import ProtoJSON
import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import Migration

/// What differences show of the two values.
@Suite struct ShownValuesTests {
  private func shown(
    _ message: String, _ rest: String, _ rpc: String, values: Bool = false
  ) throws -> [DifferenceValue] {
    var rig = try ComparisonRig()
    rig.settings.samples = values ? .values : .hashes
    let found = try #require(try rig.compare(message, rest, rpc).differences.first)
    return [found.rest, found.rpc]
  }

  @Test(arguments: [
    ("rich.Scalars", #"{"i64":"5"}"#, #"{"i64":"-6"}"#, DifferenceValue.literal("5"), DifferenceValue.literal("-6")),
    ("rich.Scalars", #"{"u64":"18446744073709551615"}"#, "{}", .literal("18446744073709551615"), .absent),
    ("rich.Scalars", #"{"s32":-5}"#, #"{"s32":4}"#, .literal("-5"), .literal("4")),
    ("rich.Scalars", #"{"sfx32":-5}"#, #"{"sfx32":4}"#, .literal("-5"), .literal("4")),
    ("rich.Scalars", #"{"d":0.1}"#, #"{"d":"-Infinity"}"#, .literal("0.1"), .text("-Infinity")),
    ("rich.Scalars", #"{"f":0.1}"#, #"{"f":"NaN"}"#, .literal("0.1"), .text("NaN")),
    ("rich.Scalars", #"{"b":true}"#, "{}", .literal("true"), .absent),
    ("rich.Scalars", #"{"size":"SIZE_L"}"#, #"{"size":9}"#, .text("SIZE_L"), .literal("9")),
    ("rich.Known", #"{"time":"2026-01-01T00:00:00Z"}"#, "{}", .text("2026-01-01T00:00:00Z"), .absent),
    ("rich.Known", #"{"span":"1.5s"}"#, #"{"span":"2s"}"#, .text("1.500s"), .text("2s")),
    ("rich.Known", #"{"int64Value":"7"}"#, "{}", .literal("7"), .absent),
    ("rich.Known", #"{"value":null}"#, #"{"value":true}"#, .literal("null"), .literal("true")),
    ("rich.Known", #"{"value":1.5}"#, #"{"value":[1]}"#, .literal("1.5"), .text("a list of 11 bytes")),
    ("rich.Lists", #"{"i64":[1,2]}"#, #"{"i64":[1]}"#, .text("2 elements"), .text("1 element")),
    ("rich.Maps", #"{"texts":{"a":""}}"#, "{}", .text("1 entry"), .absent),
    ("rich.Node", #"{"child":{"name":"ab"}}"#, "{}", .text("a message of 4 bytes"), .absent),
  ])
  func values(
    _ message: String, _ rest: String, _ rpc: String, _ left: DifferenceValue, _ right: DifferenceValue
  ) throws {
    #expect(try shown(message, rest, rpc) == [left, right])
  }

  @Test func textsAreHashed() throws {
    let values = try shown("rich.Scalars", #"{"s":"very private"}"#, #"{"s":"x"}"#)
    guard case .text(let first) = values[0], case .text(let second) = values[1] else {
      Issue.record("\(values)")
      return
    }
    #expect(first.hasPrefix("12 bytes, hash ") && first.count == 23)
    #expect(second.hasPrefix("1 byte, hash "))
    // The same text has the same hash, so that an operator sees what is alike.
    #expect(try shown("rich.Scalars", #"{"s":"very private"}"#, #"{"s":"y"}"#)[0] == values[0])
  }

  @Test func textsAreShownWhereAskedFor() throws {
    #expect(try shown("rich.Scalars", #"{"s":"a"}"#, #"{"s":"bä"}"#, values: true) == [.text("a"), .text("bä")])
    #expect(try shown("rich.Scalars", #"{"raw":"AAE="}"#, "{}", values: true) == [.text("AAE="), .absent])
    let long = String(repeating: "€", count: 200)
    let cut = String(repeating: "€", count: 85) + "… (600 bytes)"
    #expect(try shown("rich.Scalars", "{\"s\":\"\(long)\"}", "{}", values: true)[0] == .text(cut))
  }

  @Test(arguments: [
    "password", "user_password", "access_token", "tokens", "api_key", "pin", "card_pin", "Secret", "clientSecret",
  ])
  func secretNames(_ name: String) { #expect(SecretNames.contain(name)) }

  @Test(arguments: ["spin", "name", "opinion", "pinned", "notopia", "id", "description"])
  func otherNames(_ name: String) { #expect(!SecretNames.contain(name)) }

  /// `debug_redact`, and what is inside such a message.
  @Test func redactedFieldsAreNeverShown() throws {
    func field(_ name: String, _ number: Int32, _ kind: Field.Kind, message: Int = -1, isRedacted: Bool = false)
      -> Field
    {
      Field(
        name: name, jsonName: name, number: number, kind: kind, cardinality: .singular, messageIndex: message,
        hasPresence: kind == .message, isRedacted: isRedacted)
    }
    let schema = Schema(
      messages: [
        MessageType(
          fullName: "t.Card", file: "t.proto",
          fields: [
            field("number", 1, .string), field("hidden", 2, .int32, isRedacted: true),
            field("inner", 3, .message, message: 1, isRedacted: true), field("secret", 4, .message, message: 1),
          ], oneofs: [], wellKnown: nil, isMapEntry: false),
        MessageType(
          fullName: "t.Inner", file: "t.proto", fields: [field("value", 1, .int32)], oneofs: [], wellKnown: nil,
          isMapEntry: false),
      ], enums: [], services: [])
    let codec = JSONCodec(schema: schema, profile: .standard)
    let plan = ComparisonPlan(schema, message: 0)
    var workspace = ComparisonWorkspace()
    let rest = Wire.varint(2, 1) + Wire.delimited(3, Wire.varint(1, 1)) + Wire.delimited(4, Wire.varint(1, 1))
    let rpc = Wire.varint(2, 2) + Wire.delimited(3, Wire.varint(1, 2)) + Wire.delimited(4, Wire.varint(1, 2))
    let result = plan.compare(rest: rest.span, rpc: rpc.span, codec: codec, keepsValues: true, workspace: &workspace)
    #expect(result.differences.map(\.path) == ["hidden", "inner.value", "secret.value"])
    for difference in result.differences {
      #expect(difference.rest == .text("(redacted)") && difference.rpc == .text("(redacted)"))
    }
  }
}
