import COpenSSL

/// Names of what must not stand in a key itself.
package enum RedisDigest {
  /// 128 bits of SHA-256 in hexadecimal: nobody finds two values with the same name.
  package static func of(_ bytes: Span<UInt8>) -> String {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe hexadecimal(bytes.baseAddress, bytes.count, EVP_sha256(), length: 32, prefix: 16)
    }
  }

  /// The first bytes of a digest, in lower case.
  static func hexadecimal(
    _ start: UnsafeRawPointer?, _ count: Int, _ algorithm: OpaquePointer?, length: Int, prefix: Int
  ) -> String {
    var digest = [UInt8](repeating: 0, count: length)
    var written: CUnsignedInt = 0
    _ = unsafe EVP_Digest(start, count, &digest, &written, algorithm, nil)
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: digest.prefix(prefix).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
