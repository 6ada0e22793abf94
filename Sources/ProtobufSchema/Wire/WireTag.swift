/// How the bytes of a value are delimited (Protobuf encoding, "Message Structure"); the six types in use.
@usableFromInline
package enum WireType: UInt8, Sendable {
  case varint = 0
  case fixed64 = 1
  case lengthDelimited = 2
  case startGroup = 3
  case endGroup = 4
  case fixed32 = 5
}

/// The number and wire type before each value.
@usableFromInline
package struct WireTag: Sendable, Equatable {
  /// 1 to 2^29-1.
  @usableFromInline package let number: UInt32
  @usableFromInline package let type: WireType

  @inlinable
  @inline(__always)
  package init(number: UInt32, type: WireType) {
    self.number = number
    self.type = type
  }
}
