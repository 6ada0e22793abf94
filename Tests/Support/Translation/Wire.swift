import Bytes
import ProtoJSON

/// Wire bytes written by hand.
package struct Wire {
  package var bytes: [UInt8] = []

  package init() {}

  package mutating func varint(_ value: UInt64) {
    var buffer = ByteBuffer()
    buffer.append(varint: value)
    bytes += buffer.bytes
  }

  package static func varint(_ number: UInt32, _ value: UInt64) -> [UInt8] {
    var wire = Wire()
    wire.varint(UInt64(number) << 3)
    wire.varint(value)
    return wire.bytes
  }

  package static func fixed32(_ number: UInt32, _ value: UInt32) -> [UInt8] {
    var wire = Wire()
    wire.varint(UInt64(number) << 3 | 5)
    return wire.bytes + (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  package static func fixed64(_ number: UInt32, _ value: UInt64) -> [UInt8] {
    var wire = Wire()
    wire.varint(UInt64(number) << 3 | 1)
    return wire.bytes + (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  package static func delimited(_ number: UInt32, _ content: [UInt8]) -> [UInt8] {
    var wire = Wire()
    wire.varint(UInt64(number) << 3 | 2)
    wire.varint(UInt64(content.count))
    return wire.bytes + content
  }

  package static func text(_ number: UInt32, _ content: String) -> [UInt8] { delimited(number, Array(content.utf8)) }
}
