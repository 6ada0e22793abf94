import Bytes
import HTTPModel

/// Cookies of a request (RFC 6265 section 4.2); over HTTP/2 they may come in several fields.
enum CookieFields {
  /// The value of the first cookie of a name, without the quotes around it.
  static func value(of name: [UInt8], in fields: FieldBlock) -> [UInt8]? {
    var next = fields.firstIndex(of: .cookie)
    while let index = next {
      let found = fields.withValue(at: index) { text -> [UInt8]? in
        for pair in pairs(text) where isNamed(name, text, pair) {
          var value = pair.lowerBound + name.count + 1..<pair.upperBound
          if value.count >= 2, text[value.lowerBound] == quote, text[value.upperBound - 1] == quote {
            value = value.lowerBound + 1..<value.upperBound - 1
          }
          return value.map { text[$0] }
        }
        return nil
      }
      if let found { return found }
      next = fields.nextIndex(of: .cookie, from: index + 1)
    }
    return nil
  }

  /// Takes all cookies of a name away.
  static func remove(_ name: [UInt8], from fields: FieldBlock) {
    var next = fields.firstIndex(of: .cookie)
    var rewritten: [[UInt8]] = []
    while let index = next {
      next = fields.nextIndex(of: .cookie, from: index + 1)
      let kept = fields.withValue(at: index) { text -> [UInt8]? in
        let all = pairs(text)
        let kept = all.filter { !isNamed(name, text, $0) }
        if kept.count == all.count { return nil }
        return Array(kept.map { pair in pair.map { text[$0] } }.joined(separator: Array("; ".utf8)))
      }
      guard let kept else { continue }
      fields.remove(at: index)
      if !kept.isEmpty { rewritten.append(kept) }
    }
    for value in rewritten { fields.append(.cookie, value.span) }
  }

  private static let quote = UInt8(ascii: "\"")

  private static func pairs(_ text: Span<UInt8>) -> [Range<Int>] {
    var pairs: [Range<Int>] = []
    var start = 0
    while start < text.count {
      while start < text.count, text[start] == UInt8(ascii: " ") { start += 1 }
      var end = start
      while end < text.count, text[end] != UInt8(ascii: ";") { end += 1 }
      if end > start { pairs.append(start..<end) }
      start = end + 1
    }
    return pairs
  }

  private static func isNamed(_ name: [UInt8], _ text: Span<UInt8>, _ pair: Range<Int>) -> Bool {
    guard pair.count > name.count, text[pair.lowerBound + name.count] == UInt8(ascii: "=") else { return false }
    return ASCII.equal(text.extracting(pair.lowerBound..<pair.lowerBound + name.count), name.span)
  }
}
