import CAres

/// Why a name gave no addresses.
public struct ResolverError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// There is no such name, or it has no addresses.
    case notFound
    /// It cannot be a name.
    case badName
    /// No server answered in time.
    case timedOut
    /// A server's answer was not in the language of DNS, or said that the question was not.
    case serverFailure
    /// No server was of use: not reached, or all failed or refused to answer (the library makes no difference).
    case unreachable
    /// The resolver ended before the answer came.
    case cancelled
    /// The machine lacks memory or descriptors.
    case outOfResources
  }

  public let host: String
  public let kind: Kind
  /// In the words of the library.
  public let reason: String

  public var description: String { "\(host): \(reason)" }

  /// No answer would be seen: the machine does not let the loop watch the socket.
  init(host: String, unwatched error: SystemError) {
    self.host = host
    kind = .outOfResources
    reason = error.description
  }

  init(host: String, status: CInt) {
    self.host = host
    reason = ares_strerror(status).map { String(cString: $0) } ?? "error \(status)"
    kind =
      switch status {
      case ARES_ENODATA, ARES_ENOTFOUND, ARES_ENONAME: .notFound
      case ARES_EBADNAME, ARES_EBADSTR: .badName
      case ARES_ETIMEOUT: .timedOut
      case ARES_ECONNREFUSED: .unreachable
      case ARES_ECANCELLED, ARES_EDESTRUCTION: .cancelled
      case ARES_ENOMEM, ARES_EFILE: .outOfResources
      default: .serverFailure
      }
  }
}
