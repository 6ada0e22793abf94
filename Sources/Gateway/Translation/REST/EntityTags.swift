import Bytes
import HTTPModel
import TransportSecurity

/// Tags of translated answers, so that a client need not load again what it has (RFC 9110 sections 8.8.3 and 13.1.2).
enum EntityTags {
  /// Gives the answer to a GET a tag made from its body, unless the upstream has given it one, and leaves the body out
  /// if the caller says that it has just this.
  ///
  /// The tag is weak: the body may be compressed in one way or another. Call it before that.
  static func apply(_ call: Call, to answer: Answer) {
    guard answer.status == 200, call.head.method == .get || call.head.method == .head else { return }
    let tag: String
    if let index = answer.fields.firstIndex(of: .etag) {
      tag = answer.fields.text(at: index)
    } else {
      let digest = SHA256.digest(answer.body.bytes)
      var text = ByteBuffer()
      text.append("W/\"")
      Base64.encode(digest.span.extracting(first: 16), into: &text, alphabet: .urlSafe, padded: false)
      text.append("\"")
      tag = text.withSpan { String(repairing: $0) }
      answer.fields.append(.etag, tag)
    }
    guard isNamed(tag, in: call.head.fields) else { return }
    // Caches of the answer as it is need to know what it depends on (RFC 9110 section 15.4.5).
    if let plan = call.route?.plan.compression, answer.body.count >= plan.minimumSize, plan.covers(answer.fields) {
      answer.fields.vary(by: "Accept-Encoding")
    }
    answer.status = 304
    answer.fitToStatus()
  }

  /// Whether `If-None-Match` has the tag, compared weakly, or `*`.
  private static func isNamed(_ tag: String, in fields: FieldBlock) -> Bool {
    let own = opaque(tag.utf8)
    var index = 0
    while let found = fields.nextIndex(of: .ifNoneMatch, from: index) {
      let text = fields.text(at: found)
      if text == "*" { return true }
      var rest = text.utf8[...]
      // A tag's text may hold commas: the quotes part them.
      while let start = rest.firstIndex(of: UInt8(ascii: "\"")) {
        let content = rest[start...].dropFirst()
        guard let end = content.firstIndex(of: UInt8(ascii: "\"")) else { break }
        if content[..<end].elementsEqual(own) { return true }
        rest = content[end...].dropFirst()
      }
      index = found + 1
    }
    return false
  }

  /// What stands between the quotes of a tag.
  private static func opaque(_ tag: String.UTF8View) -> Substring.UTF8View {
    let content = tag.drop { $0 != UInt8(ascii: "\"") }.dropFirst()
    return content.firstIndex(of: UInt8(ascii: "\"")).map { content[..<$0] } ?? content
  }
}
