import Bytes
import EventLoops
import HTTPModel

/// `Forwarded` (RFC 7239): elements with commas between them, each of parameters: `for=192.0.2.1;proto=https`.
enum ForwardedElements: ForwardedChain.Form {
  static var name: FieldName { .forwarded }

  /// Quoted commas are found from the left only, so that the stops are gathered first.
  static func stops(in value: Span<UInt8>, _ body: (_ offset: Int, _ address: SocketAddress?) -> Bool) -> Bool {
    guard let elements = elements(of: value) else { return false }
    for element in elements.reversed() {
      if !body(element.lowerBound, forAddress(value.extracting(element))) { return false }
    }
    return true
  }

  /// Nil when the value breaks the syntax.
  private static func elements(of value: Span<UInt8>) -> [Range<Int>]? {
    var elements: [Range<Int>] = []
    var at = 0
    while at < value.count {
      let start = at
      var isQuoted = false
      while at < value.count, isQuoted || value[at] != UInt8(ascii: ",") {
        if value[at] == UInt8(ascii: "\"") { isQuoted.toggle() }
        // An escape can only stand where none of our syntax does; who needs one in an address hides something.
        if value[at] == UInt8(ascii: "\\") { return nil }
        at += 1
      }
      if isQuoted { return nil }
      let range = ForwardedChain.trimmed(value, start..<at)
      at += 1
      if !range.isEmpty { elements.append(range) }
    }
    return elements
  }

  /// The address of the one `for` parameter.
  private static func forAddress(_ element: Span<UInt8>) -> SocketAddress? {
    var found: SocketAddress?
    var start = 0
    var at = 0
    var isQuoted = false
    while at <= element.count {
      if at < element.count, element[at] == UInt8(ascii: "\"") { isQuoted.toggle() }
      if at == element.count || !isQuoted && element[at] == UInt8(ascii: ";") {
        let pair = ForwardedChain.trimmed(element, start..<at)
        if pair.count > 4, ASCII.equalIgnoringCase(element.extracting(pair.lowerBound..<pair.lowerBound + 4), "for=") {
          if found != nil { return nil }
          found = ForwardedNode.address(element.extracting(unquoted(element, pair.lowerBound + 4..<pair.upperBound)))
          if found == nil { return nil }
        }
        start = at + 1
      }
      at += 1
    }
    return found
  }

  private static func unquoted(_ text: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    let quote = UInt8(ascii: "\"")
    guard range.count >= 2, text[range.lowerBound] == quote, text[range.upperBound - 1] == quote else { return range }
    return range.lowerBound + 1..<range.upperBound - 1
  }
}
