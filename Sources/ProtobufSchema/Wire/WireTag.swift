/// How the bytes of a value are delimited (Protobuf encoding, "Message Structure").
@usableFromInline
enum WireType: UInt8, Sendable {
  case varint = 0
  case fixed64 = 1
  case lengthDelimited = 2
  case startGroup = 3
  case endGroup = 4
  case fixed32 = 5
}

/// The number and wire type before each value.
@usableFromInline
struct WireTag: Sendable, Equatable {
  /// 1 to 2^29-1.
  @usableFromInline package let number: Int32
  @usableFromInline package let type: WireType

  @usableFromInline
  init(number: Int32, type: WireType) {
    self.number = number
    self.type = type
  }
}
