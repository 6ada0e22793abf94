import Bytes
import ProtobufSchema

extension MessageEncoder {
  /// Writes what an unset field with presence reads as by its declaration (`[default = 5]`); false when that says
  /// nothing.
  func declaredDefault(_ field: FieldPlan, into output: inout ByteBuffer) -> Bool {
    guard field.hasPresence, field.kind.isScalar,
      let text = schema.messages[Int(field.owner)].fields[Int(field.index)].defaultValue
    else { return false }
    switch field.kind {
    case .string: JSONStringWriting.write(Array(text.utf8).span, into: &output)
    case .bytes:
      output.append(0x22)
      Base64.encode(Self.unescape(text).span, into: &output)
      output.append(0x22)
    case .enumeration:
      guard let value = schema.enums[Int(field.sub)].values.first(where: { $0.name == text }) else { return false }
      enumeration(value.number, Int(field.sub), into: &output)
    default:
      guard let raw = Self.bits(text, field.kind) else { return false }
      number(raw, field.kind, into: &output)
    }
    return true
  }

  /// The bits on the wire of a default as FieldDescriptorProto spells it.
  private static func bits(_ text: String, _ kind: ValueKind) -> UInt64? {
    switch kind {
    case .bool: text == "true" ? 1 : 0
    case .double: Double(text)?.bitPattern
    case .float: Float(text).map { UInt64($0.bitPattern) }
    case .sint32, .sint64: Int64(text).map(ZigZag.encode)
    case .uint32, .uint64, .fixed32, .fixed64: UInt64(text)
    default: Int64(text).map { UInt64(bitPattern: $0) }
    }
  }

  /// The bytes of a default, in which protoc escapes what is no printable ASCII as C does.
  private static func unescape(_ text: String) -> [UInt8] {
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    var index = 0
    while index < source.count {
      guard source[index] == 0x5C, index + 1 < source.count else {
        bytes.append(source[index])
        index += 1
        continue
      }
      let digits = source[(index + 1)...].prefix(3).prefix { $0 &- 48 < 8 }
      if digits.isEmpty {
        bytes.append(letter(source[index + 1]))
        index += 2
      } else {
        bytes.append(digits.reduce(0) { $0 &* 8 &+ ($1 &- 48) })
        index += 1 + digits.count
      }
    }
    return bytes
  }

  private static func letter(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: byte
    }
  }
}
