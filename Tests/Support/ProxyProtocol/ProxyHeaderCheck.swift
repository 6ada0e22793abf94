import Bytes
import ProxyProtocol

/// What must hold of any bytes that a connection may begin with.
package enum ProxyHeaderCheck {
  /// The first property that does not hold.
  package static func fault(_ bytes: [UInt8]) -> String? {
    let whole = ProxyHeader.read(bytes.span)
    if let fault = fault(of: whole, bytes.count) { return fault }
    // As the bytes come: what was decided stands, and so many bytes as were asked for let it go on.
    var wanted = 0
    var count = 0
    while count < bytes.count {
      count = wanted > count && wanted <= bytes.count ? wanted : count + 1
      let outcome = ProxyHeader.read(bytes.span.extracting(first: count))
      if let fault = fault(of: outcome, count) { return "of \(count) bytes: \(fault)" }
      if case .needsMore(let more) = outcome {
        wanted = more
      } else {
        return outcome == whole ? nil : "\(count) bytes are \(outcome), all are \(whole)"
      }
    }
    return nil
  }

  private static func fault(of outcome: ProxyHeader.Outcome, _ count: Int) -> String? {
    switch outcome {
    case .absent: nil
    case .malformed(let reason): reason.isEmpty ? "malformed without a reason" : nil
    case .needsMore(let more):
      more > count && more <= ProxyHeader.maximumLength ? nil : "\(more) bytes are wanted where there are \(count)"
    case .header(let header): fault(of: header, count)
    }
  }

  private static func fault(of header: ProxyHeader, _ count: Int) -> String? {
    guard header.length <= count, header.length > 0 else { return "a header of \(header.length) in \(count) bytes" }
    guard case .client(let source, let destination) = header.origin else { return nil }
    let lengths = [source.address.count, destination.address.count]
    return lengths == [4, 4] || lengths == [16, 16] ? nil : "addresses of \(lengths) bytes"
  }
}
