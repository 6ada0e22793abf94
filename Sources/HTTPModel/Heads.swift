public import Bytes

/// The head of a request: method, target, fields. Reused from request to request.
///
/// What others see is computed from variables of this module, which counts itself who reads and who changes them: see
/// the package's manifest.
public final class RequestHead {
  public var method: HTTPMethod {
    get { requestMethod }
    set { requestMethod = newValue }
  }
  public var version: HTTPVersion {
    get { requestVersion }
    set { requestVersion = newValue }
  }
  /// The request target as it was sent, in origin form: `/path?query`, or `*`. An absolute form's scheme and
  /// authority are taken off by the parser; the authority is then the ``authority``.
  public var target: ByteBuffer {
    _read {
      targetLoans.lend()
      defer { targetLoans.giveBack() }
      yield targetBytes
    }
    _modify {
      targetLoans.take()
      defer { targetLoans.giveAll() }
      yield &targetBytes
    }
  }
  /// Offset of the `?` in ``target``, or its length.
  public var pathEnd: Int {
    get { targetPathEnd }
    set { targetPathEnd = newValue }
  }
  /// The authority that the request is for: that of an absolute form or `:authority`, else the Host field. Lower
  /// case, port included if given; empty for an HTTP/1.0 request without Host.
  public var authority: ByteBuffer {
    _read {
      authorityLoans.lend()
      defer { authorityLoans.giveBack() }
      yield authorityBytes
    }
    _modify {
      authorityLoans.take()
      defer { authorityLoans.giveAll() }
      yield &authorityBytes
    }
  }
  public let fields = FieldBlock()

  private var requestMethod: HTTPMethod = .get
  private var requestVersion: HTTPVersion = .http11
  private var targetBytes = ByteBuffer()
  private var targetPathEnd = 0
  private var authorityBytes = ByteBuffer()
  private var targetLoans = Loans()
  private var authorityLoans = Loans()

  public init() {}

  public func removeAll() {
    method = .get
    version = .http11
    target.removeAll()
    authority.removeAll()
    pathEnd = 0
    fields.removeAll()
  }

  /// Calls the body with the path, not decoded.
  public func withPath<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    try target.withSpan(0..<pathEnd, body)
  }

  /// Calls the body with the query without its `?`, not decoded; empty when there is none.
  public func withQuery<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    try target.withSpan(min(pathEnd + 1, target.count)..<target.count, body)
  }

  public var targetText: String { target.withSpan { String(repairing: $0) } }
}

/// The head of a response. Reused.
public final class ResponseHead {
  public var status: Int {
    get { statusCode }
    set { statusCode = newValue }
  }
  public var version: HTTPVersion {
    get { responseVersion }
    set { responseVersion = newValue }
  }
  public let fields = FieldBlock()

  private var statusCode = 0
  private var responseVersion: HTTPVersion = .http11

  public init() {}

  public func removeAll() {
    status = 0
    version = .http11
    fields.removeAll()
  }

  /// A head of its own with the same content, for who needs it for longer than its connection does.
  public func copy() -> ResponseHead {
    let copy = ResponseHead()
    copy.status = status
    copy.version = version
    copy.fields.append(contentsOf: fields)
    return copy
  }

  /// An interim response (RFC 9110 section 15.2): another head follows.
  public var isInformational: Bool { status >= 100 && status < 200 }
}
