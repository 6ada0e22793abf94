import Bytes
import Configuration
import HTTP1
import HTTPModel
import JSONValues
import RPC

/// What makes an access token the same after a reload.
struct TokenSourceIdentity: Hashable, Sendable {
  var origin: String
  var target: String
  /// Of its TLS; empty without.
  var security: [UInt8]
  var clientID: String
  var clientSecret: String
  var request: String
}

/// Access tokens for clients (RFC 6749 section 4.4), fetched by one loop for all.
enum TokenSource {
  /// Of a token that does not say how long it may be used.
  private static let usualLife = 300.0
  private static let longestLife = 366.0 * 86_400
  private static let maximumBytes = 64 << 10

  static func token(
    _ configuration: OAuth2Configuration, _ origin: InternalOrigin,
    _ registry: ResourceRegistry<TokenSourceIdentity, CredentialField>
  ) -> SharedResource<CredentialField> {
    let form = form(configuration)
    let identity = TokenSourceIdentity(
      origin: origin.resource.origin, target: origin.resource.target, security: origin.security?.fingerprint ?? [],
      clientID: configuration.clientID, clientSecret: configuration.clientSecret, request: form)
    let basic = configuration.clientAuthentication == .basic ? basic(configuration) : nil
    let timeout = configuration.timeout
    return registry.resource(identity) {
      SharedResource(name: "the access token of \(origin.resource.origin)") { worker, completion in
        let request = origin.request(
          .post, ByteBuffer(form.utf8), contentType: "application/x-www-form-urlencoded", isIdempotent: true)
        request.fields.append(.accept, "application/json")
        if let basic { request.fields.append(.authorization, basic) }
        worker.internalClient.send(request, to: origin, within: timeout, limit: maximumBytes) { result in
          completion(result.flatMap { read($0) })
        }
      }
    }
  }

  private static func form(_ configuration: OAuth2Configuration) -> String {
    var members = [("grant_type", "client_credentials")]
    if !configuration.scopes.isEmpty { members.append(("scope", configuration.scopes.joined(separator: " "))) }
    if let audience = configuration.audience { members.append(("audience", audience)) }
    if configuration.clientAuthentication == .post {
      members += [("client_id", configuration.clientID), ("client_secret", configuration.clientSecret)]
    }
    return members.map { "\($0.0)=\(encoded($0.1))" }.joined(separator: "&")
  }

  /// Both are form-encoded first (RFC 6749 section 2.3.1).
  private static func basic(_ configuration: OAuth2Configuration) -> String {
    let pair = Array("\(encoded(configuration.clientID)):\(encoded(configuration.clientSecret))".utf8)
    var output = ByteBuffer()
    output.append("Basic ")
    Base64.encode(pair.span, into: &output)
    return String(decoding: output.bytes, as: UTF8.self)
  }

  private static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      let isPlain =
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "-._~".utf8.contains(byte)
        }
      if isPlain {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return result
  }

  /// An answer of the endpoint (RFC 6749 sections 5.1 and 5.2). No fault quotes it.
  static func read(_ reply: InternalReply) -> Result<SharedResource<CredentialField>.Fetched, InternalFailure> {
    func unusable(_ reason: String) -> Result<SharedResource<CredentialField>.Fetched, InternalFailure> {
      .failure(InternalFailure(kind: .unusable, reason: reason))
    }
    let value = try? JSONValue(parsing: reply.body.bytes)
    guard reply.status == 200 else {
      let known = ["invalid_client", "invalid_grant", "invalid_scope", "unauthorized_client", "invalid_request"]
      let code = value?["error"]?.text.flatMap { known.contains($0) ? ": \($0)" : nil } ?? ""
      return unusable("the answer has status \(reply.status)\(code)")
    }
    guard let value, let token = value["access_token"]?.text else {
      return unusable("the answer has no `access_token`")
    }
    guard value["token_type"]?.text?.lowercased() ?? "bearer" == "bearer" else {
      return unusable("the token's type is not `Bearer`")
    }
    guard !token.isEmpty, token.utf8.count <= 16 << 10, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return unusable("the token is nothing that a header can carry")
    }
    var life = usualLife
    if let given = value["expires_in"] {
      // Some servers write the number as text.
      guard let seconds = given.number ?? given.text.flatMap({ Double($0) }), seconds.isFinite, seconds > 0 else {
        return unusable("the answer's `expires_in` is no time")
      }
      life = Swift.min(seconds, longestLife)
    }
    // Early enough to ask again when it fails, and not for each second of a short life.
    let refresh = Swift.max(Swift.min(life * 0.8, life - 10), life / 2, 1)
    return .success(
      .init(
        value: CredentialField("authorization", "Bearer \(token)"), refreshIn: .seconds(refresh),
        usableFor: .seconds(life)))
  }
}
