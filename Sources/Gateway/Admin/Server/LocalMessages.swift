package import EventLoops
package import HTTPModel
import RPC
package import TransportSecurity

/// One whole request to a ``LocalServer``.
package struct LocalRequest: Sendable {
  package var method: HTTPMethod
  /// Not decoded, begins with `/`.
  package var path: String
  /// Without its `?`, not decoded; empty when there is none.
  package var query: String
  /// The authority that the request is for, lower case, with the port if given; empty for HTTP/1.0 without Host.
  package var authority: String
  /// The fields in their order, names in lower case; framing and hop-by-hop fields are gone.
  package var fields: [(name: String, value: String)]
  package var body: [UInt8]
  /// The address that the connection came in on.
  package var listener: SocketAddress
  /// The client's address; nil: unknown.
  package var peer: SocketAddress?
  /// Whom the certificate that the client was shown is for; nil without TLS.
  package var certificateNames: CertificateNames?

  package init(
    method: HTTPMethod, path: String, query: String = "", authority: String,
    fields: [(name: String, value: String)] = [], body: [UInt8] = [], listener: SocketAddress,
    peer: SocketAddress? = nil, certificateNames: CertificateNames? = nil
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.authority = authority
    self.fields = fields
    self.body = body
    self.listener = listener
    self.peer = peer
    self.certificateNames = certificateNames
  }

  package var isSecure: Bool { certificateNames != nil }

  /// The first value of a field, by its name in lower case.
  package func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Whether there is a Content-Type and its media type is this one, given in lower case.
  package func hasContentType(_ type: StaticString) -> Bool {
    guard let value = field("content-type") else { return false }
    return MediaType.matches(Array(value.utf8).span, type)
  }
}

/// One whole answer of a ``LocalServer``; the server adds the framing fields.
package struct LocalResponse: Sendable {
  package var status: Int
  /// Names in lower case.
  package var fields: [(name: String, value: String)]
  package var body: [UInt8]
  /// How long the answer is held back before it is sent.
  package var delay: Duration

  package init(
    status: Int, fields: [(name: String, value: String)] = [], body: [UInt8] = [], delay: Duration = .zero
  ) {
    self.status = status
    self.fields = fields
    self.body = body
    self.delay = delay
  }

  /// Plain text in UTF-8.
  package static func text(_ text: String, status: Int = 200) -> LocalResponse {
    LocalResponse(
      status: status, fields: [("content-type", "text/plain; charset=utf-8")], body: Array(text.utf8))
  }

  /// A JSON body.
  package static func json(_ value: JSONValue, status: Int = 200) -> LocalResponse {
    json(value.bytes, status: status)
  }

  /// A JSON body that is written already.
  package static func json(_ bytes: [UInt8], status: Int = 200) -> LocalResponse {
    LocalResponse(status: status, fields: [("content-type", "application/json")], body: bytes)
  }
}
