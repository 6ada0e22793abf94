import Metrics
import Tokens

/// What is known of who calls.
extension Call {
  /// A claim of the caller's token as text, a list with commas; nil without a token, or without the claim. A dot leads
  /// into an object: `realm_access.roles`.
  func claim(_ name: String) -> String? {
    guard let value = identity.flatMap({ Claim.find(name, in: $0.claims) }) else { return nil }
    return Claim.fieldValue(value).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension Worker {
  /// A call was refused for who makes it.
  func countAuthRefused(_ interceptor: String, _ reason: String) {
    metrics.calls.authRefused.child([interceptor, reason]).add(1, shard: index)
  }
}
