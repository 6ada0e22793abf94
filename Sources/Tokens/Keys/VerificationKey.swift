package import Configuration
import COpenSSL

/// A key that checks signatures.
@safe
package final class VerificationKey: Sendable {
  /// The raw values are those of `crv` (RFC 7518 section 6.2.1.1).
  package enum Curve: String, Sendable, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"

    /// Bytes of one coordinate.
    var length: Int {
      switch self {
      case .p256: 32
      case .p384: 48
      case .p521: 66
      }
    }
  }

  /// What kind of key it is, and how strong.
  package enum Kind: Sendable, Equatable {
    /// Bits of the modulus.
    case rsa(bits: Int)
    case ec(Curve)
    case ed25519
    /// Bytes of a shared secret.
    case secret(bytes: Int)
  }

  package let kind: Kind
  /// Its `kid`.
  package let id: String?
  /// Its `alg`: the only one that it may be used with.
  package let algorithm: SignatureAlgorithm?
  // Never changed after it was made, and counted atomically by OpenSSL. Nil for a secret.
  private nonisolated(unsafe) let handle: OpaquePointer?
  private let secret: [UInt8]

  /// Takes over a reference to a public key.
  init(owning handle: OpaquePointer, _ kind: Kind, id: String?, algorithm: SignatureAlgorithm?) {
    unsafe self.handle = handle
    self.kind = kind
    self.id = id
    self.algorithm = algorithm
    secret = []
  }

  init(secret: [UInt8], id: String?, algorithm: SignatureAlgorithm?) {
    unsafe handle = nil
    kind = .secret(bytes: secret.count)
    self.id = id
    self.algorithm = algorithm
    self.secret = secret
  }

  deinit {
    unsafe EVP_PKEY_free(handle)
  }

  /// Whether signatures of an algorithm may be checked with it: never one of another kind of key, whatever a token says
  /// (RFC 8725 section 2.1).
  func permits(_ wanted: SignatureAlgorithm) -> Bool {
    (algorithm == nil || algorithm == wanted) && wanted.fits(kind)
  }

  /// Whether it made this signature of a text.
  func verifies(_ signature: [UInt8], of text: Span<UInt8>, by algorithm: SignatureAlgorithm) -> Bool {
    guard permits(algorithm), !signature.isEmpty else { return false }
    if case .secret = kind { return verifiesMAC(signature, of: text, by: algorithm) }
    if case .ec(let curve) = kind, signature.count != 2 * curve.length { return false }
    let isPSS: CInt = [.ps256, .ps384, .ps512].contains(algorithm) ? 1 : 0
    let result = unsafe text.withUnsafeBufferPointer { text in
      if case .ec = kind {
        return unsafe copenssl_verify_ecdsa(
          handle, algorithm.digest, signature, signature.count, text.baseAddress, text.count)
      }
      return unsafe copenssl_verify(
        handle, algorithm.digest, isPSS, signature, signature.count, text.baseAddress, text.count)
    }
    if result != 1 { ERR_clear_error() }
    return result == 1
  }

  private func verifiesMAC(_ signature: [UInt8], of text: Span<UInt8>, by algorithm: SignatureAlgorithm) -> Bool {
    var expected = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    let made = unsafe text.withUnsafeBufferPointer { text in
      unsafe HMAC(
        algorithm.digest, secret, CInt(clamping: secret.count), text.baseAddress, text.count, &expected, &length)
    }
    guard unsafe made != nil, signature.count == Int(length) else { return false }
    return unsafe CRYPTO_memcmp(signature, expected, signature.count) == 0
  }
}
