import Bytes
import Testing

@Suite("UTF-8 validation")
struct UTF8ValidationTests {
  /// What the standard library says: nil when it repaired nothing.
  static func isValid(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

  @Test("agrees with the standard library on all sequences of two bytes, and on three and four near the borders")
  func agrees() {
    let border: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
      0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ]
    var wrong: [[UInt8]] = []
    for first in UInt8.min ... .max {
      for second in UInt8.min ... .max {
        let bytes = [first, second]
        if UTF8Validation.isValid(bytes.span) != Self.isValid(bytes) { wrong.append(bytes) }
      }
    }
    for first in border where first > 0x7F {
      for second in border {
        for third in border {
          for fourth in border {
            let bytes = [first, second, third, fourth]
            if UTF8Validation.isValid(bytes.span) != Self.isValid(bytes) { wrong.append(bytes) }
          }
        }
      }
    }
    #expect(wrong == [])
  }

  @Test("the first bad byte is found behind any length of good ones")
  func offsets() {
    for length in 0..<40 {
      let good = [UInt8](repeating: UInt8(ascii: "a"), count: length)
      #expect(UTF8Validation.firstInvalid(good.span) == nil)
      #expect(UTF8Validation.firstInvalid((good + [0xC3]).span) == length)
      #expect(UTF8Validation.firstInvalid((good + [0xC3, 0xA4]).span) == nil)
      #expect(UTF8Validation.firstInvalid((good + [0xE2, 0x82]).span) == length)
      #expect(UTF8Validation.firstInvalid((good + [0xE2, 0x82, 0xAC] + good + [0x80]).span) == length * 2 + 3)
    }
  }

  @Test("agrees on characters of all lengths at all places of a word, whole and cut")
  func mixtures() {
    let parts: [[UInt8]] = [
      [0x61], [0xC3, 0xA4], [0xE2, 0x98, 0x85], [0xF0, 0x9F, 0x9A, 0x82], [0xE2, 0x98], [0xF0, 0x9F, 0x9A], [0x85], [0],
    ]
    var wrong: [[UInt8]] = []
    for length in 0..<18 {
      let front = [UInt8](repeating: UInt8(ascii: "a"), count: length)
      for first in parts {
        for second in parts {
          for third in parts {
            for end in [0, 1, 9] {
              let bytes = front + first + second + third + [UInt8](repeating: UInt8(ascii: "z"), count: end)
              if UTF8Validation.isValid(bytes.span) != Self.isValid(bytes) { wrong.append(bytes) }
            }
          }
        }
      }
    }
    #expect(wrong == [])
  }
}
