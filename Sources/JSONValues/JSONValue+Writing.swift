package import Bytes
import RPC

extension JSONValue {
  /// The value as compact JSON in UTF-8.
  package var bytes: [UInt8] {
    var output = ByteBuffer()
    write(into: &output)
    return output.bytes
  }

  /// Appends the value as compact JSON.
  package func write(into output: inout ByteBuffer) {
    switch self {
    case .null: output.append("null")
    case .bool(let value): output.append(text: value ? "true" : "false")
    case .literal(let literal): output.append(text: literal)
    case .string(let text): JSONText.append(text, into: &output)
    case .array(let elements):
      output.append("[")
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(",") }
        element.write(into: &output)
      }
      output.append("]")
    case .object(let members):
      output.append("{")
      for (index, member) in members.enumerated() {
        if index > 0 { output.append(",") }
        JSONText.append(member.name, into: &output)
        output.append(":")
        member.value.write(into: &output)
      }
      output.append("}")
    }
  }
}
