import Migration
import RandomnessTestSupport
import Testing

@Suite struct AgentProductTests {
  private func read(_ text: [UInt8]) -> (name: String, version: String) {
    let product = AgentProduct(text.span)
    return (String(decoding: text[product.name], as: UTF8.self), String(decoding: text[product.version], as: UTF8.self))
  }

  @Test(arguments: [
    ("okhttp/4.9.1", "okhttp", "4.9.1"),
    ("PivotApp/5.2 (iPhone; iOS 17.1) CFNetwork/1485", "PivotApp", "5.2"),
    ("grpc-java-netty/1.60.0", "grpc-java-netty", "1.60.0"),
    ("connect-kotlin", "connect-kotlin", ""), ("  curl/8.5.0", "curl", "8.5.0"), ("", "", ""), ("   ", "", ""),
    ("(only a comment)", "", ""), ("a/b/c d", "a", "b/c"), ("App/ (x)", "App", ""), ("((((App/1", "", ""),
    (")))App/1", "App", "1"), ("/1", "", "1"),
  ])
  func takesTheFirstProduct(text: String, name: String, version: String) {
    #expect(read(Array(text.utf8)) == (name, version))
  }

  @Test(arguments: [
    (
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.86 Safari/537.36",
      "Chrome", "131"
    ),
    (
      "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2903.70",
      "Edg", "131"
    ),
    ("Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0", "Firefox", "133"),
    (
      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_1) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1",
      "Safari", "604"
    ),
    (
      "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 PivotApp/5.2.1", "PivotApp", "5.2.1"
    ),
    ("Mozilla/5.0 (compatible; Bot/2.1; +http://bot.example)", "Mozilla", "5.0"),
    ("Mozilla/5.0 (Windows NT 10.0; Trident/7.0; rv:11.0) like Gecko", "Mozilla", "5.0"),
  ])
  func seesThroughMozilla(text: String, name: String, version: String) {
    #expect(read(Array(text.utf8)) == (name, version))
  }

  @Test func anyBytesAreReadAndStayWithin() {
    var random = SeededGenerator(seed: 7)
    let alphabet = Array("Mozilla/5.0 ()\t Safari/1.2 \u{0}\u{7F}é".utf8)
    for _ in 0..<2000 {
      var text = Bool.random(using: &random) ? Array("Mozilla/5.0 ".utf8) : []
      for _ in 0..<Int.random(in: 0...60, using: &random) { text.append(alphabet.randomElement(using: &random) ?? 0) }
      let product = AgentProduct(text.span)
      for range in [product.name, product.version] { #expect(range.lowerBound >= 0 && range.upperBound <= text.count) }
      #expect(!text[product.name].contains(UInt8(ascii: " ")))
    }
  }
}
