import Bytes
import ProtobufSchema
import Testing

@testable import ProtoJSON

@Suite struct WireTests {
  @Test(
    arguments: [
      0, 1, 127, 128, 300, 16_383, 16_384, 1 << 32, UInt64(Int64.max), 1 << 63, .max,
    ] as [UInt64]) func varintsComeBack(_ value: UInt64) throws
  {
    var buffer = ByteBuffer()
    buffer.append(varint: value)
    let bytes = buffer.bytes
    var reader = WireReader(bytes.span)
    #expect(try reader.readVarint() == value)
    #expect((reader.isAtEnd) == true)
    for cut in 0..<bytes.count {
      var short = WireReader(bytes.span, 0..<cut)
      #expect(throws: WireError.self) { try short.readVarint() }
    }
  }

  @Test func fixedValuesAndTags() throws {
    var buffer = ByteBuffer()
    buffer.append(tag: 536_870_911, .fixed32)
    buffer.append(fixed32: 0x0102_0304)
    buffer.append(tag: 1, .fixed64)
    buffer.append(fixed64: 0x0102_0304_0506_0708)
    let bytes = buffer.bytes
    var reader = WireReader(bytes.span)
    #expect(try reader.readTag() == WireTag(number: 536_870_911, type: .fixed32))
    #expect(try reader.readFixed32() == 0x0102_0304)
    #expect(try reader.readTag() == WireTag(number: 1, type: .fixed64))
    #expect(try reader.readFixed64() == 0x0102_0304_0506_0708)
    #expect((reader.isAtEnd) == true)
  }

  @Test func lengthsMoveWhatFollows() {
    for length in [0, 1, 127, 128, 16_383, 16_384, 2_097_152] {
      var buffer = ByteBuffer()
      buffer.append("x")
      let start = buffer.beginLengthDelimited()
      buffer.append(Array(repeating: 7, count: length))
      buffer.endLengthDelimited(start)
      var expected = ByteBuffer()
      expected.append("x")
      expected.append(varint: UInt64(length))
      expected.append(Array(repeating: 7, count: length))
      #expect(buffer.bytes == expected.bytes)
    }
  }

  @Test func zigZag() {
    for value: Int64 in [0, -1, 1, -2, .max, .min] { #expect(ZigZag.decode(ZigZag.encode(value)) == value) }
    #expect([0, -1, 1, -2].map { ZigZag.encode($0) } == [0, 1, 2, 3])
  }

  @Test func groupsNestAndEnd() throws {
    let bytes: [UInt8] = [0x13, 0x08, 0x01, 0x14, 0x0C, 0x55]
    var reader = WireReader(bytes.span)
    #expect(try reader.readGroup(1) == 0..<4)
    #expect(reader.offset == 5)
    for bad: [UInt8] in [[], [0x14], [0x13], [0x13, 0x0C], [0x08]] {
      var reader = WireReader(bad.span)
      #expect(throws: WireError.self, "\(bad)") { try reader.readGroup(1) }
    }
  }

  @Test func partsStayInsideTheSpan() {
    let bytes: [UInt8] = [1, 2, 3]
    let reader = WireReader(bytes.span, -5..<50)
    #expect(reader.offset == 0)
    #expect(reader.limit == 3)
    let behind = WireReader(bytes.span, 9..<50).isAtEnd
    #expect(behind)
  }
}
