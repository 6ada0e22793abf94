/// One reply of a Redis server (RESP2), or a part of one.
package enum RedisValue: Sendable, Equatable {
  /// `nil`: there is nothing under the key, or the command did nothing.
  case null
  /// A short word of the server, such as `OK`.
  case status(String)
  /// The command was refused; the first word says how (`NOSCRIPT`, `READONLY`, `ERR`).
  case error(String)
  case integer(Int64)
  case bulk([UInt8])
  case array([RedisValue])

  /// A bulk string or status as text; bytes that are no UTF-8 are replaced. Nil for anything else.
  package var text: String? {
    switch self {
    case .bulk(let bytes): String(decoding: bytes, as: UTF8.self)
    case .status(let word): word
    case .null, .error, .integer, .array: nil
    }
  }

  package var integer: Int64? {
    if case .integer(let number) = self { number } else { nil }
  }

  package var elements: [RedisValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }
}

/// Why a connection to a Redis server cannot go on.
package struct RedisFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong.
  package enum Kind: String, Sendable {
    /// What came is no Redis reply, or one that was not asked for.
    case `protocol`
    /// A reply is larger than what is allowed.
    case tooLarge = "too_large"
    /// The server does not let us in: credentials, database, rights.
    case refused
  }

  package var kind: Kind
  /// In the server's words where it gave some. Never holds credentials.
  package var reason: String

  package init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }

  package var description: String { reason }
}
