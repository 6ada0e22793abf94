import Bytes

/// Where callers stand among all callers: each has one of 10,000 places, and a share takes the places below it.
///
/// So a greater share never moves anybody back, and routes with the same salt choose the same callers. Everything
/// about it is fixed, because callers change sides when it changes: the place is `SipHash-2-4(key) * 10,000 / 2^64`,
/// where the hash's own key is the SipHash-2-4 of the salt under the key of the paper's test vectors, and its second half.
package struct StickyHash: Sendable, Equatable {
  /// The bytes 0 to 15.
  private static let fixed: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)

  private let salted: UInt64

  package init(salt: String) {
    salted = SipHash.hash(Array(salt.utf8).span, key: Self.fixed)
  }

  /// The hash of a key, of which ``place(of:)`` makes a place.
  package func hash(_ key: Span<UInt8>) -> UInt64 {
    SipHash.hash(key, key: (salted, Self.fixed.1))
  }

  /// 0 to 9,999.
  package static func place(of hash: UInt64) -> Int {
    Int(truncatingIfNeeded: hash.multipliedFullWidth(by: 10_000).high)
  }
}

extension Share {
  /// Whether a caller at this place belongs to the share.
  package func takes(place: Int) -> Bool { place < hundredths }
}
