/// Why a call ended without a message: the one form in which errors cross the hub.
///
/// Backends read their protocol's errors into it, faces write it in the caller's protocol, and every local refusal
/// (limits, no upstream, bad JSON) is one.
public struct RPCError: Error, Sendable {
  public var code: Code
  public var message: String
  public var details: [ErrorDetail]
  /// The status to answer over HTTP where it says more than the code does: 405, 413, 414, 415, 431. Nil: the code's.
  public var httpStatus: Int?
  /// Further response headers (`allow`, `accept-post`, `retry-after`), names in lower case.
  public var headers: [(name: String, value: String)]
  /// For the log only: an excerpt of what an upstream sent, an inner cause.
  public var logDetail: String
  /// What of a message does not fit its schema: of the client's request, or of an upstream's answer. Nil for all else,
  /// and for errors that upstreams sent.
  public var misfit: Misfit?

  /// A value that the schema does not allow.
  public struct Misfit: Sendable, Equatable {
    /// As it was spelt (`parcel.items[3].weightG`); empty for the whole.
    public var path: String
    public var reason: String

    public init(path: String, reason: String) {
      self.path = path
      self.reason = reason
    }
  }

  public init(
    _ code: Code, _ message: String, details: [ErrorDetail] = [], httpStatus: Int? = nil,
    headers: [(name: String, value: String)] = [], logDetail: String = "", misfit: Misfit? = nil
  ) {
    self.code = code
    self.message = message
    self.details = details
    self.httpStatus = httpStatus
    self.headers = headers
    self.logDetail = logDetail
    self.misfit = misfit
  }

  /// A client's fault in one field, with a `google.rpc.BadRequest` detail that names it.
  ///
  /// - Parameter field: the field's path as the client spelt it (`parcel.items[3].weightG`); empty for the whole body.
  public static func badRequest(field: String, _ description: String) -> RPCError {
    let message = field.isEmpty ? description : "\(field): \(description)"
    return RPCError(
      .invalidArgument, message,
      details: [ErrorDetail.badRequest([(field: field, description: description)])],
      misfit: Misfit(path: field, reason: description))
  }
}

/// One detail of an error: a message by its type's full name and its wire bytes.
public struct ErrorDetail: Sendable, Equatable {
  /// The full name without `type.googleapis.com/`.
  public var typeName: String
  public var value: [UInt8]

  public init(typeName: String, value: [UInt8]) {
    self.typeName = typeName
    self.value = value
  }

  /// `google.rpc.BadRequest`: repeated field_violations = 1 of {field = 1, description = 2}.
  public static func badRequest(_ violations: [(field: String, description: String)]) -> ErrorDetail {
    var value: [UInt8] = []
    for violation in violations {
      var inner: [UInt8] = []
      if !violation.field.isEmpty { appendString(1, violation.field, to: &inner) }
      appendString(2, violation.description, to: &inner)
      value.append(0x0A)
      appendVarint(inner.count, to: &value)
      value += inner
    }
    return ErrorDetail(typeName: "google.rpc.BadRequest", value: value)
  }

  /// `google.rpc.RetryInfo`: retry_delay = 1 of {seconds = 1, nanos = 2}.
  ///
  /// - Parameter nanoseconds: less than a second's.
  public static func retryInfo(seconds: UInt64, nanoseconds: UInt64) -> ErrorDetail {
    var delay: [UInt8] = []
    if seconds > 0 {
      delay.append(0x08)
      appendVarint(Int(clamping: seconds), to: &delay)
    }
    if nanoseconds > 0 {
      delay.append(0x10)
      appendVarint(Int(clamping: min(nanoseconds, 999_999_999)), to: &delay)
    }
    var value: [UInt8] = [0x0A]
    appendVarint(delay.count, to: &value)
    return ErrorDetail(typeName: "google.rpc.RetryInfo", value: value + delay)
  }

  /// `google.rpc.Help`: repeated links = 1 of {description = 1, url = 2}.
  public static func help(description: String, url: String) -> ErrorDetail {
    var link: [UInt8] = []
    appendString(1, description, to: &link)
    appendString(2, url, to: &link)
    var value: [UInt8] = [0x0A]
    appendVarint(link.count, to: &value)
    return ErrorDetail(typeName: "google.rpc.Help", value: value + link)
  }

  private static func appendString(_ number: UInt8, _ text: String, to bytes: inout [UInt8]) {
    bytes.append(number << 3 | 2)
    appendVarint(text.utf8.count, to: &bytes)
    bytes += text.utf8
  }

  private static func appendVarint(_ value: Int, to bytes: inout [UInt8]) {
    var rest = UInt(value)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
