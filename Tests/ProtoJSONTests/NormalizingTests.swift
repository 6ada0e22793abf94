import Bytes
import ProtobufSchema
import RandomnessTestSupport
import Testing
import TranslationTestSupport

@testable import ProtoJSON

/// Wire bytes to wire bytes: what random and mangled messages become.
@Suite struct NormalizingTests {
  private static func seed() -> UInt64 { UInt64.random(in: 0...UInt64.max) }

  private static let types: [(type: String, isConformance: Bool)] =
    RandomTests.types.map { ($0, false) } + ConformanceMessages.all.map { ($0, true) }

  private func bench(_ isConformance: Bool) throws -> Bench {
    isConformance ? try ConformanceMessages.bench() : .standard
  }

  @Test(arguments: types) func leavesWhatASerializerWrote(_ row: (type: String, isConformance: Bool)) throws {
    let seed = Self.seed()
    let bench = try bench(row.isConformance)
    var random = RandomMessages(schema: bench.codec.schema, generator: SeededGenerator(seed: seed))
    for _ in 0..<(row.isConformance ? 10 : 30) {
      let wire = random.message(try bench.index(row.type), depth: row.isConformance ? 2 : 3)
      #expect(try bench.normalize(wire, row.type) == wire, "seed \(seed)")
    }
  }

  /// Two messages in a row are one, whatever the order in which their fields come.
  @Test(arguments: types) func mergesWhatConcatenationMade(_ row: (type: String, isConformance: Bool)) throws {
    let seed = Self.seed()
    let bench = try bench(row.isConformance)
    var random = RandomMessages(schema: bench.codec.schema, generator: SeededGenerator(seed: seed))
    let index = try bench.index(row.type)
    let depth = row.isConformance ? 2 : 3
    for _ in 0..<(row.isConformance ? 10 : 30) {
      let wire =
        random.message(index, depth: depth) + random.message(index, depth: 2)
        + random.message(index, depth: 1)
      let normal = try bench.normalize(wire, row.type)
      #expect(try bench.normalize(normal, row.type) == normal, "seed \(seed)")
      // The JSON encoder merges by code of its own.
      let json: String
      do throws(JSONError) {
        json = try bench.json(wire, row.type)
      } catch {
        // A duration of two signs, or an `Any` of a type that is not there.
        #expect(try bench.encodingError(normal, row.type).kind == error.kind, "seed \(seed)")
        continue
      }
      let other = try bench.encode(normal, row.type)
      #expect(other.count == json.count, "seed \(seed)")
      #expect(try bench.encode(try bench.decode(other, row.type), row.type) == other, "seed \(seed)")
    }
  }

  @Test(arguments: types) func damagedBytesNeverTrap(_ row: (type: String, isConformance: Bool)) throws {
    let seed = Self.seed()
    let bench = try bench(row.isConformance)
    var random = RandomMessages(schema: bench.codec.schema, generator: SeededGenerator(seed: seed))
    let index = try bench.index(row.type)
    for _ in 0..<(row.isConformance ? 2 : 8) {
      let wire = random.message(index, depth: row.isConformance ? 1 : 2)
      var variants = (0..<min(wire.count, 120)).map { Array(wire[..<$0]) }
      for _ in 0..<80 where !wire.isEmpty {
        var copy = wire
        copy[Int.random(in: 0..<copy.count, using: &random.generator)] ^= 1 << UInt8(random.generator.next() % 8)
        variants.append(copy)
      }
      for variant in variants {
        do throws(JSONError) {
          let normal = try bench.normalize(variant, row.type)
          #expect(try bench.normalize(normal, row.type) == normal, "seed \(seed) \(variant)")
        } catch {
          #expect(error.offset >= 0 && error.offset <= variant.count && !error.reason.isEmpty, "seed \(seed)")
        }
      }
    }
  }

  @Test func aRefusalLeavesTheOutputAlone() throws {
    var output = ByteBuffer([1, 2, 3])
    #expect(throws: JSONError.self) {
      try Bench.standard.codec.normalize(
        ([0x0A, 0x01, 0x61, 0x0A, 0x05] as [UInt8]).span, message: try Bench.standard.index("t.Parcel"), into: &output)
    }
    #expect(output.bytes == [1, 2, 3])
  }

  @Test func dropsUnknownFieldsWhereAsked() throws {
    let known = Wire.text(1, "a")
    let wire = Wire.varint(3000, 1) + known + Wire.fixed32(3001, 1) + Wire.delimited(3000, [1])
    #expect(try Bench.standard.normalize(wire, "t.Parcel") == wire)
    #expect(try Bench.standard.normalize(wire, "t.Parcel", unknownFields: .drop) == known)
    // In the order in which they came, behind what is known, when the message had to be sorted.
    let scattered = Wire.varint(3000, 1) + Wire.text(1, "b") + Wire.delimited(3000, [1]) + known
    #expect(
      try Bench.standard.normalize(scattered, "t.Parcel")
        == known + Wire.varint(3000, 1) + Wire.delimited(3000, [1]))
    #expect(try Bench.standard.normalize(scattered, "t.Parcel", unknownFields: .drop) == known)
  }

  @Test func nestingIsLimited() throws {
    func nested(_ levels: Int) -> [UInt8] { (1..<levels).reduce([]) { inner, _ in Wire.delimited(22, inner) } }
    _ = try Bench.standard.normalize(nested(100), "t.Parcel")
    let error = Bench.standard.normalizingError(nested(101), "t.Parcel")
    #expect(error.kind == .depth)
    #expect(error.path.hasPrefix("inner.inner."))
    // Each level in two parts: the work grows with the bytes, not with the power of the depth.
    let split = (1..<100).reduce([UInt8]()) { inner, _ in
      Wire.delimited(22, Wire.text(1, "a")) + Wire.delimited(22, inner) + Wire.text(1, "b")
    }
    #expect(try Bench.standard.normalize(split, "t.Parcel").count < split.count)
  }
}

extension Bench {
  /// As ``encode(_:_:omitting:)``, with the type of its errors.
  func json(_ wire: [UInt8], _ message: String) throws(JSONError) -> String {
    var output = ByteBuffer()
    guard let index = codec.schema.messageIndex(named: message) else {
      throw JSONError(path: "", offset: 0, reason: "no message \(message)", kind: .type)
    }
    try codec.encode(wire.span, message: index, into: &output)
    return String(decoding: output.bytes, as: UTF8.self)
  }

  /// A required field may be in any part of a message.
  @Test func requiredFieldsOfMessagesInParts() throws {
    let (schema, message) = try Self.strict()
    let codec = JSONCodec(schema: schema, profile: .standard)
    func normal(_ wire: [UInt8]) throws -> [UInt8] {
      var output = ByteBuffer()
      try codec.normalize(wire.span, message: message, into: &output)
      return output.bytes
    }
    let id = Wire.varint(1, 7)
    let whole = id + Wire.delimited(2, id)
    #expect(try normal(Wire.delimited(2, []) + id + Wire.delimited(2, id)) == whole)
    #expect(try normal(Wire.delimited(2, id) + id + Wire.delimited(2, [])) == whole)
    #expect(throws: JSONError.self) { try normal(Wire.delimited(2, []) + id + Wire.delimited(2, [])) }
  }

  private static func strict() throws -> (Schema, Int) {
    let schema = try RichSchema.load()
    return (schema, try #require(schema.messageIndex(named: "rich.Strict")))
  }
}
