import Bytes
import HTTPModel

/// What must hold for a head as a whole.
enum HeadRules {
  /// One valid Host field (RFC 9112 section 3.2); sets the head's authority.
  ///
  /// The authority of an absolute form counts in place of what Host says (section 3.2.2). A Host that says otherwise is
  /// replaced by it, so that nobody behind this can read another authority out of the same head.
  static func check(_ head: RequestHead) throws(HTTP1Error) {
    try checkConnection(head.fields)
    guard let host = head.fields.firstIndex(of: .host) else {
      guard head.version == .http10 else { throw HTTP1Error(.missingHost) }
      return
    }
    guard head.fields.nextIndex(of: .host, from: host &+ 1) == nil else { throw HTTP1Error(.duplicateHost) }
    let agrees = try head.fields.withValue(at: host) { value throws(HTTP1Error) in
      if head.authority.isEmpty {
        guard Authority.append(value, to: &head.authority) else { throw HTTP1Error(.invalidHost) }
        return true
      }
      var named = ByteBuffer()
      guard Authority.append(value, to: &named) else { throw HTTP1Error(.invalidHost) }
      return head.authority.withSpan { authority in ASCII.equal(authority, named.span) }
    }
    guard !agrees else { return }
    head.fields.remove(at: host)
    head.authority.withSpan { head.fields.append(.host, $0) }
  }

  /// Bounds the work of removing what Connection names: options times fields.
  static func checkConnection(_ fields: FieldBlock) throws(HTTP1Error) {
    guard fields.mayContain(FieldNames(.connection)) else { return }
    var options = 0
    for index in fields.indices where fields.entry(at: index).name == .connection {
      fields.withValue(at: index) { value in
        HeaderList.forEach(value) { _ in options &+= 1 }
      }
    }
    guard options <= HeadLimits.maximumConnectionOptions else { throw HTTP1Error(.tooManyConnectionOptions) }
  }
}
