import RandomnessTestSupport
import Testing

@testable import Tokens

@Suite struct CacheTests {
  private let digester = TokenDigester()

  private func digest(_ text: String) throws -> TokenDigest {
    let made = digester.digest(Array(text.utf8).span)
    return try #require(made)
  }

  @Test func whatWasFoundOutIsKnownUntilItEnds() throws {
    var cache = TokenCache<Int>(limit: 10)
    let token = try digest("a")
    #expect(cache.value(for: token, generation: 1, at: 0) == nil)
    cache.insert(7, for: token, validUntil: 100, generation: 1)
    #expect(cache.value(for: token, generation: 1, at: 99.9) == 7)
    #expect(cache.value(for: try digest("b"), generation: 1, at: 0) == nil)
    #expect(cache.value(for: token, generation: 1, at: 100) == nil)
    #expect(cache.count == 0)
  }

  @Test func newKeysMakeItUnknown() throws {
    var cache = TokenCache<Int>(limit: 10)
    let token = try digest("a")
    cache.insert(7, for: token, validUntil: 100, generation: 1)
    #expect(cache.value(for: token, generation: 2, at: 0) == nil)
  }

  @Test func itHoldsNoMoreThanItMayAndKeepsWhatIsUsed() throws {
    var cache = TokenCache<Int>(limit: 100)
    let kept = try digest("kept")
    cache.insert(-1, for: kept, validUntil: 1000, generation: 0)
    for number in 0..<5000 {
      cache.insert(number, for: try digest("\(number)"), validUntil: 1000, generation: 0)
      #expect(cache.count <= 101)
      #expect(cache.value(for: kept, generation: 0, at: 0) == -1)
    }
    #expect(cache.value(for: try digest("4999"), generation: 0, at: 0) == 4999)
    #expect(cache.value(for: try digest("0"), generation: 0, at: 0) == nil)
  }
}
