package import Bytes

/// The head of a request: method, target, fields. Reused from request to request.
package final class RequestHead {
  package var method: HTTPMethod = .get
  package var version: HTTPVersion = .http11
  /// The request target as it was sent, in origin form: `/path?query`, or `*`. An absolute form's scheme and
  /// authority are taken off by the parser; the authority is then the ``authority``.
  package var target = ByteBuffer()
  /// Offset of the `?` in ``target``, or its length.
  package var pathEnd = 0
  /// The authority that the request is for: that of an absolute form or `:authority`, else the Host field. Lower
  /// case, port included if given; empty for an HTTP/1.0 request without Host.
  package var authority = ByteBuffer()
  package let fields = FieldBlock()
  /// How many bodies read the target at present.
  private var loans = 0

  package init() {}

  package func removeAll() {
    precondition(loans == 0, "a head was cleared while its target was read")
    method = .get
    version = .http11
    target.removeAll()
    authority.removeAll()
    pathEnd = 0
    fields.removeAll()
  }

  /// Calls the body with the path, not decoded.
  package func withPath<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    loans &+= 1
    defer { loans &-= 1 }
    return try target.withSpan(0..<pathEnd, body)
  }

  /// Calls the body with the query without its `?`, not decoded; empty when there is none.
  package func withQuery<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    loans &+= 1
    defer { loans &-= 1 }
    return try target.withSpan(min(pathEnd + 1, target.count)..<target.count, body)
  }

  package var targetText: String { target.withSpan { String(repairing: $0) } }
}

/// The head of a response. Reused.
package final class ResponseHead {
  package var status = 0
  package var version: HTTPVersion = .http11
  package let fields = FieldBlock()

  package init() {}

  package func removeAll() {
    status = 0
    version = .http11
    fields.removeAll()
  }

  /// An interim response (RFC 9110 section 15.2): another head follows.
  package var isInformational: Bool { status >= 100 && status < 200 }
}
