import HTTPModel
import Testing

@testable import HTTP1

/// The vector scans against the same question asked byte by byte.
@Suite("Scans")
struct ByteScanTests {
  @Test("each byte at each place of a vector stops a scan exactly when it does not belong")
  func everyByteEverywhere() {
    for length in [1, 15, 16, 17, 33, 48] {
      var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
      for place in 0..<length {
        for byte in UInt8.min ... .max {
          bytes[place] = byte
          let token = FieldSyntax.isTokenByte(byte)
          let value = FieldSyntax.isValueByte(byte)
          let target = byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "?")
          let agrees =
            ByteScan.token(bytes.span, from: 0) == (token ? length : place)
            && ByteScan.value(bytes.span, from: 0) == (value ? length : place)
            && ByteScan.target(bytes.span, from: 0) == (target ? length : place)
          if !agrees { Issue.record("byte \(byte) at \(place) of \(length)") }
        }
        bytes[place] = UInt8(ascii: "a")
      }
    }
  }

  @Test("a scan starts where it is told to")
  func start() {
    let bytes = Array("a:0123456789012345678:".utf8)
    #expect(ByteScan.token(bytes.span, from: 2) == 21)
    #expect(ByteScan.token(bytes.span, from: 22) == 22)
  }
}
