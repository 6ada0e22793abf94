/// How an error looks to REST callers.
package enum ErrorFormat: Sendable, Hashable {
  /// `{"code":5,"message":…,"details":[…]}`: google.rpc.Status, gRPC's number.
  case status
  /// `{"error":{"code":404,"message":…,"status":"NOT_FOUND","details":[…]}}`: Google's APIs (AIP-193).
  case google
  /// `{"type":"about:blank","title":…,"status":404,"detail":…}`: RFC 9457.
  case problem
  /// `{"code":"not_found","message":…,"details":[…]}`: the Connect protocol's.
  case connect
  /// The old API's own.
  case template(ErrorTemplate)

  /// Those that have names.
  package static let named: [ErrorFormat] = [.status, .google, .problem, .connect]
}
