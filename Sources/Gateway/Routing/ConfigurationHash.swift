import TransportSecurity

/// What tells whether two replicas have one configuration: a digest of all that it is made of, in the order of reading:
/// the texts of its files as they are written, and its descriptors.
///
/// Values from `${env:}` and `${file:}` are not in it, nor are files of keys and certificates. They may differ between
/// replicas, or change on their own, and nobody is to try guesses at a secret against it.
struct ConfigurationHash {
  /// Digests, each of 32 bytes: so no part can pass for two.
  private var parts: [UInt8] = []

  mutating func add(_ part: [UInt8]) { parts += SHA256.digest(part) }

  /// 64 bits in hexadecimal: for comparing, not for proving.
  var text: String {
    let digits = Array("0123456789abcdef".utf8)
    let bytes = SHA256.digest(parts).prefix(8).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
