import Glibc

/// Classes and spellings of ASCII bytes.
public enum ASCII {
  @inlinable
  @inline(__always)
  public static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- 65 < 26 ? byte | 0x20 : byte
  }

  @inlinable
  @inline(__always)
  public static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

  @inlinable
  @inline(__always)
  public static func isAlphanumeric(_ byte: UInt8) -> Bool {
    byte &- 48 < 10 || (byte | 0x20) &- 97 < 26
  }

  /// The value of a hexadecimal digit.
  @inlinable
  @inline(__always)
  public static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    if byte &- 48 < 10 { return byte &- 48 }
    let lower = byte | 0x20
    return lower &- 97 < 6 ? lower &- 87 : nil
  }

  /// Equality without regard to ASCII case.
  public static func equalIgnoringCase(_ left: Span<UInt8>, _ right: StaticString) -> Bool {
    guard left.count == right.utf8CodeUnitCount else { return false }
    // Nearly all that is equal is spelt in the usual way.
    if equal(left, right) { return true }
    let pointer = unsafe right.utf8Start
    for index in left.indices {
      let byte = unsafe pointer[index]
      if lowercased(left[index]) != lowercased(byte) { return false }
    }
    return true
  }

  public static func equal(_ left: Span<UInt8>, _ right: StaticString) -> Bool {
    guard left.count == right.utf8CodeUnitCount else { return false }
    return unsafe left.withUnsafeBytes { left in
      guard let start = left.baseAddress else { return true }
      return unsafe memcmp(start, right.utf8Start, left.count) == 0
    }
  }

  public static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { left in
      unsafe right.withUnsafeBytes { right in
        guard let one = left.baseAddress, let other = right.baseAddress else { return true }
        return unsafe memcmp(one, other, left.count) == 0
      }
    }
  }

  public static func equalIgnoringCase(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where lowercased(left[index]) != lowercased(right[index]) { return false }
    return true
  }

  /// A decimal number of digits only; nil for anything else, for no digit, and beyond Int.
  public static func decimal(_ bytes: Span<UInt8>) -> Int? {
    guard !bytes.isEmpty else { return nil }
    var value = 0
    for index in bytes.indices {
      let digit = bytes[index] &- 48
      guard digit < 10 else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int(digit))
      guard !overflow, !carry else { return nil }
      value = sum
    }
    return value
  }
}

extension String {
  /// The bytes as text; what is no UTF-8 becomes U+FFFD. For messages and the control plane.
  public init(repairing bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
