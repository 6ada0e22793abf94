import Bytes
import Testing

@Suite("Byte buffer")
struct ByteBufferTests {
  static func text(_ buffer: borrowing ByteBuffer) -> String { String(repairing: buffer.span) }

  @Test("a buffer that was never written holds no memory and has an empty span")
  func fresh() {
    var buffer = ByteBuffer()
    #expect(buffer.capacity == 0)
    #expect(buffer.count == 0)
    #expect(buffer.span.count == 0)
    #expect(buffer.bytes == [])
    let counted = buffer.withSpan(0..<0) { span in span.count }
    #expect(counted == 0)
    buffer.consume(0)
    buffer.truncate(to: 0)
    buffer.openGap(at: 0, width: 0)
    buffer.append([UInt8]())
    #expect(buffer.capacity == 0)
  }

  @Test("bytes come out in the order in which they went in, over many growths and reads")
  func queue() {
    var buffer = ByteBuffer()
    var written = 0
    var read = 0
    // Three in, two out, so that the front moves while the buffer grows.
    for _ in 0..<2_000 {
      for _ in 0..<3 {
        buffer.append(UInt8(truncatingIfNeeded: written))
        written += 1
      }
      for _ in 0..<2 {
        if buffer[0] != UInt8(truncatingIfNeeded: read) { Issue.record("byte \(read)") }
        buffer.consume(1)
        read += 1
      }
    }
    #expect(buffer.count == written - read)
    #expect(buffer.bytes == (read..<written).map { UInt8(truncatingIfNeeded: $0) })
  }

  @Test("consuming makes room in front, which is used before more memory is")
  func reusesTheFront() {
    var buffer = ByteBuffer(minimumCapacity: 100)
    let capacity = buffer.capacity
    buffer.append([UInt8](repeating: 1, count: capacity - 10))
    buffer.consume(capacity - 20)
    buffer.append([UInt8](repeating: 2, count: capacity - 10))
    #expect(buffer.capacity == capacity)
    #expect(buffer.bytes == [UInt8](repeating: 1, count: 10) + [UInt8](repeating: 2, count: capacity - 10))
  }

  @Test("an empty buffer starts at its front again")
  func startsAgain() {
    var buffer = ByteBuffer(minimumCapacity: 64)
    let capacity = buffer.capacity
    for _ in 0..<100 {
      buffer.append([UInt8](repeating: 7, count: capacity))
      buffer.consume(capacity)
    }
    #expect(buffer.capacity == capacity)
  }

  @Test("the ways to append")
  func appending() {
    var buffer = ByteBuffer(Array("<".utf8))
    buffer.append("static ")
    buffer.append(text: "text \u{E4} ")
    buffer.append(Array("array ".utf8))
    buffer.append(Array("span ".utf8).span)
    buffer.append(ByteBuffer(Array("buffer ".utf8)))
    buffer.append(ByteBuffer(Array("a range b".utf8)), 2..<7)
    buffer.append(UInt8(ascii: ">"))
    #expect(Self.text(buffer) == "<static text \u{E4} array span buffer range>")
  }

  @Test(
    "decimal numbers",
    arguments: [0, 1, 9, 10, 99, 100, 12_345, -1, -10, Int.max, Int.min, 1_000_000_000_000_000_000])
  func decimal(_ value: Int) {
    var buffer = ByteBuffer()
    buffer.append(decimal: value)
    #expect(Self.text(buffer) == "\(value)")
  }

  @Test("decimal numbers of other widths")
  func decimalWidths() {
    var buffer = ByteBuffer()
    buffer.append(decimal: UInt64.max)
    buffer.append(" ")
    buffer.append(decimal: Int8.min)
    #expect(Self.text(buffer) == "18446744073709551615 -128")
  }

  @Test("hexadecimal numbers", arguments: [0, 1, 15, 16, 255, 256, 4_096, 65_535, 0x1234_5678_9ABC, Int.max])
  func hexadecimal(_ value: Int) {
    var buffer = ByteBuffer()
    buffer.append(hexadecimal: value)
    #expect(Self.text(buffer) == String(value, radix: 16))
  }

