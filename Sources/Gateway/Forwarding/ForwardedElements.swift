import Bytes
import EventLoops
import HTTPModel

/// `Forwarded` (RFC 7239): elements with commas between them, each of parameters: `for=192.0.2.1;proto=https`.
enum ForwardedElements {
  private struct Element {
    var place: ForwardedPlace
    var address: SocketAddress?
  }

  /// As ``ForwardedForList/client(in:from:_:)``. A field that breaks the syntax ends the chain.
  static func client(in fields: FieldBlock, from peer: SocketAddress, _ plan: ListenerPlan) -> ForwardedClient {
    var result = ForwardedClient(address: peer)
    var stops = 0
    for field in fields.indices.reversed() {
      let entry = fields.entry(at: field)
      guard entry.name == .forwarded, !entry.isRemoved else { continue }
      // Quoted commas are found from the left only.
      guard let elements = fields.withValue(at: field, { Self.elements(of: $0, in: field) }) else { return result }
      for element in elements.reversed() {
        stops += 1
        guard stops <= ForwardedForList.mostStops, let address = element.address else { return result }
        result = ForwardedClient(address: address, place: element.place)
        if !plan.trusts(address) { return result }
      }
    }
    return result
  }

  /// Nil when the value breaks the syntax.
  private static func elements(of value: Span<UInt8>, in field: Int) -> [Element]? {
    var elements: [Element] = []
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
      let range = ForwardedForList.trimmed(value, start..<at)
      at += 1
      if range.isEmpty { continue }
      let place = ForwardedPlace(field: field, offset: range.lowerBound)
      elements.append(Element(place: place, address: forAddress(value.extracting(range))))
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
        let pair = ForwardedForList.trimmed(element, start..<at)
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
