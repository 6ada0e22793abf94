import Glibc

/// Classes and spellings of ASCII bytes.
package enum ASCII {
  @inlinable
  @inline(__always)
  package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- 65 < 26 ? byte | 0x20 : byte
  }

  @inlinable
  @inline(__always)
  package static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

  @inlinable
  @inline(__always)
  package static func isAlphanumeric(_ byte: UInt8) -> Bool {
    byte &- 48 < 10 || (byte | 0x20) &- 97 < 26
  }

  /// The value of a hexadecimal digit.
  @inlinable
  @inline(__always)
  package static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    if byte &- 48 < 10 { return byte &- 48 }
    let lower = byte | 0x20
    return lower &- 97 < 6 ? lower &- 87 : nil
  }

  /// Equality without regard to ASCII case.
  package static func equalIgnoringCase(_ left: Span<UInt8>, _ right: StaticString) -> Bool {
    guard left.count == right.utf8CodeUnitCount else { return false }
    let pointer = unsafe right.utf8Start
    for index in left.indices {
      let byte = unsafe pointer[index]
      if lowercased(left[index]) != lowercased(byte) { return false }
    }
    return true
  }

  package static func equal(_ left: Span<UInt8>, _ right: StaticString) -> Bool {
    guard left.count == right.utf8CodeUnitCount else { return false }
    let pointer = unsafe right.utf8Start
    for index in left.indices where unsafe left[index] != pointer[index] { return false }
    return true
  }

  package static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { left in
      unsafe right.withUnsafeBytes { right in
        guard let one = left.baseAddress, let other = right.baseAddress else { return true }
        return unsafe memcmp(one, other, left.count) == 0
      }
    }
  }

  package static func equalIgnoringCase(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where lowercased(left[index]) != lowercased(right[index]) { return false }
    return true
  }

  /// A decimal number of digits only; nil for anything else, for no digit, and beyond Int.
  package static func decimal(_ bytes: Span<UInt8>) -> Int? {
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
  package init(repairing bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