  @Test("subscripts read and write unread bytes")
  func subscripts() {
    var buffer = ByteBuffer(Array("xabc".utf8))
    buffer.consume(1)
    buffer[1] = UInt8(ascii: "B")
    #expect(buffer[0] == UInt8(ascii: "a"))
    #expect(Self.text(buffer) == "aBc")
    let middle = buffer.withSpan(1..<2) { span in span[0] }
    #expect(middle == UInt8(ascii: "B"))
  }

  @Test("a gap opens at the front, inside and at the end, with what follows moved", arguments: [0, 3, 6])
  func gaps(_ offset: Int) {
    for width in [1, 5, 200] {
      var buffer = ByteBuffer(Array("!abcdef".utf8))
      buffer.consume(1)
      buffer.openGap(at: offset, width: width)
      for index in 0..<width { buffer[offset + index] = UInt8(ascii: "-") }
      let expected = "abcdef".prefix(offset) + String(repeating: "-", count: width) + "abcdef".dropFirst(offset)
      #expect(Self.text(buffer) == String(expected))
    }
  }

  @Test("truncating drops from the back and leaves the front")
  func truncating() {
    var buffer = ByteBuffer(Array("abcdef".utf8))
    buffer.consume(2)
    buffer.truncate(to: 3)
    #expect(Self.text(buffer) == "cde")
    buffer.append("!")
    #expect(Self.text(buffer) == "cde!")
  }

  @Test("removing all keeps the memory, releasing gives it back")
  func removing() {
    var buffer = ByteBuffer(Array("abcdef".utf8))
    let capacity = buffer.capacity
    buffer.removeAll()
    #expect(buffer.count == 0)
    #expect(buffer.capacity == capacity)
    buffer.releaseStorage()
    #expect(buffer.capacity == 0)
  }

  @Test("taking moves all bytes behind those that are there")
  func taking() {
    var first = ByteBuffer()
    var second = ByteBuffer(Array("abc".utf8))
    first.take(from: &second)
    #expect(Self.text(first) == "abc")
    #expect(second.count == 0)
    second.append("def")
    first.take(from: &second)
    #expect(Self.text(first) == "abcdef")
    #expect(second.count == 0)
    second.append("g")
    #expect(Self.text(first) == "abcdef")
  }

  @Test("unsafe room: what is reported is taken over, a failure is not")
  func room() {
    var buffer = ByteBuffer(Array("ab".utf8))
    let written = buffer.appendWithUnsafeRoom(10) { room in
      #expect(room.count >= 10)
      room[0] = UInt8(ascii: "c")
      return 1
    }
    #expect(written == 1)
    let failed = buffer.appendWithUnsafeRoom(10) { _ in -1 }
    #expect(failed == -1)
    #expect(Self.text(buffer) == "abc")
    let count = buffer.withUnsafeBytes { bytes in bytes.count }
    #expect(count == 3)
  }

  @Test("bytes that are no UTF-8 become readable text")
  func repairing() {
    #expect(String(repairing: ([0x61, 0xFF, 0x62] as [UInt8]).span) == "a\u{FFFD}b")
  }
}

extension ByteBufferTests {
  @Test("lines of a head are written whole, wherever the room ends", arguments: [0, 1, 60, 64, 127])
  func lines(before: Int) {
    var buffer = ByteBuffer([UInt8](repeating: 0x2E, count: before))
    let (name, value) = (Array("x-name".utf8), Array("some value".utf8))
    buffer.append(line: name.span, value.span)
    buffer.append(line: "te", [UInt8]().span)
    buffer.append(line: "host", "a.example")
    let dots = String(repeating: ".", count: before)
    #expect(Self.text(buffer) == "\(dots)x-name: some value\r\nte: \r\nhost: a.example\r\n")
  }
}
