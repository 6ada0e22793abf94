import Bytes

extension ConnectErrorBody {
  /// Reads the body of an answer other than 200, whatever it is.
  ///
  /// The code of the JSON wins over the status. Where it is null, missing or unknown the status gives the code, and
  /// message and details stay. A body that is no JSON object leaves nothing but the status; the log gets an excerpt.
  ///
  /// - Parameter body: decompressed.
  public static func read(_ body: Span<UInt8>, status: Int) -> RPCError {
    let inferred = RPCError(Code(inferredFromStatus: status), "HTTP status \(status)", logDetail: excerpt(body))
    var scanner = JSONScanner(body)
    guard scanner.peek() == UInt8(ascii: "{"), let members = try? members(&scanner), (try? scanner.finish()) != nil
    else { return inferred }
    guard let code = members.code else {
      return RPCError(
        inferred.code, members.message ?? inferred.message, details: members.details, logDetail: inferred.logDetail)
    }
    return RPCError(code, members.message ?? "", details: members.details)
  }

  /// What an error object said.
  struct Members {
    var code: Code?
    var message: String?
    var details: [ErrorDetail] = []
  }

  /// Reads an error object; the scanner stands on its brace. Members of a wrong type count as absent.
  static func members(_ scanner: inout JSONScanner) throws(JSONFault) -> Members {
    var members = Members()
    try scanner.expect(UInt8(ascii: "{"))
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      switch name {
      case "code": members.code = try scanner.stringIfAny().flatMap { Code(name: $0) }
      case "message": members.message = try scanner.stringIfAny()
      case "details": members.details = try details(&scanner)
      default: try scanner.skipValue()
      }
    }
    return members
  }

  /// Reads the array of details; what is no detail in it is dropped alone.
  private static func details(_ scanner: inout JSONScanner) throws(JSONFault) -> [ErrorDetail] {
    guard scanner.peek() == UInt8(ascii: "[") else {
      try scanner.skipValue()
      return []
    }
    try scanner.expect(UInt8(ascii: "["))
    var details: [ErrorDetail] = []
    var isFirst = true
    while try scanner.nextElement(&isFirst) {
      if scanner.peek() == UInt8(ascii: "{"), details.count < maximumDetails {
        if let detail = try detail(&scanner) { details.append(detail) }
      } else {
        try scanner.skipValue()
      }
    }
    return details
  }

  /// Reads one detail; `debug` and foreign members are skipped. Nil without a type, or when the value is no base64.
  private static func detail(_ scanner: inout JSONScanner) throws(JSONFault) -> ErrorDetail? {
    try scanner.expect(UInt8(ascii: "{"))
    var type: String?
    var value: String? = ""
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      switch name {
      case "type": type = try scanner.stringIfAny()
      case "value": value = try scanner.stringIfAny()
      default: try scanner.skipValue()
      }
    }
    // `type.googleapis.com/` and any other host before the name.
    guard let name = type?.split(separator: "/", omittingEmptySubsequences: false).last, !name.isEmpty, let value else {
      return nil
    }
    var bytes = ByteBuffer()
    guard Base64.decode(Array(value.utf8).span, into: &bytes) else { return nil }
    return ErrorDetail(typeName: String(name), value: bytes.bytes)
  }

  /// The beginning of a body, for the log.
  static func excerpt(_ body: Span<UInt8>) -> String {
    String(repairing: body.extracting(first: min(body.count, 256)))
  }
}
