import Bytes
import ProtobufSchema

/// `google.protobuf.FieldMask` as text: lowerCamel paths, joined by commas.
enum FieldMaskForm {
  /// Appends one length-delimited `paths = 1` per path of the text.
  ///
  /// - Parameter allowsSnakeCase: takes proto names too (queries).
  static func parse(
    _ text: Span<UInt8>, at offset: Int, allowsSnakeCase: Bool = false, into output: inout ByteBuffer
  ) throws(Fault) {
    guard !text.isEmpty else { return }
    var start = 0
    for index in 0...text.count where index == text.count || text[index] == UInt8(ascii: ",") {
      try path(text.extracting(start..<index), at: offset, allowsSnakeCase, into: &output)
      start = index + 1
    }
  }

  private static func path(
    _ path: Span<UInt8>, at offset: Int, _ allowsSnakeCase: Bool, into output: inout ByteBuffer
  ) throws(Fault) {
    guard !path.isEmpty else { throw Fault(.type, at: offset, "paths separated by single commas expected") }
    output.append(0x0A)
    let start = output.beginLengthDelimited()
    for index in path.indices {
      let byte = path[index]
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"):
        output.append(UInt8(ascii: "_"))
        output.append(byte | 0x20)
      case UInt8(ascii: "_") where !allowsSnakeCase:
        throw Fault(.type, at: offset, "paths in lowerCamelCase expected")
      default: output.append(byte)
      }
    }
    output.endLengthDelimited(start)
  }

  /// Appends one path in lowerCamelCase.
  ///
  /// - Parameter isQuoted: whether it becomes a part of a JSON string.
  /// - Returns: false when the path would not come back from it: capitals, an underscore not before a letter, a comma,
  ///   or nothing at all.
  static func write(_ path: Span<UInt8>, isQuoted: Bool, into output: inout ByteBuffer) -> Bool {
    var isAfterUnderscore = false
    for index in path.indices {
      let byte = path[index]
      if isAfterUnderscore {
        guard byte &- 97 < 26 else { return false }
        output.append(byte & 0xDF)
        isAfterUnderscore = false
      } else if byte == UInt8(ascii: "_") {
        isAfterUnderscore = true
      } else {
        guard byte &- 65 >= 26, byte != UInt8(ascii: ",") else { return false }
        // Keys of maps may stand in a path, and they may be any text.
        if isQuoted, byte < 0x20 || byte == 0x22 || byte == 0x5C {
          JSONStringWriting.escape(byte, into: &output)
        } else {
          output.append(byte)
        }
      }
    }
    return !isAfterUnderscore && !path.isEmpty
  }

  /// Whether a path is read as itself where proto names are taken too.
  static func isProtoName(_ path: Span<UInt8>) -> Bool {
    for index in path.indices where path[index] &- 65 < 26 || path[index] == UInt8(ascii: ",") { return false }
    return !path.isEmpty
  }
}
