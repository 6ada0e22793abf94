/// `errors:` of a route: how errors look to REST callers, and which answers of the REST API are some.
package struct ErrorSettings: Sendable, Equatable {
  /// The shape of errors to REST callers.
  package enum Format: String, Sendable, CaseIterable {
    /// google.rpc.Status: `{"code": 5, "message": …, "details": […]}`.
    case status
    /// That of Google's APIs: `{"error": {"code": 404, …}}`.
    case google
    /// RFC 9457.
    case problem
    case connect
  }

  /// The codes as the Connect protocol names them.
  package enum Code: String, Sendable, CaseIterable {
    case canceled, unknown, aborted, `internal`, unavailable, unimplemented, unauthenticated
    case invalidArgument = "invalid_argument"
    case deadlineExceeded = "deadline_exceeded"
    case notFound = "not_found"
    case alreadyExists = "already_exists"
    case permissionDenied = "permission_denied"
    case resourceExhausted = "resource_exhausted"
    case failedPrecondition = "failed_precondition"
    case outOfRange = "out_of_range"
    case dataLoss = "data_loss"
  }

  /// What a text of ``Body`` has filled in.
  package enum Placeholder: String, Sendable, CaseIterable {
    /// `not_found`
    case code
    /// `NOT_FOUND`
    case upperCaseCode = "CODE"
    /// gRPC's, as 5.
    case number
    /// The HTTP status, as 404.
    case status
    case message
    /// The list of details; only as a whole value.
    case details
    /// Of the error's google.rpc.ErrorInfo; `{CODE}` where it has none.
    case reason
  }

  /// The body of an error in the old API's own shape: a JSON value with placeholders.
  package indirect enum Body: Sendable, Equatable {
    package enum Fragment: Sendable, Equatable {
      case text(String)
      case placeholder(Placeholder)
    }

    package struct Member: Sendable, Equatable {
      package var name: String
      package var value: Body
    }

    /// A number, `true`, `false` or `null`, as JSON has it.
    case literal(String)
    case text([Fragment])
    /// What the placeholder stands for, a number as a number.
    case value(Placeholder)
    case list([Body])
    case object([Member])
  }

  /// Which answers with a status of success are errors.
  package struct InSuccess: Sendable, Equatable {
    package enum Test: Sendable, Equatable {
      /// The member is there and not null.
      case present
      case equals([String])
      case not([String])
    }

    /// Of the answer's outermost object.
    package var member: String
    package var test: Test
    /// For an answer that names none itself.
    package var code = Code.failedPrecondition
  }

  package var format = Format.status
  /// In place of the format's.
  package var body: Body?
  /// HTTP statuses, 200 to 599, in place of those of the codes.
  package var statuses: [Code: Int] = [:]
  package var inSuccess: InSuccess?

  package init() {}
}
