import Configuration
import Diagnostics
import EventLoops
import Files
import Tokens

/// A key set in a file.
enum KeySetFile {
  /// - Parameter algorithms: those that are allowed; a set without a key for any of them is of no use.
  /// - Returns: nil when it cannot be used; and all faults and warnings.
  static func read(
    _ file: FileReference, for algorithms: [SignatureAlgorithm]
  ) -> (value: KeySet?, diagnostics: [Diagnostic]) {
    let shown = file.isSecret ? "the key set" : "the key set \(file.path)"
    switch FileContent.read(file.path, limit: KeySet.maximumBytes) {
    case .failure(let fault):
      return (nil, [Diagnostic(at: file.position, "\(shown) cannot be read: \(fault.reason)")])
    case .success(let bytes):
      do throws(TokenFault) {
        let keys = try KeySet(parsing: bytes)
        let warnings = keys.notes.map { Diagnostic(severity: .warning, at: file.position, "\(shown): \($0)") }
        guard keys.serves(algorithms) else {
          let fault = Diagnostic(
            at: file.position, "no key of the key set is for the algorithms that are allowed, so nobody could call",
            cure: "name them in `algorithms:`, as `[HS256]` for keys of `kty: oct`")
          return (nil, warnings + [fault])
        }
        return (keys, warnings)
      } catch {
        return (
          nil,
          [
            Diagnostic(
              at: file.position, "\(shown) cannot be used: \(error.reason)",
              cure: "write a JWK set (RFC 7517): `{\"keys\": […]}`")
          ]
        )
      }
    }
  }
}
