import Bytes
import EventLoops
import HTTPModel

/// `X-Forwarded-For`: addresses with commas between them, the client first, each proxy adding who asked it.
enum ForwardedForList {
  /// Stops beyond which nobody is asked who came before.
  static let mostStops = 64

  /// Walks from the right as long as the stops are trusted: each was added by the one to its right.
  ///
  /// - Parameter peer: who sent the request; trusted.
  static func client(in fields: FieldBlock, from peer: SocketAddress, _ plan: ListenerPlan) -> ForwardedClient {
    var result = ForwardedClient(address: peer)
    var stops = 0
    for field in fields.indices.reversed() {
      let entry = fields.entry(at: field)
      guard entry.name == .xForwardedFor, !entry.isRemoved else { continue }
      let isOver = fields.withValue(at: field) { value in
        var end = value.count
        while true {
          var start = end
          while start > 0, value[start - 1] != UInt8(ascii: ",") { start -= 1 }
          let element = trimmed(value, start..<end)
          if !element.isEmpty {
            stops += 1
            guard stops <= mostStops, let address = ForwardedNode.address(value.extracting(element)) else {
              return true
            }
            result = ForwardedClient(
              address: address, place: ForwardedPlace(field: field, offset: element.lowerBound))
            if !plan.trusts(address) { return true }
          }
          if start == 0 { return false }
          end = start - 1
        }
      }
      if isOver { break }
    }
    return result
  }

  static func trimmed(_ value: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, isBlank(value[start]) { start += 1 }
    while end > start, isBlank(value[end - 1]) { end -= 1 }
    return start..<end
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
