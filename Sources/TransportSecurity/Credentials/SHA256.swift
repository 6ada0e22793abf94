import COpenSSL

/// SHA-256 of bytes that are at hand, for what is made once.
package enum SHA256 {
  /// - Returns: 32 bytes.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: CUnsignedInt = 0
    _ = EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha256(), nil)
    return digest
  }
}
