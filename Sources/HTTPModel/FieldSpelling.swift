import Bytes

/// Field names as servers read them that make variables of them (CGI, WSGI and their kin): `_` and `-` are the same, and
/// case says nothing. So `X_User_Id` can be taken for `X-User-Id` by who stands behind a gateway that let it through.
public enum FieldSpelling {
  /// Whether both are read as the same name.
  public static func isSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where normal(left[index]) != normal(right[index]) { return false }
    return true
  }

  /// Whether the name is read as one that begins so.
  ///
  /// - Parameter prefix: in lower case, with hyphens.
  public static func begins(_ name: Span<UInt8>, with prefix: StaticString) -> Bool {
    let count = prefix.utf8CodeUnitCount
    guard name.count >= count else { return false }
    let start = unsafe prefix.utf8Start
    for index in 0..<count where unsafe normal(name[index]) != start[index] { return false }
    return true
  }

  @inline(__always)
  private static func normal(_ byte: UInt8) -> UInt8 {
    byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : ASCII.lowercased(byte)
  }

  public static func hasUnderscore(_ name: Span<UInt8>) -> Bool {
    for index in name.indices where name[index] == UInt8(ascii: "_") { return true }
    return false
  }
}
