import Configuration
import Testing

@testable import Migration

/// Paths of the configuration against the schema: every mistake is told with its cure.
@Suite struct FieldPathTests {
  private func faults(
    _ message: String, ignore: [String] = [], unordered: [String] = [],
    tolerance: [String: RouteSettings.FieldTolerance.Amount] = [:]
  ) throws -> [String] {
    let rig = try ComparisonRig(ignore: ignore, unordered: unordered, tolerance: tolerance)
    return ComparisonRules.faults(of: rig.settings, in: rig.schema, messages: [try rig.index(message)])
      .map { "\($0.path.name): \($0.what); \($0.cure)" }
  }

  @Test(arguments: [
    "name", "child.child.name", "children[].name", "children.name", "named[].scalars.i64",
    "scalars.odd_name__of_3_words_",
    "*", "*.name", "children[].*", "known.any", "old.[rich.priority]", "old.[rich.Scope.strict].id", "known.empty",
  ])
  func paths(_ path: String) throws {
    #expect(try faults("rich.Node", ignore: [path]) == [])
  }

  @Test(arguments: [
    ("nam", "nam: rich.Node has no field `nam`; did you mean `name`?"),
    ("child.nmae", "child.nmae: rich.Node has no field `nmae`; did you mean `name`?"),
    (
      "scalars.zzzzzzzz",
      "scalars.zzzzzzzz: rich.Scalars has no field `zzzzzzzz`; it has d, f, i64, u64, i32, fx64, fx32, b, s, raw, u32, size, …"
    ),
    ("name[]", "name[]: `name` is not repeated; leave out the `[]` behind it"),
    ("name.x", "name.x: `name` has no fields of its own; end the path there"),
    ("known.object.x", "known.object.x: `object` has no fields of its own; end the path there"),
    ("", ": is not a field's path; write names with dots between them, as in `items[].price`"),
    ("a..b", "a..b: is not a field's path; write names with dots between them, as in `items[].price`"),
    (
      "children[0].name",
      "children[0].name: is not a field's path; write names with dots between them, as in `items[].price`"
    ),
    (".", ".: is not a field's path; write names with dots between them, as in `items[].price`"),
  ])
  func mistakes(_ path: String, _ expected: String) throws {
    #expect(try faults("rich.Node", ignore: [path]) == [expected])
  }

  @Test func pathsOfTheWrongKind() throws {
    #expect(
      try faults("rich.Node", unordered: ["name", "named", "children"]) == [
        "name: `name` is not repeated; leave it out", "named: `named` is a map, which has no order; leave it out",
      ])
    #expect(
      try faults(
        "rich.Node",
        tolerance: [
          "name": .absolute(1), "number": .time(.seconds(1)), "known.time": .absolute(1), "scalars": .relative(1),
        ])
        == [
          "known.time: `time` is a time; write a duration, as in `2s`",
          "name: `name` is no number; name a field with numbers or times",
          "number: `number` is no Timestamp and no Duration; write a number or a percentage, as in `0.01` or `1%`",
          "scalars: `scalars` is no number; name a field with numbers or times",
        ])
  }

  /// A service's path has to mean something to one of its methods.
  @Test func pathsForSeveralMessages() throws {
    let rig = try ComparisonRig(ignore: ["id", "count", "nothing"])
    let messages = [try rig.index("rich.Strict"), try rig.index("rich.Old")]
    #expect(
      ComparisonRules.faults(of: rig.settings, in: rig.schema, messages: messages).map(\.path.name) == ["nothing"])
  }

  @Test(arguments: [
    ("children[3].name", "children[].name"), ("named.key.child", "named[].child"), ("named", "named[]"),
    ("children[0].odd[1].x", "children[].odd[].x"), ("scalars.odd_name__of_3_words_", "scalars.oddNameOf3Words"),
    ("", ""),
    ("nope", "nope"),
  ])
  func spelledPaths(_ path: String, _ expected: String) throws {
    let rig = try ComparisonRig()
    #expect(SpelledPath.generic(path, in: rig.schema, message: try rig.index("rich.Node")) == expected)
  }

  @Test func whatTheSchemaKnows() throws {
    let rig = try ComparisonRig()
    let node = try rig.index("rich.Node")
    #expect(SpelledPath.resolve("children[0].size", in: rig.schema, message: node) == ("children[].size", true))
    #expect(SpelledPath.resolve("named.k.sise", in: rig.schema, message: node) == ("named[].sise", false))
  }

  @Test func spelledPathsAreBounded() throws {
    let rig = try ComparisonRig()
    let long = String(repeating: "x", count: 100_000)
    #expect(SpelledPath.generic(long, in: rig.schema, message: try rig.index("rich.Node")).count == 64)
    let deep = Array(repeating: "y", count: 10_000).joined(separator: ".")
    #expect(SpelledPath.generic(deep, in: rig.schema, message: try rig.index("rich.Node")).count < 100)
  }
}
