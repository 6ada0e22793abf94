import Testing

@testable import Gateway

@Suite struct OriginPatternTests {
  private static func matches(_ pattern: String, _ origin: String) -> Bool {
    OriginPattern(pattern).matches(Array(origin.utf8).span)
  }

  @Test(
    arguments: [
      ("https://*.example.com", "https://app.example.com"), ("https://*.example.com", "https://a.b.example.com"),
      ("https://*.example.com:8443", "https://app.example.com:8443"),
      ("https://*-team.example.com", "https://pr-7-team.example.com"), ("http://localhost:*", "http://localhost:3000"),
      ("http://*.localhost:*", "http://app.localhost:1"), ("https://a*-b*.example.com", "https://ax-bx-by.example.com"),
      ("https://*-*.example.com", "https://a-b.example.com"),
    ])
  func whatIsMeant(pattern: String, origin: String) { #expect(Self.matches(pattern, origin)) }

  @Test(
    arguments: [
      ("https://*.example.com", "https://example.com"), ("https://*.example.com", "https://.example.com"),
      ("https://*.example.com", "http://app.example.com"), ("https://*.example.com", "https://app.example.com:8443"),
      ("https://*.example.com", "https://app.example.com.evil.test"),
      ("https://*.example.com", "https://evil.test/.example.com"),
      ("https://*.example.com", "https://evil.test:1.example.com"),
      ("https://*.example.com", "https://user@app.example.com"),
      ("https://*.example.com", "https://evil.test?.example.com"),
      ("https://*.example.com", "https://appXexample.com"), ("https://*.example.com", "https://app.example.com "),
      ("https://*.example.com", " https://app.example.com"), ("https://*.example.com", "https://app.EXAMPLE.com"),
      ("https://*.example.com", ""), ("http://localhost:*", "http://localhost"),
      ("http://localhost:*", "http://localhost:"), ("http://localhost:*", "http://localhost:3000x"),
      ("http://localhost:*", "http://localhost:1:2"), ("https://*-*.example.com", "https://ab.example.com"),
      ("https://*-*.example.com", "https://a-.example.com"),
    ])
  func whatIsNot(pattern: String, origin: String) { #expect(!Self.matches(pattern, origin)) }

  /// The longest origins against the worst pattern take no more steps than their product.
  @Test func longOnesAreQuick() {
    let pattern = "https://*a*a*a*a.example.com"
    #expect(!Self.matches(pattern, "https://" + String(repeating: "a", count: 290) + ".example.org"))
    #expect(!Self.matches(pattern, "https://" + String(repeating: "a", count: 100_000) + ".example.com"))
  }
}
