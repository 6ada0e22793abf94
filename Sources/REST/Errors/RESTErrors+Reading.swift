import Bytes
package import ProtoJSON
import ProtobufSchema
package import RPC

extension RESTErrors {
  /// Bytes of a legacy body that a message or the log gets.
  static let excerptLength = 256
  /// Bytes beyond which a body is not looked into.
  static let maximumDocument = 1 << 20

  /// Reads a REST backend's answer other than 2xx, in whatever shape: google.rpc.Status bare or under `error`, an RFC
  /// 9457 problem, a Connect error, a google.rpc.Status in protobuf, JSON with `message`, `error` or `detail`, text, or
  /// nothing.
  ///
  /// The code is the body's where it names one, else the status's by ``StatusTable/code(ofRESTStatus:)``.
  ///
  /// - Parameters:
  ///   - body: decompressed.
  ///   - format: how errors look to REST callers: one of the old API's own is looked for first.
  ///   - code: in place of the status's.
  ///   - unsaid: the message of an error that has none of its own.
  package static func read(
    status: Int, contentType: Span<UInt8>?, body: Span<UInt8>, codec: JSONCodec,
    format: ErrorFormat = .status, code known: Code? = nil, unsaid: String? = nil
  ) -> RPCError {
    let log = body.isEmpty ? "" : excerpt(body)
    let unsaid = unsaid ?? "HTTP status \(status)"
    let byStatus = known ?? StatusTable.code(ofRESTStatus: status)
    if let contentType, ProtobufMediaType(contentType) != nil {
      return readProtobuf(body, status) ?? RPCError(byStatus, unsaid, logDetail: log)
    }
    guard !isMarkup(contentType, body) else {
      return RPCError(byStatus, unsaid, logDetail: log)
    }
    guard body.count <= maximumDocument, let (outer, inner) = ErrorDocument.read(body) else {
      // Of a text the caller may see the beginning where the fault is the caller's; what a failing backend says
      // stays inside.
      let isShown = (400..<500).contains(status) && isText(contentType, body) && !log.isEmpty
      return RPCError(byStatus, isShown ? log : unsaid, logDetail: log)
    }
    var own = ErrorTemplate.Findings()
    if case .template(let template) = format { own = template.read(body) ?? own }
    let candidates = [
      own.message, outer.message, inner?.message, outer.errorText, outer.detail, inner?.detail, outer.title,
    ]
    let said: String? = candidates.lazy.compactMap { $0 }.first
    let message = said ?? ((400..<500).contains(status) ? log : unsaid)
    let source = [own.details, outer.details, inner?.details ?? []].first { !$0.isEmpty } ?? []
    var details = source.compactMap { detail(body.extracting($0), codec) }
    if let reason = own.reason, StatusTable.code(named: reason) == nil,
      !details.contains(where: { $0.typeName == ErrorInfo.typeName })
    {
      details.append(ErrorInfo.detail(reason: reason))
    }
    return RPCError(own.code ?? code(outer, inner, status) ?? byStatus, message, details: details, logDetail: log)
  }

  /// Reads an error that stands in a stream that has begun with a status of success, in whatever shape (as
  /// ``StreamWriter`` writes it, bare or under `error`).
  ///
  /// A `code` that is an HTTP status counts as one. An error that names no code is `unknown`.
  ///
  /// - Parameter format: how errors look to REST callers, as for an answer that is an error.
  package static func readInStream(_ body: Span<UInt8>, codec: JSONCodec, format: ErrorFormat = .status) -> RPCError {
    let body = body.extracting(toldRange(body, format))
    let document = body.count <= maximumDocument ? ErrorDocument.read(body) : nil
    let number = document?.inner?.number ?? document?.outer.number
    let status = number.flatMap { (400..<600).contains($0) ? $0 : nil }
    return read(
      status: status ?? 500, contentType: nil, body: body, codec: codec, format: format,
      code: status == nil ? .unknown : nil, unsaid: "the upstream ended its stream with an error")
  }

  /// Where an error of a shape of one's own stands: ``StreamWriter`` puts it into a member `error`.
  private static func toldRange(_ body: Span<UInt8>, _ format: ErrorFormat) -> Range<Int> {
    guard case .template(let template) = format, template.read(body)?.isEmpty ?? true,
      let inner = try? Envelope.unwrap(body, member: "error"),
      template.read(body.extracting(inner))?.isEmpty == false
    else { return 0..<body.count }
    return inner
  }

