import Testing
import TranslationTestSupport

@testable import Migration

/// Each way to differ has its kind and its path, and nothing else is told.
@Suite struct DifferentAnswersTests {
  @Test(
    arguments: [
      ("rich.Scalars", #"{"i64":"5"}"#, #"{"i64":"6"}"#, ["changed i64"]),
      ("rich.Scalars", #"{"d":1}"#, #"{"d":1.0000000000000002}"#, ["changed d"]),
      ("rich.Scalars", #"{"d":"NaN"}"#, #"{"d":1}"#, ["changed d"]),
      ("rich.Scalars", #"{"f":1}"#, #"{"f":-1}"#, ["changed f"]),
      ("rich.Scalars", #"{"b":true}"#, "{}", ["missing b"]),
      ("rich.Scalars", "{}", #"{"b":true}"#, ["extra b"]),
      ("rich.Scalars", #"{"s":"a","raw":"AA=="}"#, #"{"s":"b","raw":"AQ=="}"#, ["changed raw", "changed s"]),
      ("rich.Scalars", #"{"size":"SIZE_S"}"#, #"{"size":"SIZE_L"}"#, ["changed size"]),
      (
        "rich.Scalars", #"{"s32":-1,"s64":"1","sfx32":1,"fx64":"1","u32":1}"#,
        #"{"s32":1,"s64":"-1","sfx32":2,"fx64":"2","u32":2}"#,
        ["changed fx64", "changed s32", "changed s64", "changed sfx32", "changed u32"]
      ),
      // With presence a default is something.
      ("rich.Scalars", #"{"maybe":0,"maybeText":""}"#, "{}", ["missing maybe", "missing maybeText"]),
      ("rich.Old", #"{"count":41}"#, "{}", ["missing count"]),
      ("rich.Scalars", #"{"far":"x","renamed":"y"}"#, "{}", ["missing far", "missing re.named [x]"]),
      // Messages, lists.
      (
        "rich.Node", #"{"child":{"child":{"name":"a"}}}"#, #"{"child":{"child":{"name":"b"}}}"#,
        ["changed child.child.name"]
      ),
      ("rich.Node", #"{"child":{}}"#, "{}", ["missing child"]),
      (
        "rich.Node", #"{"children":[{"name":"a"},{"name":"b"}]}"#, #"{"children":[{"name":"b"},{"name":"a"}]}"#,
        ["changed children[].name"]
      ),
      ("rich.Lists", #"{"s":["a","b"]}"#, #"{"s":["b","a"]}"#, ["changed s[]"]),
      ("rich.Lists", #"{"i64":[1,2,3]}"#, #"{"i64":[1,2]}"#, ["missing i64[]"]),
      ("rich.Lists", #"{"i64":[1]}"#, #"{"i64":[1,2,3]}"#, ["extra i64[]"]),
      ("rich.Lists", #"{"u32":[1]}"#, "{}", ["missing u32[]"]),
      ("rich.Lists", "{}", #"{"raw":["AA=="]}"#, ["extra raw[]"]),
      (
        "rich.Lists", #"{"nodes":[{"children":[{"name":"a"}]}]}"#, #"{"nodes":[{"children":[{"name":"b"}]}]}"#,
        ["changed nodes[].children[].name"]
      ),
      // Maps.
      ("rich.Maps", #"{"texts":{"a":"1","b":"2"}}"#, #"{"texts":{"a":"1","b":"3"}}"#, ["changed texts[]"]),
      (
        "rich.Maps", #"{"texts":{"a":"1","b":"2"}}"#, #"{"texts":{"a":"1","c":"2"}}"#,
        ["extra texts[]", "missing texts[]"]
      ),
      ("rich.Maps", #"{"nodes":{"1":{"name":"a"}}}"#, #"{"nodes":{"1":{"name":"b"}}}"#, ["changed nodes[].name"]),
      (
        "rich.Maps", #"{"flags":{"true":"AA=="}}"#, #"{"flags":{"false":"AA=="}}"#,
        ["extra flags[]", "missing flags[]"]
      ),
      (
        "rich.Maps", #"{"times":{"1":"2026-01-01T00:00:00Z"}}"#, #"{"times":{"1":"2026-01-02T00:00:00Z"}}"#,
        ["changed times[]"]
      ),
      // Oneofs.
      ("rich.Node", #"{"text":"a"}"#, #"{"number":1}"#, ["extra number", "missing text"]),
      ("rich.Node", #"{"text":"a"}"#, #"{"text":"b"}"#, ["changed text"]),
      // Well-known types.
      (
        "rich.Known", #"{"time":"2026-01-01T00:00:00Z"}"#, #"{"time":"2026-01-01T00:00:00.000000001Z"}"#,
        ["changed time"]
      ),
      ("rich.Known", #"{"span":"1s"}"#, #"{"span":"-1s"}"#, ["changed span"]),
      ("rich.Known", #"{"mask":"a"}"#, #"{"mask":"a,b"}"#, ["extra mask[]"]),
      ("rich.Known", #"{"int32Value":0}"#, "{}", ["missing int32Value"]),
      (
        "rich.Known", #"{"stringValue":"a","boolValue":true}"#, #"{"stringValue":"b","boolValue":false}"#,
        ["changed boolValue", "changed stringValue"]
      ),
      ("rich.Known", #"{"object":{"a":1}}"#, #"{"object":{"a":2}}"#, ["changed object[]"]),
      ("rich.Known", #"{"object":{"a":1}}"#, #"{"object":{"a":"1"}}"#, ["type object[]"]),
      ("rich.Known", #"{"object":{"a":{"b":[1]}}}"#, #"{"object":{"a":{"b":[2]}}}"#, ["changed object[][][]"]),
      ("rich.Known", #"{"value":null}"#, #"{"value":false}"#, ["type value"]),
      ("rich.Known", #"{"value":null}"#, "{}", ["missing value"]),
      ("rich.Known", #"{"list":[1,2]}"#, #"{"list":[1]}"#, ["missing list[]"]),
      (
        "rich.Known", #"{"any":{"@type":"t/rich.Scalars","s":"x"}}"#, #"{"any":{"@type":"t/rich.Scalars","s":"y"}}"#,
        ["changed any.s"]
      ),
      ("rich.Known", #"{"any":{"@type":"t/rich.Scalars"}}"#, #"{"any":{"@type":"t/rich.Lists"}}"#, ["changed any"]),
      (
        "rich.Known", #"{"anys":[{"@type":"t/rich.Known","any":{"@type":"t/rich.Scalars","b":true}}]}"#,
        #"{"anys":[{"@type":"t/rich.Known","any":{"@type":"t/rich.Scalars"}}]}"#, ["missing anys[].any.b"]
      ),
      // Groups and extensions.
      (
        "rich.Old", #"{"result":{"part":[{"number":1}]}}"#, #"{"result":{"part":[{"number":2}]}}"#,
        ["changed result.part[].number"]
      ),
      ("rich.Old", #"{"entry":[{"floats":[1]}]}"#, #"{"entry":[{"floats":[1,2]}]}"#, ["extra entry[].floats[]"]),
      ("rich.Old", #"{"[rich.priority]":1}"#, #"{"[rich.priority]":2}"#, ["changed [rich.priority]"]),
      ("rich.Old", #"{"[rich.inner]":{"text":"a"}}"#, #"{"[rich.inner]":{"text":"b"}}"#, ["changed [rich.inner].text"]),
      // The whole is a value.
      ("google.protobuf.Timestamp", #""2026-01-01T00:00:00Z""#, #""2026-01-02T00:00:00Z""#, ["changed $"]),
      ("google.protobuf.Value", "1", #""1""#, ["type $"]),
      ("google.protobuf.StringValue", #""a""#, #""b""#, ["changed $"]),
      ("google.protobuf.Struct", #"{"a":1}"#, #"{"a":2}"#, ["changed []"]),
    ] as [(String, String, String, [String])])
  func differ(_ message: String, _ rest: String, _ rpc: String, _ expected: [String]) throws {
    let rig = try ComparisonRig()
    #expect(try rig.differences(message, rest, rpc) == expected)
    // The other way round what is missing is extra.
    let turned = expected.map { one in
      one.hasPrefix("missing")
        ? "extra" + one.dropFirst(7) : one.hasPrefix("extra") ? "missing" + one.dropFirst(5) : one
    }
    #expect(try rig.differences(message, rpc, rest) == turned.sorted())
  }

  @Test func fieldsThatTheSchemaLacks() throws {
    let rig = try ComparisonRig()
    let result = try rig.compare(
      "rich.Node", rest: Wire.text(1, "a"), rpc: Wire.text(1, "a") + Wire.delimited(2, Wire.varint(77, 1)))
    #expect(result.differences.map { "\($0.kind) \($0.path)" } == ["extra child"])
    let inner = try rig.compare(
      "rich.Node", rest: Wire.delimited(2, []), rpc: Wire.delimited(2, Wire.varint(77, 1)) + Wire.varint(99, 1))
    #expect(inner.differences.map { "\($0.kind) \($0.path)" } == ["unknown #99", "unknown child.#77"])
    #expect(inner.isMatch(unknownMatters: false))
    #expect(!inner.isMatch(unknownMatters: true))
  }

  @Test func whatIsNoMessage() throws {
    let rig = try ComparisonRig()
    let cut = try rig.compare("rich.Node", rest: Wire.text(1, "a"), rpc: [0x0A, 5, 1])
    #expect(cut.differences.map(\.kind) == [.type])
    #expect(cut.differences.first?.rest == .absent)
    let text = try rig.compare("rich.Node", rest: Wire.delimited(3, Wire.delimited(1, [0xFF])), rpc: [])
    #expect(text.differences.map { "\($0.kind) \($0.path)" } == ["type children[].name"])
  }

  @Test func nobodyGetsALongList() throws {
    let rig = try ComparisonRig()
    let many = (1...9).map { "\"f\($0)\":1" }.joined(separator: ",")
    // One path a level, deeper and deeper: more paths than are listed.
    var (left, right) = (#"{"name":"a"}"#, #"{"name":"b"}"#)
    for _ in 0..<60 {
      left = #"{"name":"a","child":\#(left)}"#
      right = #"{"name":"b","child":\#(right)}"#
    }
    #expect(try rig.compare("rich.Node", left, right).differences.count == DifferenceList.maximum)
    #expect(try rig.differences("rich.Known", "{\"object\":{\(many)}}", "{\"object\":{}}") == ["missing object[]"])
  }
}
