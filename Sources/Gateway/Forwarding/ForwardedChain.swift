import Bytes
import EventLoops
import HTTPModel

/// The way of a request over proxies, as lists of either form tell it: the client first, each proxy adding who asked it.
enum ForwardedChain {
  /// How one form's list is read.
  protocol Form {
    static var name: FieldName { get }

    /// Calls the body with each stop of one field's value from the right: where in the value it begins, and its address;
    /// nil where it names none.
    ///
    /// - Returns: false when the body did, or when the value breaks the syntax.
    static func stops(in value: Span<UInt8>, _ body: (_ offset: Int, _ address: SocketAddress?) -> Bool) -> Bool
  }

  /// Stops beyond which nobody is asked who came before.
  static let mostStops = 64

  /// Walks from the right as long as the stops are trusted: each was added by the one to its right.
  ///
  /// - Parameter peer: who sent the request; trusted.
  static func client<F: Form>(
    in fields: FieldBlock, _ form: F.Type, from peer: SocketAddress, _ plan: ListenerPlan
  ) -> ForwardedClient {
    var result = ForwardedClient(address: peer)
    var stops = 0
    for field in fields.indices.reversed() {
      let entry = fields.entry(at: field)
      guard entry.name == form.name, !entry.isRemoved else { continue }
      let goesOn = fields.withValue(at: field) { value in
        form.stops(in: value) { offset, address in
          stops += 1
          guard stops <= mostStops, let address else { return false }
          result = ForwardedClient(address: address, place: ForwardedPlace(field: field, offset: offset))
          return plan.trusts(address)
        }
      }
      if !goesOn { break }
    }
    return result
  }

  /// Without the blanks around it.
  static func trimmed(_ value: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, isBlank(value[start]) { start += 1 }
    while end > start, isBlank(value[end - 1]) { end -= 1 }
    return start..<end
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}

/// `X-Forwarded-For`: addresses with commas between them.
enum ForwardedForList: ForwardedChain.Form {
  static var name: FieldName { .xForwardedFor }

  static func stops(in value: Span<UInt8>, _ body: (_ offset: Int, _ address: SocketAddress?) -> Bool) -> Bool {
    var end = value.count
    while true {
      var start = end
      while start > 0, value[start - 1] != UInt8(ascii: ",") { start -= 1 }
      let element = ForwardedChain.trimmed(value, start..<end)
      if !element.isEmpty, !body(element.lowerBound, ForwardedNode.address(value.extracting(element))) { return false }
      if start == 0 { return true }
      end = start - 1
    }
  }
}
