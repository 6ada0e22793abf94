import Configuration
import COpenSSL

/// What the algorithms of tokens do.
extension SignatureAlgorithm {
  /// Bytes of its digest; 0 where the key hashes by itself.
  var digestLength: Int {
    switch self {
    case .rs256, .ps256, .es256, .hs256: 32
    case .rs384, .ps384, .es384, .hs384: 48
    case .rs512, .ps512, .es512, .hs512: 64
    case .edDSA: 0
    }
  }

  var digest: OpaquePointer? {
    switch digestLength {
    case 32: unsafe EVP_sha256()
    case 48: unsafe EVP_sha384()
    case 64: unsafe EVP_sha512()
    default: nil
    }
  }

  /// Whether a key of this kind makes signatures of this algorithm.
  func fits(_ kind: VerificationKey.Kind) -> Bool {
    switch (self, kind) {
    case (.rs256, .rsa), (.rs384, .rsa), (.rs512, .rsa), (.ps256, .rsa), (.ps384, .rsa), (.ps512, .rsa): true
    case (.es256, .ec(.p256)), (.es384, .ec(.p384)), (.es512, .ec(.p521)): true
    case (.edDSA, .ed25519): true
    // A key at least as long as the digest (RFC 7518 section 3.2).
    case (.hs256, .secret(let bytes)), (.hs384, .secret(let bytes)), (.hs512, .secret(let bytes)):
      bytes >= digestLength
    default: false
    }
  }
}
