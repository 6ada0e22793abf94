public import Bytes
public import HTTPModel

extension Metadata {
  /// Values of a list that become fields of their own: each repeats the name, so that a longer list would grow by it.
  private static let maximumFields = 64

  /// Whether a field of this name carries base64.
  public static func isBinary(_ name: Span<UInt8>) -> Bool {
    name.count > 4 && ASCII.equalIgnoringCase(name.extracting(last: 4), "-bin")
  }

  /// Copies a field of metadata from one side to the other, with a prefix before its name (`trailer-`) if wanted.
  ///
  /// A binary value is written as all protocols take it: standard alphabet, no padding, and one field for each value
  /// of a list, because not every gRPC server takes lists apart. A list of more than 64 values stays one field; what is
  /// no base64 goes as it is.
  public static func carry(
    _ fields: FieldBlock, at index: Int, to target: FieldBlock, prefix: StaticString = ""
  ) {
    guard fields.entry(at: index).name == .other, fields.withName(at: index, { isBinary($0) }),
      fields.withValue(at: index, { !isNormalBinary($0) })
    else {
      target.append(from: fields, at: index, prefix: prefix)
      return
    }
    var normal = ByteBuffer()
    guard fields.withValue(at: index, { normalizeBinary($0, into: &normal) }) else {
      target.append(from: fields, at: index, prefix: prefix)
      return
    }
    var name = ByteBuffer()
    name.append(prefix)
    fields.withName(at: index) { name.append($0) }
    if commas(in: normal.span) < maximumFields {
      appendList(name.span, normal.span, to: target)
    } else {
      target.append(name.span, normal.span)
    }
  }

  private static func commas(in list: Span<UInt8>) -> Int {
    var count = 0
    for index in list.indices where list[index] == UInt8(ascii: ",") { count &+= 1 }
    return count
  }

  private static func appendList(_ name: Span<UInt8>, _ list: Span<UInt8>, to target: FieldBlock) {
    HeaderList.forEach(list) { target.append(name, $0) }
  }

  /// Whether a value is one of standard digits only, so that it needs no change.
  private static func isNormalBinary(_ value: Span<UInt8>) -> Bool {
    for index in value.indices {
      let byte = value[index]
      guard ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") else { return false }
    }
    return true
  }

  /// Whether a value is base64 in either alphabet, or a list of such.
  public static func isBase64(_ value: Span<UInt8>) -> Bool {
    if isNormalBinary(value) { return value.count % 4 != 1 }
    var normal = ByteBuffer()
    return normalizeBinary(value, into: &normal)
  }

  /// Appends a binary value as the protocol writes it: standard alphabet, no padding, several values with a comma.
  ///
  /// - Returns: false when a part of the value is no base64 in either alphabet; nothing is appended then.
  public static func normalizeBinary(_ value: Span<UInt8>, into output: inout ByteBuffer) -> Bool {
    var normal = ByteBuffer()
    var decoded = ByteBuffer()
    var parts = 0
    var isValid = true
    HeaderList.forEach(value) { part in
      guard isValid else { return }
      decoded.removeAll()
      isValid = Base64.decode(part.extracting(MediaType.essence(part)), into: &decoded)
      if parts > 0 { normal.append(UInt8(ascii: ",")) }
      parts += 1
      Base64.encode(decoded.span, into: &normal, padded: false)
    }
    if isValid { output.append(normal.span) }
    return isValid
  }
}
