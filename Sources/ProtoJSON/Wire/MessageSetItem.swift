import Bytes
import ProtobufSchema

/// One message of a message set: `repeated group Item = 1 { required int32 type_id = 2; required bytes message = 3; }`
/// (descriptor.proto, `message_set_wire_format`). The type is the number of the extension.
struct MessageSetItem {
  /// The tag byte of the group's end.
  static let end: UInt8 = 0x0C

  let type: UInt32
  let content: Range<Int>

  /// Reads the field whose tag was read; the reader is behind it afterwards.
  ///
  /// A length-delimited field is an item too, as a writer makes it that does not know the format. Nil for any other
  /// field, and for a group that lacks the type or the message.
  init?(_ tag: WireTag, _ reader: inout WireReader) throws(WireError) {
    if tag.type == .lengthDelimited {
      type = tag.number
      content = try reader.readLengthDelimited()
      return
    }
    guard tag == WireTag(number: 1, type: .startGroup) else {
      try reader.skip(tag)
      return nil
    }
    let range = try reader.readGroup(tag.number)
    var inner = WireReader(reader.bytes, range)
    var foundType: UInt32?
    var foundContent: Range<Int>?
    while let tag = try inner.nextTag() {
      switch (tag.number, tag.type) {
      case (2, .varint): foundType = UInt32(truncatingIfNeeded: try inner.readVarint())
      case (3, .lengthDelimited): foundContent = try inner.readLengthDelimited()
      default: try inner.skip(tag)
      }
    }
    guard let foundType, let foundContent else { return nil }
    type = foundType
    content = foundContent
  }

  /// What stands before the length of a message: the tags of group, type and message, and the type.
  static func head(_ type: UInt32) -> (word: UInt64, length: UInt8) {
    var buffer = ByteBuffer()
    buffer.append(0x0B)
    buffer.append(0x10)
    buffer.append(varint: UInt64(type))
    buffer.append(0x1A)
    return (buffer.span.word(at: 0, length: 8), UInt8(buffer.count))
  }
}
