public import Bytes

/// The coding of `grpc-message` (gRPC over HTTP/2, Status-Message): printable ASCII but `%` stands for itself.
public enum GRPCMessage {
  /// Appends the text as UTF-8 with all else escaped as `%XX`.
  ///
  /// Blanks at both ends are escaped too: HTTP takes them away from a field's value.
  ///
  /// - Parameter limit: bytes at most; a longer text is cut between two characters.
  public static func encode(_ text: String, into output: inout ByteBuffer, limit: Int = .max) {
    var limit = limit
    let scalars = text.unicodeScalars
    guard let last = scalars.indices.last else { return }
    for index in scalars.indices {
      let scalar = scalars[index]
      let isAtAnEnd = index == scalars.startIndex || index == last
      if scalar.value >= 0x20, scalar.value <= 0x7E, scalar != "%", scalar != " " || !isAtAnEnd {
        guard limit >= 1 else { return }
        output.append(UInt8(truncatingIfNeeded: scalar.value))
        limit -= 1
      } else {
        let units = UTF8.width(scalar)
        guard limit >= units * 3 else { return }
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { escape(byte, into: &output) }
        limit -= units * 3
      }
    }
  }

  /// The text of a value: escapes that are none stay as they were written, what is no UTF-8 becomes U+FFFD.
  public static func decode(_ value: Span<UInt8>) -> String {
    var decoded = ByteBuffer(minimumCapacity: value.count)
    var index = 0
    while index < value.count {
      let byte = value[index]
      if byte == UInt8(ascii: "%"), value.count &- index >= 3,
        let high = ASCII.hexadecimalValue(value[index &+ 1]), let low = ASCII.hexadecimalValue(value[index &+ 2])
      {
        decoded.append(high << 4 | low)
        index &+= 3
      } else {
        decoded.append(byte)
        index &+= 1
      }
    }
    return String(repairing: decoded.span)
  }

  private static func escape(_ byte: UInt8, into output: inout ByteBuffer) {
    output.append(UInt8(ascii: "%"))
    output.append(digit(byte >> 4))
    output.append(digit(byte & 15))
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? value &+ 48 : value &+ 55 }
}
