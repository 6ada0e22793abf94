import Bytes
import HTTPModel

/// The forms of a request target other than a path (RFC 9112 section 3.2).
enum RequestTarget {
  /// Takes `*`, and an absolute form apart into the head's authority and an origin form.
  static func read(_ target: Span<UInt8>, into head: RequestHead) throws(HTTP1Error) {
    if ASCII.equal(target, "*") {
      guard head.method == .options else { throw HTTP1Error(.asteriskTarget) }
      head.target.append(target)
      head.pathEnd = 1
      return
    }
    guard let start = schemeLength(target) else { throw HTTP1Error(.targetWithoutSlash) }
    var end = start
    while end < target.count, target[end] != UInt8(ascii: "/"), target[end] != UInt8(ascii: "?") { end &+= 1 }
    guard Authority.append(target.extracting(start..<end), to: &head.authority) else {
      throw HTTP1Error(.invalidHost)
    }
    if end == target.count, head.method == .options {
      // RFC 9112 section 3.2.4: an OPTIONS for the server as a whole.
      head.target.append("*")
    } else {
      if end == target.count || target[end] != UInt8(ascii: "/") { head.target.append("/") }
      head.target.append(target.extracting(end..<target.count))
    }
    head.pathEnd = head.target.withSpan { origin in
      for index in origin.indices where origin[index] == UInt8(ascii: "?") { return index }
      return origin.count
    }
  }

  /// The length of `http://` or `https://` at the front.
  private static func schemeLength(_ target: Span<UInt8>) -> Int? {
    if target.count >= 7, ASCII.equalIgnoringCase(target.extracting(0..<7), "http://") { return 7 }
    if target.count >= 8, ASCII.equalIgnoringCase(target.extracting(0..<8), "https://") { return 8 }
    return nil
  }
}
