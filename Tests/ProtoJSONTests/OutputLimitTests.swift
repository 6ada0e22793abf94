import Bytes
import Testing
import TranslationTestSupport

@testable import ProtoJSON

/// A short message can become a long JSON, or much work: both are bounded.
@Suite struct OutputLimitTests {
  private static let limit = 1_000

  private static func bench(_ profile: JSONProfile = .standard) -> Bench {
    Bench(codec: JSONCodec(schema: Fixture.schema, profile: profile, maximumOutput: limit))
  }

  private static let growing: [(what: String, message: String, wire: [UInt8])] = [
    ("packed enums", "t.Parcel", Wire.delimited(20, Array(repeating: 1, count: 300))),
    ("unpacked enums", "t.Parcel", Array(repeating: [0xA0, 0x01, 1], count: 300).flatMap { $0 }),
    ("empty messages", "t.Parcel", Array(repeating: Wire.delimited(17, []), count: 500).flatMap { $0 }),
    (
      "map entries", "t.Maps",
      Array(repeating: 0, count: 300).indices.flatMap { number in
        Wire.delimited(60, Wire.delimited(1, Array("\(number)".utf8)) + [0x10, 1])
      }
    ),
    (
      "list values", "google.protobuf.ListValue",
      Array(repeating: Wire.delimited(1, [0x20, 1]), count: 300).flatMap { $0 }
    ),
  ]

  @Test("few bytes never become more JSON than allowed", arguments: growing.indices)
  func bounded(_ index: Int) throws {
    let (what, message, wire) = Self.growing[index]
    #expect(try Bench.standard.encode(wire, message).utf8.count > Self.limit, "\(what)")
    let error = try Self.bench().encodingError(wire, message)
    #expect(error.kind == .range, "\(what)")
  }

  @Test func unsetMembersCountToo() throws {
    var profile = JSONProfile.standard
    profile.emitDefaults = true
    let wire = Array(repeating: Wire.delimited(17, []), count: 80).flatMap { $0 }
    #expect(try Self.bench().encode(wire, "t.Parcel").utf8.count < Self.limit)
    #expect(try Self.bench(profile).encodingError(wire, "t.Parcel").kind == .range)
  }

  @Test func theLimitIsOfTheMessageAndNotOfTheBuffer() throws {
    let bench = Self.bench()
    var output = ByteBuffer(Array(repeating: UInt8(ascii: " "), count: 5 * Self.limit))
    let wire = Wire.delimited(17, [])
    try bench.codec.encode(wire.span, message: try bench.index("t.Parcel"), into: &output)
    #expect(output.count > 5 * Self.limit)
  }

  @Test("a message that is scattered at every level is not copied at every level")
  func orderingIsBounded() throws {
    let identifier = Wire.delimited(1, Array(repeating: UInt8(ascii: "a"), count: 300))
    var wire = identifier + identifier
    for _ in 0..<20 { wire = Wire.delimited(22, wire) + Wire.delimited(1, [0x61]) + Wire.delimited(1, [0x62]) }
    #expect(try Bench.standard.encode(wire, "t.Parcel").utf8.count < Self.limit)
    #expect(try Self.bench().encodingError(wire, "t.Parcel").kind == .range)
  }
}
