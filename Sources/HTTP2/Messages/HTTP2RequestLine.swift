package import Bytes
package import HTTPModel

/// What a client's request has in place of a request line.
package struct HTTP2RequestLine: ~Copyable {
  package var method: HTTPMethod
  package var isSecure: Bool
  package var authority = ByteBuffer()
  package var target = ByteBuffer()

  /// Begins anew, with the memory kept.
  package mutating func reset(method: HTTPMethod, isSecure: Bool) {
    self.method = method
    self.isSecure = isSecure
    authority.removeAll()
    target.removeAll()
  }

  package init(method: HTTPMethod, isSecure: Bool) {
    self.method = method
    self.isSecure = isSecure
  }
}
