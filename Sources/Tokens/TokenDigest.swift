import Bytes
import COpenSSL

/// SHA-256 of a token: its name in caches, so that these hold no token.
package struct TokenDigest: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  /// The first bytes of a digest are as random as a hash gets.
  package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

  /// Of 64 hexadecimal digits; nil for anything else.
  package init?(hexadecimal text: Span<UInt8>) {
    guard text.count == 64 else { return nil }
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    var isRight = true
    unsafe withUnsafeMutableBytes(of: &words) { output in
      for index in 0..<32 {
        guard let high = ASCII.hexadecimalValue(text[2 * index]), let low = ASCII.hexadecimalValue(text[2 * index + 1])
        else {
          isRight = false
          return
        }
        unsafe output[index] = UInt8(high) << 4 | UInt8(low)
      }
    }
    guard isRight else { return nil }
    self.words = words
  }

  fileprivate init(_ words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }
}

/// Makes digests, with OpenSSL's working memory kept from one to the next. For one thread.
@safe
package final class TokenDigester {
  private let context: OpaquePointer?
  private let algorithm: OpaquePointer?

  package init() {
    unsafe context = EVP_MD_CTX_new()
    unsafe algorithm = EVP_MD_fetch(nil, "SHA256", nil)
  }

  deinit {
    unsafe EVP_MD_CTX_free(context)
    unsafe EVP_MD_free(algorithm)
  }

  /// - Returns: nil when there is no memory for it.
  package func digest(_ bytes: Span<UInt8>) -> TokenDigest? {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    let isMade = unsafe bytes.withUnsafeBytes { input in
      unsafe withUnsafeMutableBytes(of: &words) { output in
        unsafe EVP_DigestInit_ex2(context, algorithm, nil) == 1
          && EVP_DigestUpdate(context, input.baseAddress, input.count) == 1
          && EVP_DigestFinal_ex(context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
      }
    }
    return isMade ? TokenDigest(words) : nil
  }
}
