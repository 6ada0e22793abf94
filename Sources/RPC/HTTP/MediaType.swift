import Bytes

/// Compares Content-Type values (RFC 9110 section 8.3): without case, parameters and blanks around them ignored.
public enum MediaType {
  /// Whether a field value names this type, given in lower case (`application/json`).
  public static func matches(_ value: Span<UInt8>, _ type: StaticString) -> Bool {
    ASCII.equalIgnoringCase(value.extracting(essence(value)), type)
  }

  /// Whether a field value names a JSON type: `application/json`, `text/json`, and any `+json` (RFC 6839 section 3.1)
  /// but the enveloped ones of the RPC protocols, which hold JSON and are none.
  public static func isJSON(_ value: Span<UInt8>) -> Bool {
    let type = value.extracting(essence(value))
    if ASCII.equalIgnoringCase(type, "application/json") || ASCII.equalIgnoringCase(type, "text/json") { return true }
    guard type.count > 5, ASCII.equalIgnoringCase(type.extracting(last: 5), "+json") else { return false }
    return !begins(type, "application/connect+") && !begins(type, "application/grpc")
  }

  /// Where type and subtype stand in a field value.
  public static func essence(_ value: Span<UInt8>) -> Range<Int> {
    var end = 0
    while end < value.count, value[end] != UInt8(ascii: ";") { end &+= 1 }
    var start = 0
    while start < end, isBlank(value[start]) { start &+= 1 }
    while end > start, isBlank(value[end &- 1]) { end &-= 1 }
    return start..<end
  }

  /// Whether bytes begin with these, given in lower case, without regard to case.
  public static func begins(_ bytes: Span<UInt8>, _ prefix: StaticString) -> Bool {
    let length = prefix.utf8CodeUnitCount
    return bytes.count >= length && ASCII.equalIgnoringCase(bytes.extracting(first: length), prefix)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
