import Bytes
import RPC

/// The members that error bodies have in common, whatever shape they are of.
struct ErrorDocument {
  /// `code` as a number.
  var number: Int?
  /// `code` as a text.
  var codeName: String?
  /// `status` as a text.
  var statusName: String?
  var message: String?
  var detail: String?
  var title: String?
  /// `error` as a text.
  var errorText: String?
  /// Where the elements of `details` lie; the first 64.
  var details: [Range<Int>] = []
  /// Whether there are members that google.rpc.Status has not.
  var hasForeignMembers = false

  static let maximumDetails = 64

  /// Reads an object, and the one in its member `error`; nil when the body is no JSON object.
  static func read(_ body: Span<UInt8>) -> (outer: ErrorDocument, inner: ErrorDocument?)? {
    var scanner = JSONScanner(body)
    var inner: ErrorDocument?
    do throws(JSONFault) {
      guard scanner.peek() == UInt8(ascii: "{") else { return nil }
      let outer = try read(&scanner, body, inner: &inner, isOuter: true)
      try scanner.finish()
      return (outer, inner)
    } catch {
      return nil
    }
  }

  private static func read(
    _ scanner: inout JSONScanner, _ body: Span<UInt8>, inner: inout ErrorDocument?, isOuter: Bool
  ) throws(JSONFault) -> ErrorDocument {
    var document = ErrorDocument()
    try scanner.expect(UInt8(ascii: "{"))
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      switch name {
      case "code":
        if scanner.peek() == UInt8(ascii: "\"") {
          document.codeName = try scanner.string()
        } else {
          let start = scanner.index
          try scanner.skipValue()
          document.number = ASCII.decimal(body.extracting(start..<scanner.index))
        }
      case "message": document.message = try text(&scanner)
      case "details": document.details = try elements(&scanner)
      case "status":
        document.statusName = try scanner.stringIfAny()
        document.hasForeignMembers = true
      case "error" where isOuter && scanner.peek() == UInt8(ascii: "{"):
        document.hasForeignMembers = true
        var none: ErrorDocument?
        inner = try read(&scanner, body, inner: &none, isOuter: false)
      case "error":
        document.errorText = try text(&scanner)
        document.hasForeignMembers = true
      case "detail":
        document.detail = try text(&scanner)
        document.hasForeignMembers = true
      case "title":
        document.title = try text(&scanner)
        document.hasForeignMembers = true
      default:
        document.hasForeignMembers = true
        try scanner.skipValue()
      }
    }
    return document
  }

  /// A text that says something; nil for an empty one and for another type.
  private static func text(_ scanner: inout JSONScanner) throws(JSONFault) -> String? {
    guard let text = try scanner.stringIfAny(), !text.isEmpty else { return nil }
    return text
  }

  /// Where the elements of a list lie; none for another type.
  static func elements(_ scanner: inout JSONScanner) throws(JSONFault) -> [Range<Int>] {
    guard scanner.peek() == UInt8(ascii: "[") else {
      try scanner.skipValue()
      return []
    }
    try scanner.expect(UInt8(ascii: "["))
    var ranges: [Range<Int>] = []
    var isFirst = true
    while try scanner.nextElement(&isFirst) {
      _ = scanner.peek()
      let start = scanner.index
      try scanner.skipValue()
      if ranges.count < maximumDetails { ranges.append(start..<scanner.index) }
    }
    return ranges
  }
}
