import Bytes

/// JSON before it is spelt: the same tree is written compactly or with indentation.
indirect enum JSONTree {
  case object([(name: String, value: JSONTree)])
  case array([JSONTree])
  case string(JSONString)
  /// A number or a literal as it stands.
  case bare(String)

  /// - Parameter indentation: levels from the margin; nil for the compact form.
  func written(indentation: Int?) -> [UInt8] {
    var output = ByteBuffer()
    write(into: &output, indentation: indentation)
    return output.bytes
  }

  private func write(into output: inout ByteBuffer, indentation: Int?) {
    switch self {
    case .object(let members):
      Self.write(members, "{", "}", indentation, into: &output) { member, inner, output in
        JSONString(member.name).write(into: &output)
        output.append(indentation == nil ? ":" : ": ")
        member.value.write(into: &output, indentation: inner)
      }
    case .array(let elements):
      Self.write(elements, "[", "]", indentation, into: &output) { element, inner, output in
        element.write(into: &output, indentation: inner)
      }
    case .string(let text): text.write(into: &output)
    case .bare(let text): output.append(text: text)
    }
  }

  private static func write<Part>(
    _ parts: [Part], _ open: StaticString, _ close: StaticString, _ indentation: Int?, into output: inout ByteBuffer,
    _ body: (Part, Int?, inout ByteBuffer) -> Void
  ) {
    output.append(open)
    for (index, part) in parts.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      breakLine(indentation.map { $0 + 1 }, into: &output)
      body(part, indentation.map { $0 + 1 }, &output)
    }
    if !parts.isEmpty { breakLine(indentation, into: &output) }
    output.append(close)
  }

  private static func breakLine(_ indentation: Int?, into output: inout ByteBuffer) {
    guard let indentation else { return }
    output.append(UInt8(ascii: "\n"))
    for _ in 0..<indentation { output.append("  ") }
  }
}

/// A text and how it is spelt.
struct JSONString {
  let text: String
  /// Whether all but ASCII is escaped, as some serializers do.
  let isASCII: Bool

  init(_ text: String, isASCII: Bool = false) {
    self.text = text
    self.isASCII = isASCII
  }

  func write(into output: inout ByteBuffer) {
    output.append(0x22)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        output.append(0x5C)
        output.append(text: String(scalar))
      case "\n": output.append("\\n")
      case _ where isASCII && !scalar.isASCII:
        for unit in String(scalar).utf16 {
          output.append("\\u")
          let digits = String(unit, radix: 16)
          output.append(text: String(repeating: "0", count: 4 - digits.count) + digits)
        }
      default: output.append(text: String(scalar))
      }
    }
    output.append(0x22)
  }
}
