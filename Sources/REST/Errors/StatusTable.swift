import HTTPModel
package import RPC

/// What HTTP statuses mean where they come from a REST backend, or go to a REST caller.
package enum StatusTable {
  /// The code of a REST backend's status, whose meaning is taken at its word (unlike an RPC client's inference).
  package static func code(ofRESTStatus status: Int) -> Code {
    switch status {
    case 400, 406, 415, 422: .invalidArgument
    case 401: .unauthenticated
    case 403: .permissionDenied
    case 404, 410: .notFound
    case 405, 501: .unimplemented
    case 408, 504: .deadlineExceeded
    case 409, 423: .aborted
    case 412, 428: .failedPrecondition
    case 413, 429: .resourceExhausted
    case 416: .outOfRange
    case 425, 502, 503: .unavailable
    case 499: .canceled
    case 500: .internal
    case 400..<500: .failedPrecondition
    default: .unknown
    }
  }

  /// The enum name of google.rpc.Code: `NOT_FOUND`.
  static func upperCaseName(of code: Code) -> String {
    code == .canceled ? "CANCELLED" : "\(code.name)".uppercased()
  }

  /// The code that google.rpc.Code, or Connect, spells so.
  static func code(named name: String) -> Code? {
    if name == "CANCELLED" || name == "CANCELED" || name == "cancelled" { return .canceled }
    if let code = Code(name: name) { return code }
    return Code.allCases.first { upperCaseName(of: $0) == name }
  }

  /// The title of a problem (RFC 9457 section 4.2.1: for `about:blank` the status's phrase).
  static func title(of status: Int) -> String {
    let phrase = ReasonPhrase.of(status)
    return phrase.utf8CodeUnitCount == 0 ? "Error" : "\(phrase)"
  }
}
