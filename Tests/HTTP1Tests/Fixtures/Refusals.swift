import HTTP1
import HTTP1TestSupport
import Testing

/// Bytes that must be refused, and as what.
struct Refusal: Sendable, CustomTestStringConvertible {
  let kind: HTTP1Error.Kind
  let side: ConnectionTranscript.Side
  let text: String
  var limits = HeadLimits()

  var bytes: [UInt8] { Array(text.utf8) }
  var testDescription: String { "\(kind): \(text.debugDescription.prefix(90))" }

  static func request(_ kind: HTTP1Error.Kind, _ text: String, limits: HeadLimits = HeadLimits()) -> Refusal {
    Refusal(kind: kind, side: .requests, text: text, limits: limits)
  }

  /// A request line that is followed by a good Host field.
  static func line(_ kind: HTTP1Error.Kind, _ line: String) -> Refusal {
    .request(kind, line + "\r\nHost: a\r\n\r\n")
  }

  /// A field section without Host.
  static func fields(_ kind: HTTP1Error.Kind, _ fields: String, limits: HeadLimits = HeadLimits()) -> Refusal {
    .request(kind, "GET / HTTP/1.1\r\n" + fields + "\r\n\r\n", limits: limits)
  }

  /// A chunked body.
  static func chunks(_ kind: HTTP1Error.Kind, _ body: String) -> Refusal {
    .request(kind, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
  }

  static func response(_ kind: HTTP1Error.Kind, _ text: String, limits: HeadLimits = HeadLimits()) -> Refusal {
    Refusal(kind: kind, side: .responses, text: text, limits: limits)
  }

  static let all = startLines + targets + fieldSections + framings + bodies + responses
}
