import ProtobufSchema
import Testing

@Suite struct WireReaderTests {
  /// Passes over all fields; the number of them.
  private func fields(of bytes: [UInt8]) throws(WireError) -> Int {
    var reader = WireReader(bytes.span)
    var count = 0
    while let tag = try reader.nextTag() {
      try reader.skip(tag)
      count += 1
    }
    return count
  }

  private func fault(of bytes: [UInt8]) -> WireError? {
    do throws(WireError) {
      _ = try fields(of: bytes)
      return nil
    } catch { return error }
  }

  @Test(arguments: [0, 1, 127, 128, 300, 1 << 31, 1 << 32, 1 << 62, UInt64.max - 1, .max])
  func readsVarints(value: UInt64) throws {
    let bytes = DescriptorBytes.make { $0.varint(value) }
    var reader = WireReader(bytes.span)
    #expect(try reader.readVarint() == value)
    let isAtEnd = reader.isAtEnd
    #expect(isAtEnd)
    for length in 0..<bytes.count {
      var short = WireReader(bytes.span.extracting(first: length))
      #expect(throws: WireError(.truncated, at: 0)) { try short.readVarint() }
    }
  }

  @Test func readsOverlongZero() throws {
    let bytes: [UInt8] = [0x80, 0x80, 0x00]
    var reader = WireReader(bytes.span)
    #expect(try reader.readVarint() == 0)
    #expect(reader.offset == 3)
  }

  @Test func readsFixedNumbersAndStrings() throws {
    let bytes: [UInt8] = [0x0D, 1, 2, 3, 4, 0x11, 1, 2, 3, 4, 5, 6, 7, 0x88, 0x1A, 3, 0xE2, 0x82, 0xAC, 0x22, 2, 7, 8]
    var reader = WireReader(bytes.span)
    #expect(try reader.readTag() == WireTag(number: 1, type: .fixed32))
    #expect(try reader.readFixed32() == 0x0403_0201)
    #expect(try reader.readTag() == WireTag(number: 2, type: .fixed64))
    #expect(try reader.readFixed64() == 0x8807_0605_0403_0201)
    #expect(try reader.readTag() == WireTag(number: 3, type: .lengthDelimited))
    #expect(try reader.readString() == "€")
    #expect(try reader.readTag() == WireTag(number: 4, type: .lengthDelimited))
    #expect(try reader.readLengthDelimited() == 21..<23)
    #expect(try reader.nextTag() == nil)
  }

  @Test func givesTheBytesOfAField() throws {
    let bytes: [UInt8] = [0x0A, 2, 7, 8, 0x10, 1]
    var reader = WireReader(bytes.span)
    _ = try reader.readTag()
    let content = try reader.readBytes()
    #expect(content.count == 2)
    #expect(content[0] == 7 && content[1] == 8)
    #expect(reader.offset == 4)
  }

  @Test(
    arguments: [
      ([0x00], WireError.Kind.tag), ([0x06], .tag), ([0x0F], .tag), ([0x07, 0], .tag),
      // Number 2^29 - 1 is the last, and a tag has 32 bits.
      ([0x80, 0x80, 0x80, 0x80, 0x10], .tag), ([0x88, 0x80, 0x80, 0x80, 0x80, 0x00, 0x01], .tag),
      ([0xF8, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x00], .tag),
      ([0x08] + [UInt8](repeating: 0x80, count: 10) + [0x00], .varint),
      ([0x08], .truncated), ([0x08, 0x80], .truncated), ([0x0D, 1, 2, 3], .truncated),
      ([0x09, 1, 2, 3, 4, 5, 6, 7], .truncated), ([0x0A, 2, 1], .truncated), ([0x0A], .truncated),
      ([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], .truncated),
      ([0x0C], .group), ([0x0B, 0x14], .group), ([0x0B], .truncated), ([0x0B, 0x08], .truncated),
    ] as [([UInt8], WireError.Kind)])
  func refuses(bytes: [UInt8], kind: WireError.Kind) {
    #expect(fault(of: bytes)?.kind == kind)
  }

  @Test func acceptsTheLastNumber() throws {
    #expect(try fields(of: [0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0x01]) == 1)
  }

  @Test func skipsGroupsWhole() throws {
    // A group 1 with a varint, a group 2 in it, and a varint behind it.
    #expect(try fields(of: [0x0B, 0x08, 0x05, 0x13, 0x12, 0x01, 0x0C, 0x14, 0x0C, 0x18, 0x01]) == 2)
  }

  @Test func limitsTheDepthOfGroups() throws {
    func nested(_ depth: Int) -> [UInt8] {
      [UInt8](repeating: 0x0B, count: depth) + [UInt8](repeating: 0x0C, count: depth)
    }
    #expect(try fields(of: nested(WireReader.maximumGroupDepth)) == 1)
    #expect(fault(of: nested(WireReader.maximumGroupDepth + 1))?.kind == .depth)
  }

  @Test func refusesStringsThatAreNotUTF8() {
    for bad in [[0xC0, 0x80], [0xED, 0xA0, 0x80], [0xFF], [0xE2, 0x82]] as [[UInt8]] {
      let bytes = [0x08, 0x01, 0x0A, UInt8(bad.count)] + bad
      var reader = WireReader(bytes.span)
      #expect(throws: WireError(.utf8, at: 4)) {
        _ = try reader.readTag()
        _ = try reader.readVarint()
        _ = try reader.readTag()
        _ = try reader.readString()
      }
    }
  }

  @Test func namesWhereTheFieldBegins() {
    #expect(fault(of: [0x08, 0x01, 0x12, 0x05, 0x01]) == WireError(.truncated, at: 3))
  }

  @Test func everyCutIsAPrefixOrAFault() throws {
    let whole = DescriptorBytes.make {
      $0.number(1, -1)
      $0.text(2, "abc")
      $0.raw([0x1D, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8])
      $0.raw([0x2B, 0x08, 0x01, 0x2C])
      $0.text(536_870_911, "")
    }
    let ends = [0, 11, 16, 21, 30, 34, whole.count]
    #expect(try fields(of: whole) == 6)
    for length in 0...whole.count {
      let cut = Array(whole[..<length])
      if let place = ends.firstIndex(of: length) {
        #expect(try fields(of: cut) == place)
      } else {
        #expect(fault(of: cut)?.kind == .truncated, "\(length)")
      }
    }
  }
}
