import Configuration
import Testing
import TranslationTestSupport

@testable import Migration

@Suite struct RulesTests {
  @Test(arguments: [
    (["name"], #"{"name":"a"}"#, #"{"name":"b"}"#, [] as [String]),
    (["name"], #"{"name":"a","text":"a"}"#, #"{"text":"b"}"#, ["changed text"]),
    (["child"], #"{"child":{"name":"a"}}"#, "{}", []),
    (["child.name"], #"{"name":"x","child":{"name":"a"}}"#, #"{"name":"y","child":{"name":"b"}}"#, ["changed name"]),
    (["children[].name"], #"{"children":[{"name":"a"}]}"#, #"{"children":[{"name":"b"}]}"#, []),
    (["children.name"], #"{"children":[{"name":"a"}]}"#, #"{"children":[{"name":"b"}]}"#, []),
    (["children"], #"{"children":[{"name":"a"}]}"#, "{}", []),
    (["named[].name"], #"{"named":{"k":{"name":"a"}}}"#, #"{"named":{"k":{"name":"b"}}}"#, []),
    (["named[].name"], #"{"named":{"k":{"text":"a"}}}"#, #"{"named":{"k":{"text":"b"}}}"#, ["changed named[].text"]),
    (
      ["*.name"], #"{"name":"x","child":{"name":"a"},"node":{"name":"c"}}"#,
      #"{"name":"y","child":{"name":"b"},"node":{"name":"d"}}"#, ["changed name"]
    ),
    (["scalars.*"], #"{"scalars":{"i64":1,"s":"a"}}"#, #"{"scalars":{"i64":2}}"#, []),
    (["scalars.odd_name__of_3_words_"], #"{"scalars":{"oddNameOf3Words":"a"}}"#, #"{"scalars":{}}"#, []),
    (["old.[rich.priority]"], #"{"old":{"[rich.priority]":1}}"#, #"{"old":{}}"#, []),
    (
      ["child.child.name", "child.text"], #"{"child":{"text":"a","child":{"name":"a"}}}"#,
      #"{"child":{"text":"b","child":{"name":"b"}}}"#, []
    ),
  ])
  func ignored(_ paths: [String], _ rest: String, _ rpc: String, _ expected: [String]) throws {
    #expect(try ComparisonRig(ignore: paths).differences("rich.Node", rest, rpc) == expected)
  }

  @Test(
    arguments: [
      ("rich.Lists", ["s"], #"{"s":["a","b","b"]}"#, #"{"s":["b","a","b"]}"#, [] as [String]),
      ("rich.Lists", ["s"], #"{"s":["a","b","b"]}"#, #"{"s":["b","a","a"]}"#, ["changed s[]"]),
      ("rich.Lists", ["s"], #"{"s":["a","b"]}"#, #"{"s":["b"]}"#, ["missing s[]"]),
      ("rich.Lists", ["d"], #"{"d":["NaN",0,1]}"#, #"{"d":[1,-0.0,"NaN"]}"#, []),
      ("rich.Lists", ["i64[]"], #"{"i64":[3,1,2]}"#, #"{"i64":[1,2,3]}"#, []),
      (
        "rich.Node", ["children"], #"{"children":[{"name":"a","text":"t"},{"name":"b"}]}"#,
        #"{"children":[{"name":"b"},{"text":"t","name":"a"}]}"#, []
      ),
      // One of them changed: its partner is what is left.
      (
        "rich.Node", ["children"], #"{"children":[{"name":"a","text":"t"},{"name":"b"}]}"#,
        #"{"children":[{"name":"b"},{"text":"u","name":"a"}]}"#, ["changed children[].text"]
      ),
      // Only the outer list may be in any order.
      (
        "rich.Node", ["children"], #"{"children":[{"children":[{"name":"a"},{"name":"b"}]}]}"#,
        #"{"children":[{"children":[{"name":"b"},{"name":"a"}]}]}"#, ["changed children[].children[].name"]
      ),
      (
        "rich.Node", ["children", "children[].children"],
        #"{"children":[{"children":[{"name":"a"},{"name":"b"}]},{"number":1}]}"#,
        #"{"children":[{"number":1},{"children":[{"name":"b"},{"name":"a"}]}]}"#, []
      ),
      (
        "rich.Node", ["children"], #"{"children":[{"named":{"x":{},"y":{"number":1}}},{}]}"#,
        #"{"children":[{},{"named":{"y":{"number":1},"x":{}}}]}"#, []
      ),
      (
        "rich.Known", ["anys"], #"{"anys":[{"@type":"t/rich.Scalars","s":"a"},{"@type":"t/rich.Lists"}]}"#,
        #"{"anys":[{"@type":"t/rich.Lists"},{"@type":"t/rich.Scalars","s":"a"}]}"#, []
      ),
    ] as [(String, [String], String, String, [String])])
  func unordered(_ message: String, _ paths: [String], _ rest: String, _ rpc: String, _ expected: [String]) throws {
    #expect(try ComparisonRig(unordered: paths).differences(message, rest, rpc) == expected)
  }

  /// What may differ inside the elements does not keep them apart.
  @Test func rulesInsideUnorderedLists() throws {
    let rest = #"{"children":[{"name":"a","text":"1"},{"name":"b","text":"2"}]}"#
    let rpc = #"{"children":[{"name":"b","text":"3"},{"name":"a","text":"4"}]}"#
    let rig = try ComparisonRig(ignore: ["children[].text"], unordered: ["children"])
    #expect(try rig.differences("rich.Node", rest, rpc) == [])
    let near = try ComparisonRig(unordered: ["children"], tolerance: ["children[].scalars.d": .absolute(0.1)])
    let left = #"{"children":[{"name":"a","scalars":{"d":1}},{"name":"b","scalars":{"d":2}}]}"#
    let right = #"{"children":[{"name":"b","scalars":{"d":2.05}},{"name":"a","scalars":{"d":0.95}}]}"#
    #expect(try near.differences("rich.Node", left, right) == [])
    let far = #"{"children":[{"name":"b","scalars":{"d":2.5}},{"name":"a","scalars":{"d":0.95}}]}"#
    #expect(try near.differences("rich.Node", left, far) == ["changed children[].scalars.d"])
  }

  @Test(arguments: [
    ("rich.Scalars", "d", RouteSettings.FieldTolerance.Amount.absolute(0.5), #"{"d":1}"#, #"{"d":1.5}"#, true),
    ("rich.Scalars", "d", .absolute(0.5), #"{"d":1}"#, #"{"d":1.51}"#, false),
    ("rich.Scalars", "d", .absolute(0.5), "{}", #"{"d":0.5}"#, true),
    ("rich.Scalars", "d", .absolute(0.5), "{}", #"{"d":0.51}"#, false),
    ("rich.Scalars", "d", .absolute(0.5), #"{"d":"NaN"}"#, #"{"d":1}"#, false),
    ("rich.Scalars", "f", .relative(0.01), #"{"f":100}"#, #"{"f":101}"#, true),
    ("rich.Scalars", "f", .relative(0.01), #"{"f":100}"#, #"{"f":102}"#, false),
    ("rich.Scalars", "i64", .absolute(2), #"{"i64":-1}"#, #"{"i64":1}"#, true),
    ("rich.Scalars", "s32", .absolute(2), #"{"s32":-1}"#, #"{"s32":1}"#, true),
    (
      "rich.Scalars", "u64", .relative(0.1), #"{"u64":"18446744073709551615"}"#, #"{"u64":"18000000000000000000"}"#,
      true
    ),
    ("rich.Scalars", "maybe", .absolute(1), "{}", #"{"maybe":1}"#, false),
    ("rich.Maps", "doubles", .absolute(0.1), #"{"doubles":{"1":1}}"#, #"{"doubles":{"1":1.05}}"#, true),
    ("rich.Maps", "doubles", .absolute(0.1), #"{"doubles":{"1":1}}"#, #"{"doubles":{"1":1.2}}"#, false),
    (
      "rich.Maps", "times", .time(.seconds(1)), #"{"times":{"1":"2026-01-01T00:00:00Z"}}"#,
      #"{"times":{"1":"2026-01-01T00:00:01Z"}}"#, true
    ),
    ("rich.Lists", "d", .absolute(0.1), #"{"d":[1,2]}"#, #"{"d":[1.05,1.95]}"#, true),
    (
      "rich.Known", "time", .time(.milliseconds(1500)), #"{"time":"2026-01-01T00:00:00Z"}"#,
      #"{"time":"2025-12-31T23:59:58.5Z"}"#, true
    ),
    (
      "rich.Known", "time", .time(.milliseconds(1500)), #"{"time":"2026-01-01T00:00:00Z"}"#,
      #"{"time":"2025-12-31T23:59:58.4Z"}"#, false
    ),
    ("rich.Known", "span", .time(.seconds(1)), #"{"span":"-0.5s"}"#, #"{"span":"0.5s"}"#, true),
    ("rich.Known", "doubleValue", .relative(0.1), #"{"doubleValue":10}"#, #"{"doubleValue":11}"#, true),
    (
      "rich.Known", "times[]", .time(.seconds(1)), #"{"times":["2026-01-01T00:00:00Z"]}"#,
      #"{"times":["2026-01-01T00:00:01Z"]}"#, true
    ),
  ])
  func tolerated(
    _ message: String, _ path: String, _ amount: RouteSettings.FieldTolerance.Amount, _ rest: String, _ rpc: String,
    _ isMatch: Bool
  ) throws {
    let rig = try ComparisonRig(tolerance: [path: amount])
    #expect(try rig.differences(message, rest, rpc).isEmpty == isMatch)
    #expect(try rig.differences(message, rpc, rest).isEmpty == isMatch)
  }
}
