import Bytes
import HTTPModel
package import RPC

/// Redirects of a REST backend, for who cannot follow them: an RPC client has one URL for each method, and no other may take
/// its message. The gateway does not follow them either: where they point was never said to be an upstream.
extension RESTErrors {
  /// Bytes of a place that an error repeats.
  private static let longestPlace = 2048

  /// The error that an answer with a status from 300 to 399 is (RFC 9110 section 15.4).
  ///
  /// The call was answered nowhere and asking again changes nothing, so it is `failed_precondition`, as for the status of a
  /// condition that does not hold: 301, 302, 307, 308. After 303 the work may be done and only its answer is elsewhere,
  /// and the others say nothing that a call could mean: `unknown`.
  ///
  /// - Parameter location: the field of that name; nil: there is none.
  /// - Returns: an error that names the place, and has it as the link of a `google.rpc.Help` detail if it is a whole URL.
  package static func readRedirect(status: Int, location: Span<UInt8>?) -> RPCError {
    let phrase = ReasonPhrase.of(status)
    let name = phrase.utf8CodeUnitCount == 0 ? "\(status)" : "\(status) \(phrase)"
    if status == 304 {
      return RPCError(.unknown, "the upstream answered \(name), although the call has no condition")
    }
    let code: Code =
      switch status {
      case 301, 302, 307, 308: .failedPrecondition
      default: .unknown
      }
    guard let location, !location.isEmpty, location.count <= longestPlace, UTF8Validation.isValid(location) else {
      return RPCError(code, "the upstream answered \(name) and does not say where to")
    }
    let place = String(repairing: location)
    let isURL = ["http://", "https://"].contains { place.lowercased().hasPrefix($0) }
    return RPCError(
      code, "the upstream answered \(name) and points to \(place), where a call cannot follow",
      details: isURL ? [.help(description: "where the upstream points to", url: place)] : [])
  }
}
