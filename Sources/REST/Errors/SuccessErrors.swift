import Bytes
package import ProtoJSON
package import RPC

/// Tells errors that a REST backend sends with a status of success: `{"success": false, "error": {…}}`.
package struct SuccessErrors: Sendable, Hashable {
  package enum Test: Sendable, Hashable {
    /// The member is there and not null.
    case present
    /// A text, or a number or a word as it is written, is one of these.
    case equals([String])
    /// It is there and none of these.
    case not([String])
  }

  package let member: String
  package let test: Test
  /// For an answer that names none itself.
  package let code: Code

  package init(member: String, test: Test, code: Code) {
    self.member = member
    self.test = test
    self.code = code
  }

  /// The error that an answer tells; nil for one that is none, and for one that is no JSON object.
  ///
  /// - Parameter format: how errors look to REST callers.
  package func error(
    contentType: Span<UInt8>?, body: Span<UInt8>, codec: JSONCodec, format: ErrorFormat = .status
  ) -> RPCError? {
    if let contentType, !MediaType.isJSON(contentType) { return nil }
    guard tells(body) else { return nil }
    // The caller may see what a body of its code would show.
    return RESTErrors.read(
      status: code.httpStatus, contentType: contentType, body: body, codec: codec, format: format, code: code)
  }

  private func tells(_ body: Span<UInt8>) -> Bool {
    var scanner = JSONScanner(body)
    do throws(JSONFault) {
      guard scanner.peek() == UInt8(ascii: "{") else { return false }
      try scanner.expect(UInt8(ascii: "{"))
      var isFirst = true
      while let name = try scanner.nextMember(&isFirst) {
        if name == member { return try passes(&scanner, body) }
        try scanner.skipValue()
      }
    } catch {
      // What is no JSON is told by whoever reads the answer.
    }
    return false
  }

  private func passes(_ scanner: inout JSONScanner, _ body: Span<UInt8>) throws(JSONFault) -> Bool {
    let isText = scanner.peek() == UInt8(ascii: "\"")
    let text: String
    if isText {
      text = try scanner.string()
    } else {
      let start = scanner.index
      try scanner.skipValue()
      text = String(repairing: body.extracting(start..<scanner.index))
    }
    if !isText, text == "null" { return false }
    return switch test {
    case .present: true
    case .equals(let values): values.contains(text)
    case .not(let values): !values.contains(text)
    }
  }
}
