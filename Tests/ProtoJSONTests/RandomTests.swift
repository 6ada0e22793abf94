import Bytes
import ProtobufSchema
import RandomnessTestSupport
import Testing
import TranslationTestSupport

import ProtobufSchema
@testable import ProtoJSON

@Suite struct RandomTests {
  static let types = ["t.Scalars", "t.Optionals", "t.Lists", "t.Maps", "t.Parcel", "t.WellKnown", "t.Old", "t.Wide"]

  private static func seed() -> UInt64 { UInt64.random(in: 0...UInt64.max) }

  @Test(
    arguments: types,
    [
      JSONProfile.standard,
      JSONProfile(
        protoFieldNames: true, int64AsNumber: true, enumsAsNumbers: true, stripEnumPrefix: true, unsetAsNull: true,
        timestamps: .unix),
    ])
  func messagesComeBack(_ type: String, _ profile: JSONProfile) throws {
    let seed = Self.seed()
    var random = RandomMessages(schema: Fixture.schema, generator: SeededGenerator(seed: seed))
    let bench = Bench(profile)
    let index = try bench.index(type)
    for _ in 0..<40 {
      let wire = random.message(index, depth: 3)
      let json = try bench.encode(wire, type)
      let back = try bench.decode(json, type)
      guard back == wire else {
        Issue.record("seed \(seed): \(type)\n\(json)\n\(wire)\n\(back)")
        return
      }
    }
  }

  @Test(arguments: types) func defaultsChangeNothing(_ type: String) throws {
    let seed = Self.seed()
    var random = RandomMessages(schema: Fixture.schema, generator: SeededGenerator(seed: seed))
    let bench = Bench(JSONProfile(emitDefaults: true, unsetAsNull: true, timestamps: .unixMilliseconds))
    for _ in 0..<25 {
      let wire = random.message(try bench.index(type), depth: 3)
      let json = try bench.encode(wire, type)
      #expect(try bench.encode(try bench.decode(json, type), type) == json, "seed \(seed)")
    }
  }

  private func records(_ wire: [UInt8]) throws -> [(number: UInt32, bytes: [UInt8])] {
    var reader = WireReader(wire.span)
    var records: [(number: UInt32, bytes: [UInt8])] = []
    while !reader.isAtEnd {
      let start = reader.offset
      let tag = try reader.readTag()
      try reader.skip(tag)
      records.append((tag.number, Array(wire[start..<reader.offset])))
    }
    return records
  }

  private func grouped(_ records: [(number: UInt32, bytes: [UInt8])]) -> [UInt32: [UInt8]] {
    var groups: [UInt32: [UInt8]] = [:]
    for record in records { groups[record.number, default: []] += record.bytes }
    return groups
  }

  /// The order of fields on the wire means nothing, that of a field's own elements does.
  @Test(arguments: types) func shuffledFieldsMeanTheSame(_ type: String) throws {
    let seed = Self.seed()
    var random = RandomMessages(schema: Fixture.schema, generator: SeededGenerator(seed: seed))
    let bench = Bench.standard
    for _ in 0..<20 {
      let ordered = try records(random.message(try bench.index(type), depth: 3))
      let numbers = ordered.map(\.number).shuffled(using: &random.generator)
      var queues = Dictionary(grouping: ordered, by: \.number)
      let shuffled = numbers.flatMap { number in queues[number]?.removeFirst().bytes ?? [] }
      let back = try records(try bench.decode(try bench.encode(shuffled, type), type))
      #expect(grouped(back) == grouped(ordered), "seed \(seed)")
    }
  }

  /// Cut or damaged bytes are refused or read as something else; nothing traps, and what is written is JSON.
  @Test(arguments: types) func damagedWireNeverTraps(_ type: String) throws {
    let seed = Self.seed()
    var random = RandomMessages(schema: Fixture.schema, generator: SeededGenerator(seed: seed))
    let bench = Bench.standard
    let index = try bench.index(type)
    var accepted = 0
    var refused = 0
    for _ in 0..<8 {
      let wire = random.message(index, depth: 2)
      var variants = (0..<min(wire.count, 120)).map { Array(wire[..<$0]) }
      for _ in 0..<80 { variants.append(damaged(wire, &random.generator)) }
      for variant in variants {
        var output = ByteBuffer()
        do {
          try bench.codec.encode(variant.span, message: index, into: &output)
          accepted += 1
        } catch {
          refused += 1
          #expect((output.isEmpty) == true)
          continue
        }
        var cursor = JSONCursor(output.span, maximumDepth: 1_000)
        do {
          try cursor.skipValue()
          try cursor.end()
        } catch {
          Issue.record("seed \(seed): no JSON: \(String(decoding: output.bytes, as: UTF8.self))")
        }
      }
    }
    #expect(accepted > 0 && refused > 0, "seed \(seed)")
  }

  /// Cut JSON is always refused, damaged JSON never traps; a refusal says where.
  @Test(arguments: types) func damagedJSONNeverTraps(_ type: String) throws {
    let seed = Self.seed()
    var random = RandomMessages(schema: Fixture.schema, generator: SeededGenerator(seed: seed))
    let strict = Bench.standard
    let lenient = Bench(JSONProfile(timestamps: .unix, unknownFields: .ignore))
    for _ in 0..<8 {
      let json = Array(try strict.encode(random.message(try strict.index(type), depth: 2), type).utf8)
      for cut in 0..<min(json.count, 150) {
        let error = try strict.refusal(json[..<cut], type)
        #expect(error.offset <= cut && error.offset >= 0, "seed \(seed)")
      }
      for _ in 0..<80 {
        let variant = damaged(json, &random.generator)
        for bench in [strict, lenient] {
          var outcome = DecodingOutcome(collectsMask: Bool.random(using: &random.generator))
          do {
            let wire = try bench.decode(variant, type, outcome: &outcome)
            // What is accepted can be written again.
            _ = try bench.encode(wire, type)
          } catch let error as JSONError {
            #expect(error.offset >= 0 && error.offset <= variant.count, "seed \(seed)")
          }
        }
      }
    }
  }

  private func damaged(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var copy = bytes
    for _ in 0..<Int.random(in: 1...3, using: &generator) where !copy.isEmpty {
      let at = Int.random(in: 0..<copy.count, using: &generator)
      switch generator.next() % 5 {
      case 0: copy[at] = UInt8.random(in: 0...255, using: &generator)
      case 1: copy[at] ^= 1 << UInt8(generator.next() % 8)
      case 2: copy.remove(at: at)
      case 3:
        copy.insert([0x22, 0x7B, 0x7D, 0x5B, 0x5D, 0x2C, 0x5C, 0x80, 0xFF, 0x00][Int(generator.next() % 10)], at: at)
      default:
        let end = Int.random(in: at...min(copy.count, at + 12), using: &generator)
        copy.insert(contentsOf: Array(copy[at..<end]), at: at)
      }
    }
    return copy
  }
}
