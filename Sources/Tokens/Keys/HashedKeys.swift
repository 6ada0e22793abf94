import Bytes

/// API keys as a file keeps them: by their SHA-256, so that whoever reads the file has no key.
///
/// A key is looked up by its digest. Where the look-up goes tells nothing of the keys: nobody can choose a digest.
package struct HashedKeys: Sendable {
  /// Bytes of the largest file.
  package static let maximumBytes = 16 << 20
  private static let maximumName = 256

  /// A line that is no key.
  package struct Fault: Error, Sendable, Equatable {
    /// From 1.
    package var line: Int
    package var reason: String
  }

  /// Names by digest; empty for a key without one.
  private var names: [TokenDigest: [UInt8]] = [:]

  /// Reads a key a line: 64 hexadecimal digits, then its owner's name if it has one. Blank lines, and those that begin
  /// with `#`, do not count.
  package init(parsing file: [UInt8]) throws(Fault) {
    var number = 0
    for line in file.split(separator: 0x0A, omittingEmptySubsequences: false) {
      number += 1
      let words = line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
      guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
      guard let digest = TokenDigest(hexadecimal: Array(first).span) else {
        throw Fault(line: number, reason: "it does not begin with the SHA-256 of a key, 64 hexadecimal digits")
      }
      let name = Array(words.dropFirst().joined(separator: [0x20]))
      guard name.count <= Self.maximumName, name.allSatisfy({ (0x20...0x7E).contains($0) }) else {
        throw Fault(line: number, reason: "the name is longer than \(Self.maximumName) bytes, or not ASCII")
      }
      guard names.updateValue(name, forKey: digest) == nil else {
        throw Fault(line: number, reason: "the key is given twice")
      }
    }
  }

  package var count: Int { names.count }

  /// The name of the key of a digest, empty for one without; nil for a key that is not known.
  package func name(of key: TokenDigest) -> [UInt8]? { names[key] }
}
