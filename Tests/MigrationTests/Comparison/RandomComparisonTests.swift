import ProtoJSON
import ProtobufSchema
import RandomnessTestSupport
import Testing
import TranslationTestSupport

@testable import Migration

/// Random messages of the rich schema: every legal form of one compares as equal, and one changed value is found where
/// it is.
@Suite struct RandomComparisonTests {
  static let types = [
    "rich.Scalars", "rich.Lists", "rich.Maps", "rich.Node", "rich.Known", "rich.Old", "rich.Strict",
  ]

  private static func random(_ rig: ComparisonRig, seed: UInt64) -> RandomMessages {
    RandomMessages(
      schema: rig.schema, generator: SeededGenerator(seed: seed),
      embedded: ["rich.Scalars", "rich.Lists", "rich.Node", "google.protobuf.Duration", "google.protobuf.Struct"])
  }

  @Test(arguments: types) func otherFormsAreEqual(_ type: String) throws {
    let rig = try ComparisonRig()
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Self.random(rig, seed: seed)
    var shapes = WireShapes(schema: rig.schema, generator: SeededGenerator(seed: seed &+ 1))
    let message = try rig.index(type)
    for _ in 0..<40 {
      let wire = random.message(message, depth: 3)
      let other = try shapes.reshape(wire, message)
      for (rest, rpc) in [(wire, other), (other, wire)] {
        let result = try rig.compare(type, rest: rest, rpc: rpc)
        guard result.isComplete, result.differences.isEmpty else {
          Issue.record("seed \(seed): \(result.differences)\n\(wire)\n\(other)")
          return
        }
      }
    }
  }

  /// The same by way of JSON, as an old API writes it.
  @Test(arguments: types) func jsonIsEqual(_ type: String) throws {
    let rig = try ComparisonRig()
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Self.random(rig, seed: seed)
    let message = try rig.index(type)
    let old = JSONCodec(
      schema: rig.schema,
      profile: JSONProfile(protoFieldNames: true, int64AsNumber: true, enumsAsNumbers: true, timestamps: .rfc3339))
    for _ in 0..<20 {
      let wire = random.message(message, depth: 2)
      let json = try old.encoded(wire, message)
      let result = try rig.compare(type, rest: old.decoded(json, message), rpc: wire)
      #expect(result.differences == [], "seed \(seed)")
    }
  }

  @Test(arguments: ["rich.Scalars", "rich.Lists", "rich.Node", "rich.Old", "rich.Strict"])
  func oneChangedValueIsFound(_ type: String) throws {
    let rig = try ComparisonRig()
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Self.random(rig, seed: seed)
    var shapes = WireShapes(schema: rig.schema, generator: SeededGenerator(seed: seed &+ 1))
    let message = try rig.index(type)
    var found = 0
    for _ in 0..<60 {
      let wire = random.message(message, depth: 3)
      guard let mutation = try shapes.mutate(wire, message) else { continue }
      let other = try shapes.reshape(mutation.wire, message)
      let result = try rig.compare(type, rest: wire, rpc: other)
      let told = result.differences.map { "\($0.kind.rawValue) \($0.path)" }
      guard told == ["\(mutation.kind) \(mutation.path)"] else {
        Issue.record("seed \(seed): \(told), not \(mutation.kind) \(mutation.path)\n\(wire)\n\(other)")
        return
      }
      // The rule for this very path lets it pass.
      let lenient = try ComparisonRig(ignore: [mutation.path.replacing("re.named [x]", with: "renamed")])
      #expect(try lenient.compare(type, rest: wire, rpc: other).differences == [], "seed \(seed)")
      found += 1
    }
    #expect(found > 0, "seed \(seed)")
  }

  /// Whatever two peers send, a comparison ends without a trap.
  @Test func anyBytes() throws {
    let rig = try ComparisonRig(unordered: ["children", "named[].children"])
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Self.random(rig, seed: seed)
    let message = try rig.index("rich.Node")
    for _ in 0..<60 {
      var wire = random.message(message, depth: 3)
      let before = wire
      for _ in 0..<4 where !wire.isEmpty {
        wire[Int.random(in: wire.indices, using: &random.generator)] = UInt8.random(
          in: 0...255, using: &random.generator)
      }
      _ = try rig.compare("rich.Node", rest: before, rpc: wire)
      _ = try rig.compare("rich.Node", rest: wire, rpc: before)
    }
  }
}
