import Bytes
import ProtobufSchema
import RPC
import Testing
import TranslationTestSupport

@testable import Migration

/// Two JSON texts of one message: what is spelt otherwise has its kind, its path and both values.
@Suite struct SpellingTests {
  private func spelling(
    _ message: String, _ old: String, _ new: String, field: UInt32? = nil, ignore: [String] = [],
    keepsValues: Bool = false
  ) throws -> [Difference] {
    let rig = try ComparisonRig(ignore: ignore)
    let plan = ComparisonPlan(
      rig.schema, message: try rig.index(message), rules: ComparisonRules(rig.settings))
    return try plan.compareSpelling(
      old: Array(old.utf8).span, new: Array(new.utf8).span, field: field, keepsValues: keepsValues)
  }

  private func lines(_ differences: [Difference]) -> [String] {
    differences.map { "\($0.kind.rawValue) \($0.path)" }.sorted()
  }

  @Test(
    arguments: [
      ("rich.Scalars", #"{"i64":5}"#, #"{"i64":"5"}"#, ["form i64"]),
      ("rich.Scalars", #"{"b":1}"#, #"{"b":true}"#, ["form b"]),
      ("rich.Scalars", #"{"maybe_text":"x"}"#, #"{"maybeText":"x"}"#, ["name maybeText"]),
      ("rich.Scalars", #"{"maybeText":"x"}"#, #"{"maybe_text":"x"}"#, ["name maybeText"]),
      ("rich.Scalars", #"{"maybe_text":5}"#, #"{"maybeText":"5"}"#, ["form maybeText", "name maybeText"]),
      ("rich.Scalars", #"{"i64":"0","s":null}"#, "{}", ["form i64", "form s"]),
      ("rich.Scalars", "{}", #"{"b":false}"#, ["form b"]),
      ("rich.Scalars", #"{"size":1}"#, #"{"size":"SIZE_S"}"#, ["form size"]),
      ("rich.Lists", #"{"s":"a"}"#, #"{"s":["a"]}"#, ["form s[]"]),
      ("rich.Lists", #"{"s":["a","b"]}"#, #"{"s":["a"]}"#, ["form s[]"]),
      ("rich.Lists", #"{"i64":[1,2]}"#, #"{"i64":["1","2"]}"#, ["form i64[]"]),
      (
        "rich.Node", #"{"child":{"children":[{"name":1}]}}"#, #"{"child":{"children":[{"name":"1"}]}}"#,
        ["form child.children[].name"]
      ),
      (
        "rich.Maps", #"{"nodes":{"1":{"name":"a","children":[]}}}"#, #"{"nodes":{"1":{"name":"a"}}}"#,
        ["form nodes[].children[]"]
      ),
      ("rich.Maps", #"{"texts":{"a":1}}"#, #"{"texts":{"a":"1"}}"#, ["form texts[]"]),
      // Half a message in place of one.
      ("rich.Node", #"{"child":[]}"#, #"{"child":{}}"#, ["form child"]),
      ("rich.Node", "[]", "{}", ["form $"]),
    ])
  func eachHasAPlace(message: String, old: String, new: String, expected: [String]) throws {
    #expect(lines(try spelling(message, old, new)) == expected)
  }

  @Test(
    arguments: [
      ("rich.Scalars", #"{ "s" : "\u0061" , "b":true}"#, #"{"b":true,"s":"a"}"#),
      ("rich.Scalars", #"{"d":1.0,"f":1e2}"#, #"{"d":1,"f":100}"#),
      // What the schema lacks is told elsewhere.
      ("rich.Scalars", #"{"s":"a","nobody":{"knows":1}}"#, #"{"s":"a"}"#),
      ("rich.Maps", #"{"texts":{"b":"2","a":"1"}}"#, #"{"texts":{"a":"1","b":"2"}}"#),
      ("rich.Lists", #"{"raw":["AA=="],"nodes":[{}]}"#, #"{"raw":["AA=="],"nodes":[{}]}"#),
    ])
  func whatEveryParserReadsAlikeIsNone(message: String, old: String, new: String) throws {
    #expect(try spelling(message, old, new).isEmpty)
  }

  @Test func ignoredFieldsAreLeftOut() throws {
    let (old, new) = (#"{"i64":5,"maybe_text":"x","b":false}"#, #"{"i64":"5","maybeText":"x"}"#)
    #expect(lines(try spelling("rich.Scalars", old, new, ignore: ["i64"])) == ["form b", "name maybeText"])
    #expect(try spelling("rich.Scalars", old, new, ignore: ["i64", "maybe_text", "b"]).isEmpty)
    #expect(try spelling("rich.Scalars", new, old, ignore: ["*"]).isEmpty)
  }

  @Test func bothValuesAreShownAndTextsByTheirLength() throws {
    let (old, new) = (#"{"i64":5,"s":7,"maybe_text":"x"}"#, #"{"i64":"5","s":"7","maybeText":"x"}"#)
    #expect(
      try spelling("rich.Scalars", old, new).sorted { $0.path < $1.path } == [
        Difference(.form, at: "i64", rest: .literal("5"), rpc: .text("5")),
        Difference(.name, at: "maybeText", rest: .text("maybe_text"), rpc: .text("maybeText")),
        Difference(.form, at: "s", rest: .text("a number"), rpc: .text("a text of 1 byte")),
      ])
    let shown = try spelling("rich.Scalars", old, new, keepsValues: true)
    #expect(shown.contains(Difference(.form, at: "s", rest: .literal("7"), rpc: .text("7"))))
  }

  @Test func theJSONOfOneField() throws {
    let rig = try ComparisonRig()
    let index = try rig.index("rich.Lists")
    let number = try #require(rig.schema.messages[index].fields.first { $0.name == "i64" }).number
    let found = try spelling("rich.Lists", "[1]", #"["1"]"#, field: UInt32(number))
    #expect(lines(found) == ["form i64[]"])
    #expect(try spelling("rich.Lists", "[1]", #"["1"]"#, field: UInt32(number), ignore: ["i64"]).isEmpty)
  }

  @Test func whatIsNoJSONIsAnError() {
    for broken in ["OK", "{", #"{"i64":}"#, ""] {
      #expect(throws: JSONFault.self) { try spelling("rich.Scalars", broken, #"{"i64":"5"}"#) }
    }
  }

  @Test func manyDifferencesEndTheWalk() throws {
    let elements = (0..<2_000).map { #"{"children":[{"name":\#($0)}],"name":\#($0)}"# }.joined(separator: ",")
    let found = try spelling("rich.Node", #"{"children":[\#(elements)]}"#, #"{"children":[]}"#)
    #expect(lines(found) == ["form children[]"])
    #expect(try spelling("rich.Node", #"{"children":[\#(elements)]}"#, #"{"children":[\#(elements)]}"#).isEmpty)
  }
}
