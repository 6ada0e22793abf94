import Bytes
package import JSONValues
import RPC

/// A signed token in compact form (RFC 7515 section 3.1), taken apart and not checked.
package struct CompactToken: Sendable {
  /// Bytes of the longest token: more than any head may carry.
  package static let maximumBytes = 16 << 10
  private static let maximumHeader = 4 << 10

  /// As the header names it; ``SignatureAlgorithm`` may not know it.
  package let algorithm: String
  let keyID: String?
  /// How many bytes of the text are signed.
  let signedLength: Int
  let payload: [UInt8]
  let signature: [UInt8]

  /// - Throws: ``TokenFault/Kind/malformed``, also for header parameters that must be understood and are not.
  package init(parsing text: Span<UInt8>) throws(TokenFault) {
    guard text.count <= Self.maximumBytes else {
      throw TokenFault(.malformed, "the token is longer than \(Self.maximumBytes) bytes")
    }
    var dots: [Int] = []
    for index in text.indices where text[index] == UInt8(ascii: ".") {
      guard dots.count < 2 else {
        throw TokenFault(.malformed, "the token has more than three parts, as encrypted ones have")
      }
      dots.append(index)
    }
    guard dots.count == 2 else { throw TokenFault(.malformed, "the token has not three parts") }
    let (first, second) = (dots[0], dots[1])
    guard let header = Base64URL.decode(text.extracting(0..<first)),
      let payload = Base64URL.decode(text.extracting(first + 1..<second)),
      let signature = Base64URL.decode(text.extracting(second + 1..<text.count))
    else {
      throw TokenFault(.malformed, "a part of the token is no base64url")
    }
    guard header.count <= Self.maximumHeader else {
      throw TokenFault(.malformed, "the header is longer than \(Self.maximumHeader) bytes")
    }
    let members = try JSONObject.parse(header, "the header")
    guard let algorithm = members["alg"]?.text else { throw TokenFault(.malformed, "the header has no `alg`") }
    // Extensions that change what the token means (RFC 7515 section 4.1.11); `b64` is one of them.
    if members["crit"] != nil { throw TokenFault(.malformed, "the header has `crit`, of which nothing is known") }
    if let id = members["kid"], id.text == nil { throw TokenFault(.malformed, "the header's `kid` is no text") }
    self.algorithm = algorithm
    keyID = members["kid"]?.text
    signedLength = second
    self.payload = payload
    self.signature = signature
  }

  /// The claims as they are written, before anything of them is known to be true.
  package func unverifiedClaims() throws(TokenFault) -> JSONValue {
    try JSONObject.parse(payload, "the payload")
  }
}

enum JSONObject {
  /// - Parameter what: what is read, for the fault.
  static func parse(_ bytes: [UInt8], _ what: String) throws(TokenFault) -> JSONValue {
    let value: JSONValue
    do throws(JSONFault) {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw TokenFault(.malformed, "\(what) is no JSON that is taken")
    }
    guard value.members != nil else { throw TokenFault(.malformed, "\(what) is no JSON object") }
    return value
  }
}
