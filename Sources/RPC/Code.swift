/// The sixteen error codes that Connect and gRPC share; the raw value is gRPC's number.
public enum Code: UInt8, Sendable, CaseIterable {
  case canceled = 1
  case unknown = 2
  case invalidArgument = 3
  case deadlineExceeded = 4
  case notFound = 5
  case alreadyExists = 6
  case permissionDenied = 7
  case resourceExhausted = 8
  case failedPrecondition = 9
  case aborted = 10
  case outOfRange = 11
  case unimplemented = 12
  case `internal` = 13
  case unavailable = 14
  case dataLoss = 15
  case unauthenticated = 16

  /// Connect's spelling: lower case with underscores.
  public var name: StaticString {
    switch self {
    case .canceled: "canceled"
    case .unknown: "unknown"
    case .invalidArgument: "invalid_argument"
    case .deadlineExceeded: "deadline_exceeded"
    case .notFound: "not_found"
    case .alreadyExists: "already_exists"
    case .permissionDenied: "permission_denied"
    case .resourceExhausted: "resource_exhausted"
    case .failedPrecondition: "failed_precondition"
    case .aborted: "aborted"
    case .outOfRange: "out_of_range"
    case .unimplemented: "unimplemented"
    case .internal: "internal"
    case .unavailable: "unavailable"
    case .dataLoss: "data_loss"
    case .unauthenticated: "unauthenticated"
    }
  }

  /// The code that Connect spells so; nil for anything else.
  public init?(name: String) {
    guard let code = Code.allCases.first(where: { "\($0.name)" == name }) else { return nil }
    self = code
  }

  /// The HTTP status of a unary error (Connect protocol, Error Codes).
  public var httpStatus: Int {
    switch self {
    case .canceled: 499
    case .unknown, .internal, .dataLoss: 500
    case .invalidArgument, .failedPrecondition, .outOfRange: 400
    case .deadlineExceeded: 504
    case .notFound: 404
    case .alreadyExists, .aborted: 409
    case .permissionDenied: 403
    case .resourceExhausted: 429
    case .unimplemented: 501
    case .unavailable: 503
    case .unauthenticated: 401
    }
  }

  /// What an RPC client must assume of a status that came without a usable code (Connect protocol, HTTP to Error Code).
  ///
  /// Never for a REST backend, whose statuses have a meaning of their own.
  public init(inferredFromStatus status: Int) {
    switch status {
    case 400: self = .internal
    case 401: self = .unauthenticated
    case 403: self = .permissionDenied
    case 404: self = .unimplemented
    case 429, 502, 503, 504: self = .unavailable
    default: self = .unknown
    }
  }
}