  // MARK: Code

  private static func code(_ outer: ErrorDocument, _ inner: ErrorDocument?, _ status: Int) -> Code? {
    for document in [inner, outer] {
      guard let document else { continue }
      for name in [document.statusName, document.codeName] {
        if let name, let code = StatusTable.code(named: name) { return code }
      }
      if let code = document.number.flatMap({ UInt8(exactly: $0) }).flatMap({ Code(rawValue: $0) }),
        isStatus(document, code, status)
      {
        return code
      }
    }
    return nil
  }

  /// Whether a number from 1 to 16 is gRPC's: many legacy APIs count their own errors. It is where the object is a
  /// google.rpc.Status and nothing else, or where the HTTP status agrees.
  private static func isStatus(_ document: ErrorDocument, _ code: Code, _ status: Int) -> Bool {
    if document.message != nil, !document.hasForeignMembers { return true }
    return code.httpStatus == status || StatusTable.code(ofRESTStatus: status) == code
  }

  // MARK: Details

  /// A detail as ProtoJSON writes an Any, as the writer writes it for unknown types, or as Connect does; nil when it is
  /// none of them: it is dropped alone.
  private static func detail(_ json: Span<UInt8>, _ codec: JSONCodec) -> ErrorDetail? {
    var scanner = JSONScanner(json)
    var url: String?
    var type: String?
    var value: String?
    do throws(JSONFault) {
      guard scanner.peek() == UInt8(ascii: "{") else { return nil }
      try scanner.expect(UInt8(ascii: "{"))
      var isFirst = true
      while let name = try scanner.nextMember(&isFirst) {
        switch name {
        case "@type": url = try scanner.stringIfAny()
        case "type": type = try scanner.stringIfAny()
        case "value": value = try scanner.stringIfAny()
        default: try scanner.skipValue()
        }
      }
    } catch {
      return nil
    }
    if url != nil, let known = decodeAny(json, codec) { return known }
    guard let name = (url ?? type)?.split(separator: "/", omittingEmptySubsequences: false).last, !name.isEmpty,
      let value
    else { return nil }
    var bytes = ByteBuffer()
    guard Base64.decode(Array(value.utf8).span, into: &bytes) else { return nil }
    return ErrorDetail(typeName: String(name), value: bytes.bytes)
  }

  private static func decodeAny(_ json: Span<UInt8>, _ codec: JSONCodec) -> ErrorDetail? {
    guard let any = codec.schema.messageIndex(named: "google.protobuf.Any") else { return nil }
    var wire = ByteBuffer()
    var outcome = DecodingOutcome()
    do throws(JSONError) {
      try codec.decode(json, message: any, outcome: &outcome, into: &wire)
    } catch {
      return nil
    }
    return readAny(wire.span)
  }

  // MARK: Text

  /// Pages made for people: HTML, and anything else that begins like it.
  private static func isMarkup(_ contentType: Span<UInt8>?, _ body: Span<UInt8>) -> Bool {
    if let contentType, MediaType.matches(contentType, "text/html") { return true }
    for index in body.indices {
      switch body[index] {
      case 0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF: continue
      case let byte: return byte == UInt8(ascii: "<")
      }
    }
    return false
  }

  private static func isText(_ contentType: Span<UInt8>?, _ body: Span<UInt8>) -> Bool {
    guard UTF8Validation.isValid(body) else { return false }
    guard let contentType else { return true }
    if MediaType.isJSON(contentType) { return true }
    return contentType.count >= 5 && ASCII.equalIgnoringCase(contentType.extracting(first: 5), "text/")
  }

  /// The beginning of a body on one line, cut between characters.
  private static func excerpt(_ body: Span<UInt8>) -> String {
    var length = min(body.count, excerptLength)
    if length < body.count {
      while length > 0, body[length] & 0xC0 == 0x80 { length -= 1 }
    }
    let text = String(repairing: body.extracting(first: length))
    var line = ""
    for character in text.unicodeScalars {
      line.unicodeScalars.append(character.value < 0x20 || character.value == 0x7F ? " " : character)
    }
    return line
  }
}
