import Bytes

/// The program that a User-Agent names (RFC 9110 section 10.1.5): where its name and version stand.
///
/// Of apps and libraries that is the first product (`okhttp/4.9.1`, `PivotApp/5.2 (iPhone; …)`). Browsers begin with
/// `Mozilla/5.0` for old times' sake; of them it is the app whose web view it is, else the browser itself, whose
/// version is cut to its first number: others change weekly.
package struct AgentProduct: Equatable, Sendable {
  package private(set) var name: Range<Int>
  /// Empty when there is none.
  package private(set) var version: Range<Int>

  /// - Parameter text: of the whole field. It may be anything.
  package init(_ text: Span<UInt8>) {
    var products = Products(text)
    guard let first = products.next() else {
      self.init(name: 0..<0, version: 0..<0)
      return
    }
    self = first
    guard Self.equals(text, first.name, "Mozilla") else { return }
    var best = 0
    while let product = products.next() {
      let rank = Self.rank(of: product, in: text)
      guard rank > 0, rank >= best else { continue }
      best = rank
      self = product
    }
    if (1..<Self.ofApp).contains(best) { version = Self.firstNumber(of: version, in: text) }
  }

  private init(name: Range<Int>, version: Range<Int>) {
    self.name = name
    self.version = version
  }

  private static let ofApp = 4

  /// What says most about who it is: an app, a browser that names others besides, one that others name.
  private static func rank(of product: AgentProduct, in text: Span<UInt8>) -> Int {
    if product.version.isEmpty { return 0 }
    for word: StaticString in ["AppleWebKit", "Gecko", "Version", "Mobile"] where equals(text, product.name, word) {
      return 0
    }
    if equals(text, product.name, "Safari") { return 1 }
    for word: StaticString in ["Chrome", "HeadlessChrome", "Firefox"] where equals(text, product.name, word) {
      return 2
    }
    for word: StaticString in ["Edg", "EdgA", "EdgiOS", "OPR", "CriOS", "FxiOS", "SamsungBrowser"]
    where equals(text, product.name, word) {
      return 3
    }
    return ofApp
  }

  private static func equals(_ text: Span<UInt8>, _ range: Range<Int>, _ word: StaticString) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    return word.withUTF8Buffer { word in (0..<range.count).allSatisfy { text[range.lowerBound + $0] == word[$0] } }
  }

  private static func firstNumber(of range: Range<Int>, in text: Span<UInt8>) -> Range<Int> {
    var end = range.lowerBound
    while end < range.upperBound, text[end] != UInt8(ascii: ".") { end += 1 }
    return range.lowerBound..<end
  }

  /// The products of a field, without what stands in parentheses.
  private struct Products: ~Escapable {
    private let text: Span<UInt8>
    private var index = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { self.text = text }

    mutating func next() -> AgentProduct? {
      var depth = 0
      while index < text.count {
        switch text[index] {
        case UInt8(ascii: "("): depth += 1
        case UInt8(ascii: ")"): depth = max(0, depth - 1)
        case UInt8(ascii: " "), UInt8(ascii: "\t"): break
        default:
          if depth == 0 { return product() }
        }
        index += 1
      }
      return nil
    }

    private mutating func product() -> AgentProduct {
      let name = run(endingAt: UInt8(ascii: "/"))
      guard index < text.count, text[index] == UInt8(ascii: "/") else {
        return AgentProduct(name: name, version: index..<index)
      }
      index += 1
      return AgentProduct(name: name, version: run(endingAt: UInt8(ascii: "(")))
    }

    /// To a blank, a parenthesis, or one byte more.
    private mutating func run(endingAt end: UInt8) -> Range<Int> {
      let start = index
      while index < text.count {
        switch text[index] {
        case end, UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "("), UInt8(ascii: ")"): return start..<index
        default: index += 1
        }
      }
      return start..<index
    }
  }
}
