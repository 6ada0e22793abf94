import JSONValues

/// A token that was found to be good: what a call knows of its caller.
final class VerifiedToken {
  let claims: JSONValue
  /// The fields that go upstream, made once for all calls with the token.
  let fields: [(name: [UInt8], value: [UInt8])]

  init(claims: JSONValue, fields: [(name: [UInt8], value: [UInt8])]) {
    self.claims = claims
    self.fields = fields
  }
}
