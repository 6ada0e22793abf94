/// IP addresses with the same first bits (`10.0.0.0/8`, `2001:db8::/32`), or one address.
///
/// IPv4 addresses are those of `::ffff:0:0/96`: a listener for both families sees them so.
package struct AddressRange: Sendable, Hashable {
  /// Of the 128 bits the first 64, then the last; those beyond ``bits`` are 0.
  package let high: UInt64
  package let low: UInt64
  /// How many of the first bits have to agree, of IPv4 with the 96 before them: 0 to 128.
  package let bits: Int

  /// The range around an address.
  package init(high: UInt64, low: UInt64, bits: Int) {
    self.bits = Swift.min(Swift.max(bits, 0), 128)
    self.high = high & Self.mask(self.bits)
    self.low = low & Self.mask(self.bits - 64)
  }

  /// Whether an address lies in the range.
  package func contains(high: UInt64, low: UInt64) -> Bool {
    (high ^ self.high) & Self.mask(bits) == 0 && (low ^ self.low) & Self.mask(bits - 64) == 0
  }

  /// The first bits of 64; none for a negative number, all for one beyond.
  private static func mask(_ bits: Int) -> UInt64 {
    if bits <= 0 { return 0 }
    return bits >= 64 ? .max : ~(.max >> UInt64(bits))
  }
}
