import Bytes
import HTTPModel
import RPC

/// Answers to what never became a call: there is no route and no schema, so the plainest REST shape is written.
enum ErrorAnswers {
  static func write(_ error: RPCError, into answer: Answer) {
    answer.status = error.httpStatus ?? error.code.httpStatus
    answer.fields.append(.contentType, "application/json")
    for header in error.headers { answer.fields.append(header.name, header.value) }
    // A detail needs a schema to be written; what is refused this early has none.
    answer.body.append("{\"code\":")
    answer.body.append(decimal: error.code.rawValue)
    answer.body.append(",\"message\":")
    JSONText.append(error.message, to: &answer.body)
    answer.body.append(",\"details\":[]}")
  }
}

/// JSON strings for logs, pages and plain errors.
enum JSONText {
  /// Appends a string in quotes with what RFC 8259 section 7 demands escaped.
  static func append(_ text: String, to output: inout ByteBuffer) {
    output.append(UInt8(ascii: "\""))
    for byte in text.utf8 { append(byte, to: &output) }
    output.append(UInt8(ascii: "\""))
  }

  /// As ``append(_:to:)`` for bytes that may be no UTF-8: what is not ASCII is then escaped byte by byte as `\u00XX`.
  static func append(bytes: Span<UInt8>, to output: inout ByteBuffer) {
    output.append(UInt8(ascii: "\""))
    let isText = UTF8Validation.isValid(bytes)
    for index in bytes.indices {
      let byte = bytes[index]
      if byte >= 0x80, !isText { escape(byte, to: &output) } else { append(byte, to: &output) }
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func append(_ byte: UInt8, to output: inout ByteBuffer) {
    switch byte {
    case UInt8(ascii: "\""): output.append("\\\"")
    case UInt8(ascii: "\\"): output.append("\\\\")
    case 0x0A: output.append("\\n")
    case 0x0D: output.append("\\r")
    case 0x09: output.append("\\t")
    case 0..<0x20, 0x7F: escape(byte, to: &output)
    default: output.append(byte)
    }
  }

  private static func escape(_ byte: UInt8, to output: inout ByteBuffer) {
    output.append("\\u00")
    for digit in [byte >> 4, byte & 15] { output.append(digit < 10 ? digit + 48 : digit + 87) }
  }
}
