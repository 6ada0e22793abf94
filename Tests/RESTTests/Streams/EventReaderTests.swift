import Bytes
import REST
import RPC
import Testing

@Suite("Server-sent events of REST services")
struct EventReaderTests {
  private func read(_ pieces: [ArraySlice<UInt8>], maximum: Int) -> [String] {
    var reader = EventReader(maximumMessage: maximum)
    var input = ByteBuffer()
    var found: [String] = []
    do throws(RPCError) {
      for (index, piece) in pieces.enumerated() {
        input.append(Array(piece))
        var isWaiting = false
        while !isWaiting {
          switch try reader.next(&input, isLast: index == pieces.count - 1) {
          case .needsMore: isWaiting = true
          case .message: found.append(reader.data.withSpan { String(repairing: $0) })
          case .error: return found + ["error \(reader.data.withSpan { String(repairing: $0) })"]
          case .end:
            // What follows an end is nothing.
            #expect(input.count == 0)
            guard index == pieces.count - 1 else {
              isWaiting = true
              continue
            }
            return found + ["end"]
          }
        }
      }
      return found + ["no end"]
    } catch {
      return found + ["\(error.code.name)"]
    }
  }

  private func check(
    _ body: String, _ expected: [String], maximum: Int = 100, _ place: SourceLocation = #_sourceLocation
  ) {
    let bytes = Array(body.utf8)
    for cut in 0...bytes.count {
      let found = read([bytes[..<cut], bytes[cut...]], maximum: maximum)
      #expect(found == expected, "\(body) cut at \(cut)", sourceLocation: place)
    }
    #expect(
      read(bytes.indices.map { bytes[$0...$0] } + [[]], maximum: maximum) == expected, "\(body) byte by byte",
      sourceLocation: place)
  }

  @Test func messages() {
    check("", ["end"])
    check("data: {}\n\n", ["{}", "end"])
    check("data:{}\n\ndata:  {}\n\n", ["{}", " {}", "end"])
    check("data: a\ndata: b\ndata:c\n\n", ["a\nb\nc", "end"])
    check("id: 1\nevent: tick\nretry: 5\ndata: x\nother: y\n\n", ["x", "end"])
  }

  @Test func lineEnds() {
    for end in ["\n", "\r\n", "\r"] {
      check("data: a\(end)data: b\(end)\(end)data: c\(end)\(end)", ["a\nb", "c", "end"])
    }
    check("data: a\r\rdata: b\n\r\n", ["a", "b", "end"])
  }

  @Test func whatIsNoMessage() {
    check(": hello\n\n: and on\n\n", ["end"])
    check("data\n\ndata:\n\nevent: ping\n\n", ["end"])
    check("event: ping\ndata:\n\ndata: x\n\n", ["x", "end"])
    check("\u{FEFF}data: x\n\n", ["x", "end"])
    check("Data: x\nxdata: y\ndata : z\n\n", ["end"])
    check("\n\n\r\n", ["end"])
    // A comment may be cut: it says nothing.
    check("data: x\n\n: bye", ["x", "end"])
  }

  @Test func ends() {
    check("data: x\n\nevent: end\ndata: {}\n\ndata: y\n\n", ["x", "end"])
    check("data: x\n\nevent: end\n\n", ["x", "end"])
    check("data: x\n\ndata: [DONE]\n\nrest", ["x", "end"])
  }

  @Test func errors() {
    check("data: x\n\nevent: error\ndata: {\"code\":5}\n\n", ["x", "error {\"code\":5}"])
    check("data: a\nevent: error\n\n", ["error a"])
    check("event: error\n\n", ["error "])
    // The name of the last line counts, and of this event only.
    check("event: error\nevent: line\ndata: a\n\n", ["a", "end"])
  }

  @Test func aStreamThatEndsInsideAnEvent() {
    for rest in ["data: y\n", "data: y", "dat", "event: error\n", "event: end"] {
      check("data: x\n\n" + rest, ["x", "internal"])
    }
  }

  @Test func theLimit() {
    check("data: 12345678\n\n", ["12345678", "end"], maximum: 8)
    check("data: 123456789\n\n", ["resource_exhausted"], maximum: 8)
    check("data: 1234\ndata: 567\n\n", ["1234\n567", "end"], maximum: 8)
    check("data: 1234\ndata: 5678\n\n", ["resource_exhausted"], maximum: 8)
    // Seen before the line is there, whatever it is.
    #expect(read([Array("data: 123456789"[...].utf8)[...], []], maximum: 8) == ["resource_exhausted"])
    #expect(read([Array(String(repeating: ":", count: 50).utf8)[...], []], maximum: 8) == ["resource_exhausted"])
  }
}
