import Bytes
public import HTTPModel

/// How the end of a message body is told.
public enum BodyFraming: Equatable, Sendable {
  /// There is no body.
  case none
  /// So many bytes; 0 too.
  case length(Int)
  case chunked
  /// Whatever comes until the connection is closed; responses only.
  case untilClose

  /// Written out: what the compiler would make is called through a table from other modules.
  public static func == (left: BodyFraming, right: BodyFraming) -> Bool {
    switch (left, right) {
    case (.none, .none), (.chunked, .chunked), (.untilClose, .untilClose): true
    case (.length(let left), .length(let right)): left == right
    default: false
    }
  }
}

/// Tells the framing of a body from its head (RFC 9112 section 6.3).
///
/// Look at the head before ``HopByHop/remove(from:)``, which takes the framing fields away.
public enum MessageFraming {
  public static func ofRequest(_ head: RequestHead) throws(HTTP1Error) -> BodyFraming {
    try explicit(head.fields, head.version) ?? .none
  }

  /// - Parameter method: that of the request that is answered.
  public static func ofResponse(_ head: ResponseHead, to method: HTTPMethod) throws(HTTP1Error) -> BodyFraming {
    if method == .head || head.isInformational || head.status == 204 || head.status == 304 { return .none }
    if method == .connect, head.status >= 200, head.status < 300 { return .none }
    return try explicit(head.fields, head.version) ?? .untilClose
  }

  /// What Transfer-Encoding or Content-Length say.
  private static func explicit(_ fields: FieldBlock, _ version: HTTPVersion) throws(HTTP1Error) -> BodyFraming? {
    let length = try contentLength(fields)
    guard fields.contains(.transferEncoding) else { return length.map { .length($0) } }
    guard version != .http10 else { throw HTTP1Error(.transferEncodingInHTTP10) }
    // RFC 9112 lets Transfer-Encoding win; the two together are an attempt to smuggle, or broken.
    guard length == nil else { throw HTTP1Error(.lengthWithTransferEncoding) }
    try checkTransferEncoding(fields)
    return .chunked
  }

  /// One length, however often it is repeated; without sign and leading zeros, which others read in other ways.
  private static func contentLength(_ fields: FieldBlock) throws(HTTP1Error) -> Int? {
    var length: Int?
    var next = fields.firstIndex(of: .contentLength)
    while let index = next {
      next = fields.nextIndex(of: .contentLength, from: index &+ 1)
      try fields.withValue(at: index) { value throws(HTTP1Error) in
        try HeaderList.forEach(value) { element throws(HTTP1Error) in
          guard let number = ASCII.decimal(element), element.count == 1 || element[0] != UInt8(ascii: "0") else {
            throw HTTP1Error(.invalidContentLength)
          }
          if let length, length != number { throw HTTP1Error(.differingContentLengths) }
          length = number
        }
      }
    }
    return length
  }

  /// Passes `chunked` alone. A coding that is not known here is named as such only when `chunked` is last, or nowhere.
  private static func checkTransferEncoding(_ fields: FieldBlock) throws(HTTP1Error) {
    var others = false
    var isChunked = false
    for index in fields.indices where fields.entry(at: index).name == .transferEncoding {
      guard !fields.entry(at: index).isRemoved else { continue }
      try fields.withValue(at: index) { value throws(HTTP1Error) in
        try HeaderList.forEach(value) { coding throws(HTTP1Error) in
          guard FieldSyntax.isToken(coding), !isChunked else { throw HTTP1Error(.invalidTransferEncoding) }
          if ASCII.equalIgnoringCase(coding, "chunked") { isChunked = true } else { others = true }
        }
      }
    }
    if others { throw HTTP1Error(.unsupportedTransferCoding) }
  }
}
