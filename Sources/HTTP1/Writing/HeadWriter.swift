public import Bytes
public import HTTPModel

/// Writes heads (RFC 9112 sections 3 and 4).
///
/// Host and the framing fields are written from the parameters; fields of these names in the block are left out.
/// Nothing is checked: names and values come from a parser or were checked where they were made.
public enum HeadWriter {
  private static let framingFields: FieldNames = [.contentLength, .transferEncoding]
  private static let requestFields: FieldNames = [.host, .contentLength, .transferEncoding]

  /// Appends request line, `host`, all fields, the framing field and the blank line.
  ///
  /// - Parameters:
  ///   - target: written as it is.
  ///   - framing: `none` writes `content-length: 0` for methods that otherwise have a body (RFC 9110 section 8.6); a
  ///     request cannot be `untilClose`.
  ///   - closing: adds `connection: close`.
  public static func request(
    method: HTTPMethod, target: Span<UInt8>, authority: Span<UInt8>, fields: FieldBlock, framing: BodyFraming,
    closing: Bool, into output: inout ByteBuffer
  ) {
    precondition(framing != .untilClose, "a request body cannot end with the connection")
    output.reserve(target.count &+ authority.count &+ fields.byteCount &+ 128)
    append(method, to: &output)
    output.append(target)
    output.append(" HTTP/1.1\r\nhost: ")
    output.append(authority)
    output.append("\r\n")
    fields.write(into: &output, omitting: requestFields)
    end(framing == .none && hasBody(method) ? .length(0) : framing, closing: closing, of: &output)
  }

  /// Appends status line, fields, the framing field and the blank line.
  ///
  /// - Parameters:
  ///   - framing: `none` writes no framing field, and none is written for 1xx, 204 and 304. An answer to HEAD has that
  ///     of the GET.
  ///   - closing: adds `connection: close`; so does `untilClose`.
  public static func response(
    status: Int, fields: FieldBlock, framing: BodyFraming, closing: Bool, into output: inout ByteBuffer
  ) {
    output.reserve(fields.byteCount &+ 128)
    if status == 200 {
      output.append("HTTP/1.1 200 OK\r\n")
    } else {
      output.append("HTTP/1.1 ")
      output.append(decimal: status)
      output.append(" ")
      output.append(ReasonPhrase.of(status))
      output.append("\r\n")
    }
    fields.write(into: &output, omitting: framingFields)
    let isFramed = status >= 200 && status != 204 && status != 304
    end(isFramed ? framing : .none, closing: closing || framing == .untilClose, of: &output)
  }

  /// Appends the framing field, and the end of the head.
  private static func end(_ framing: BodyFraming, closing: Bool, of output: inout ByteBuffer) {
    switch framing {
    case .none, .untilClose: output.append(closing ? "connection: close\r\n\r\n" : "\r\n")
    case .length(let length):
      output.append("content-length: ")
      output.append(decimal: length)
      output.append(closing ? "\r\nconnection: close\r\n\r\n" : "\r\n\r\n")
    case .chunked:
      output.append(
        closing ? "transfer-encoding: chunked\r\nconnection: close\r\n\r\n" : "transfer-encoding: chunked\r\n\r\n")
    }
  }

  /// Appends the method and the blank behind it.
  private static func append(_ method: HTTPMethod, to output: inout ByteBuffer) {
    switch method {
    case .get: output.append("GET ")
    case .post: output.append("POST ")
    default:
      output.append(text: method.name)
      output.append(" ")
    }
  }

  private static func hasBody(_ method: HTTPMethod) -> Bool {
    method == .post || method == .put || method == .patch
  }
}
