import Bytes
import RPC

/// `{"data": …}` around every answer of a legacy API.
enum Envelope {
  /// Where the value of a member lies in an object; nil when the member is missing.
  ///
  /// Only the structure is looked at: what is inside the value is the codec's to judge, other members are nobody's.
  ///
  /// - Throws: for what is no object, ends early, or has the member twice.
  static func unwrap(_ json: Span<UInt8>, member: String) throws(JSONFault) -> Range<Int>? {
    var found: Range<Int>?
    var index = blanks(json, 0)
    try expect(json, &index, UInt8(ascii: "{"))
    index = blanks(json, index)
    if index < json.count, json[index] == UInt8(ascii: "}") {
      index += 1
    } else {
      while true {
        let start = blanks(json, index)
        index = try end(ofString: json, start)
        var name = JSONScanner(json.extracting(start..<index))
        let isMember = try name.string() == member
        index = blanks(json, index)
        try expect(json, &index, UInt8(ascii: ":"))
        let value = blanks(json, index)
        index = try end(ofValue: json, value)
        if isMember {
          if found != nil { throw JSONFault() }
          found = value..<index
        }
        index = blanks(json, index)
        guard index < json.count, json[index] == UInt8(ascii: ",") else { break }
        index += 1
      }
      try expect(json, &index, UInt8(ascii: "}"))
    }
    guard blanks(json, index) == json.count else { throw JSONFault() }
    return found
  }

  private static func blanks(_ json: Span<UInt8>, _ start: Int) -> Int {
    var index = start
    while index < json.count, isBlank(json[index]) { index += 1 }
    return index
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  private static func expect(_ json: Span<UInt8>, _ index: inout Int, _ byte: UInt8) throws(JSONFault) {
    guard index < json.count, json[index] == byte else { throw JSONFault() }
    index += 1
  }

  private static func end(ofString json: Span<UInt8>, _ start: Int) throws(JSONFault) -> Int {
    guard start < json.count, json[start] == UInt8(ascii: "\"") else { throw JSONFault() }
    var index = start + 1
    while index < json.count {
      switch json[index] {
      case UInt8(ascii: "\""): return index + 1
      case UInt8(ascii: "\\"): index += 2
      default: index += 1
      }
    }
    throw JSONFault()
  }

  private static func end(ofValue json: Span<UInt8>, _ start: Int) throws(JSONFault) -> Int {
    var index = start
    var depth = 0
    while index < json.count {
      switch json[index] {
      case UInt8(ascii: "\""):
        index = try end(ofString: json, index)
        if depth == 0 { return index }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        index += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        // The end of the object around: the value was a bare word.
        if depth == 0 { return try bareWord(start, index) }
        depth -= 1
        index += 1
        if depth == 0 { return index }
      case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
        if depth == 0 { return try bareWord(start, index) }
        index += 1
      default: index += 1
      }
    }
    throw JSONFault()
  }

  private static func bareWord(_ start: Int, _ end: Int) throws(JSONFault) -> Int {
    guard end > start else { throw JSONFault() }
    return end
  }
}
