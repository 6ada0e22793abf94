import Bytes
import Testing

@Suite("Secret comparison")
struct SecretComparisonTests {
  private func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool { SecretComparison.equal(left.span, right.span) }

  @Test("every bit of every byte counts, and the length")
  func everyBit() {
    let secret = Array("0123456789".utf8)
    #expect(equal(secret, secret))
    #expect(equal([], []))
    for index in secret.indices {
      for bit in 0..<8 {
        var other = secret
        other[index] ^= 1 << UInt8(bit)
        #expect(!equal(secret, other))
      }
    }
    #expect(!equal(secret, secret.dropLast()))
    #expect(!equal(secret, secret + [0]))
    #expect(!equal(secret, []))
  }
}
