/// A hash that is the same in every process and in every version: it says which endpoint a key belongs to, and
/// replicas have to agree on that.
///
/// FNV-1a of the bytes, then the finisher of MurmurHash3, so that near keys are far apart. It has no secret: whoever
/// chooses keys can choose the endpoint, which a consistent hash promises in any case.
package struct StableHash: Sendable {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package init(_ text: String) { combine(text.utf8) }

  package mutating func combine(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { combine(byte) }
  }

  package mutating func combine(_ bytes: Span<UInt8>) {
    for index in bytes.indices { combine(bytes[index]) }
  }

  private mutating func combine(_ byte: UInt8) {
    state = (state ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  package var value: UInt64 { Self.mix(state) }

  /// One to one, and each bit of the result hangs on each of the argument.
  package static func mix(_ value: UInt64) -> UInt64 {
    var value = value
    value = (value ^ (value >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    value = (value ^ (value >> 33)) &* 0xC4CE_B9FE_1A85_EC53
    return value ^ (value >> 33)
  }
}
