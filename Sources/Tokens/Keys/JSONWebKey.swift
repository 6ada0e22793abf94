import Configuration
import COpenSSL
import JSONValues

/// One key as JSON (RFC 7517 section 4, RFC 7518 section 6, RFC 8037 section 2).
enum JSONWebKey {
  /// Bits of an RSA key: fewer are not safe (RFC 7518 section 3.3), more make each check a burden.
  private static let rsaBits = 2048...8192

  static func read(_ value: JSONValue) throws(TokenFault) -> VerificationKey {
    guard value.members != nil else { throw TokenFault(.malformed, "it is no object") }
    if let use = value["use"]?.text, use != "sig" { throw TokenFault(.malformed, "it is not for signatures (`use`)") }
    if let operations = value["key_ops"]?.elements, !operations.contains(.string("verify")) {
      throw TokenFault(.malformed, "it is not for checking signatures (`key_ops`)")
    }
    var algorithm: SignatureAlgorithm?
    if let name = value["alg"]?.text {
      algorithm = SignatureAlgorithm(rawValue: name)
      if algorithm == nil { throw TokenFault(.malformed, "its algorithm (`alg`) is not known") }
    }
    let id = value["kid"]?.text
    let key =
      switch value["kty"]?.text {
      case "RSA": try rsa(value, id, algorithm)
      case "EC": try ec(value, id, algorithm)
      case "OKP": try octetPair(value, id, algorithm)
      case "oct": try secret(value, id, algorithm)
      default: throw TokenFault(.malformed, "its type (`kty`) is not known")
      }
    if let algorithm, !algorithm.fits(key.kind) {
      throw TokenFault(.malformed, "its algorithm (`alg`) is for keys of another type or length")
    }
    return key
  }

  private static func bytes(_ value: JSONValue, _ name: String) throws(TokenFault) -> [UInt8] {
    guard let text = value[name]?.text, let bytes = Base64URL.decode(text), !bytes.isEmpty else {
      throw TokenFault(.malformed, "its `\(name)` is missing, or no base64url")
    }
    return bytes
  }

  private static func rsa(
    _ value: JSONValue, _ id: String?, _ algorithm: SignatureAlgorithm?
  ) throws(TokenFault) -> VerificationKey {
    let modulus = Array(try bytes(value, "n").drop { $0 == 0 })
    let exponent = Array(try bytes(value, "e").drop { $0 == 0 })
    let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
    guard rsaBits.contains(bits) else {
      throw TokenFault(.malformed, "its \(bits) bits are not from \(rsaBits.lowerBound) to \(rsaBits.upperBound)")
    }
    guard exponent.count <= 8, exponent != [1] else { throw TokenFault(.malformed, "its exponent is not sound") }
    let made = unsafe copenssl_rsa_key(
      modulus, CInt(modulus.count), exponent, CInt(exponent.count))
    return try unsafe key(made, .rsa(bits: bits), id, algorithm)
  }

  private static func ec(
    _ value: JSONValue, _ id: String?, _ algorithm: SignatureAlgorithm?
  ) throws(TokenFault) -> VerificationKey {
    guard let curve = value["crv"]?.text.flatMap({ VerificationKey.Curve(rawValue: $0) }) else {
      throw TokenFault(.malformed, "its curve (`crv`) is not known")
    }
    let x = try bytes(value, "x")
    let y = try bytes(value, "y")
    guard x.count == curve.length, y.count == curve.length else {
      throw TokenFault(.malformed, "its coordinates are not of \(curve.length) bytes each")
    }
    var point = [0x04] + x + y
    let made = unsafe copenssl_ec_key(curve.rawValue, &point, point.count)
    return try unsafe key(made, .ec(curve), id, algorithm)
  }

  private static func octetPair(
    _ value: JSONValue, _ id: String?, _ algorithm: SignatureAlgorithm?
  ) throws(TokenFault) -> VerificationKey {
    guard value["crv"]?.text == "Ed25519" else { throw TokenFault(.malformed, "its curve (`crv`) is not known") }
    let x = try bytes(value, "x")
    guard x.count == 32 else { throw TokenFault(.malformed, "its `x` is not of 32 bytes") }
    let made = unsafe copenssl_ed25519_key(x, x.count)
    return try unsafe key(made, .ed25519, id, algorithm)
  }

  private static func secret(
    _ value: JSONValue, _ id: String?, _ algorithm: SignatureAlgorithm?
  ) throws(TokenFault) -> VerificationKey {
    let bytes = try bytes(value, "k")
    guard bytes.count >= 32 else {
      throw TokenFault(.malformed, "its secret is shorter than 32 bytes (RFC 7518 section 3.2)")
    }
    return VerificationKey(secret: bytes, id: id, algorithm: algorithm)
  }

  private static func key(
    _ handle: OpaquePointer?, _ kind: VerificationKey.Kind, _ id: String?, _ algorithm: SignatureAlgorithm?
  ) throws(TokenFault) -> VerificationKey {
    guard let handle = unsafe handle else {
      ERR_clear_error()
      throw TokenFault(.malformed, "its numbers make no key")
    }
    let key = unsafe VerificationKey(owning: handle, kind, id: id, algorithm: algorithm)
    // Ed25519 knows no point that is none.
    if kind != .ed25519, unsafe copenssl_key_is_sound(handle) != 1 {
      ERR_clear_error()
      throw TokenFault(.malformed, "its numbers make no sound key")
    }
    return key
  }
}
