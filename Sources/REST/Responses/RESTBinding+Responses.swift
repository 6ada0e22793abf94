package import Bytes
package import ProtoJSON
import ProtobufSchema
package import RPC

extension RESTBinding {
  // MARK: To REST callers

  /// Makes the body of a REST answer.
  ///
  /// - Parameters:
  ///   - wire: the response message.
  ///   - envelope: the member to wrap the JSON in; nothing else is ever wrapped.
  ///   - form: protobuf only where ``hasProtobufAnswer`` says that there is one.
  /// - Returns: the content type.
  /// - Throws: `internal` for a message that has no JSON.
  package func encodeResponse(
    _ wire: Span<UInt8>, envelope: String?, as form: AnswerForm = .json, into content: inout ByteBuffer
  ) throws(RPCError) -> String {
    switch response {
    case .raw:
      do throws(RPCError) {
        return try writeRaw(wire, 0..<wire.count, into: &content)
      } catch { throw Self.asUpstreamFault(error) }
    case .rawField(let field):
      do throws(RPCError) {
        return try writeRaw(wire, field: field, of: output, into: &content) ?? "application/octet-stream"
      } catch { throw Self.asUpstreamFault(error) }
    case .message, .field: break
    }
    if case .protobuf(let type) = form {
      try encodeProtobuf(wire, into: &content)
      return "\(type.text)"
    }
    if let envelope {
      content.append("{")
      JSONText.append(envelope, into: &content)
      content.append(":")
    }
    do throws(JSONError) {
      if case .field(let field) = response {
        try codec.encodeField(wire, message: output, field: field, into: &content)
      } else {
        try codec.encode(wire, message: output, into: &content)
      }
    } catch {
      throw RPCError(.internal, "the answer has no JSON form", logDetail: error.message)
    }
    if envelope != nil { content.append("}") }
    return "application/json"
  }

  private func encodeProtobuf(_ wire: Span<UInt8>, into content: inout ByteBuffer) throws(RPCError) {
    guard case .field(let field) = response else { return content.append(wire) }
    do throws(RPCError) {
      _ = try merge(field, of: output, wire, into: &content)
    } catch { throw Self.asUpstreamFault(error) }
  }

  private static func asUpstreamFault(_ error: RPCError) -> RPCError {
    RPCError(.internal, "the answer is no protobuf message of its type", logDetail: error.message)
  }

  /// The number of the response's field that the answer's JSON is of; nil where it is of the whole message.
  package var answeredField: UInt32? {
    guard case .field(let field) = response else { return nil }
    return UInt32(bitPattern: schema.messages[output].fields[field].number)
  }

  // MARK: From REST backends

  /// Makes the response message of a REST backend's 2xx answer.
  ///
  /// - Parameters:
  ///   - contentType: nil when the answer has none: it is then read as JSON. Protobuf is read wherever it says so.
  ///   - envelope: the member that wraps the JSON; its absence is a fault, `null` in it is an empty message.
  ///   - codec: in place of the binding's own, for the same schema: one that drops unknown members where that one
  ///     refuses them.
  ///   - marker: a member of the outermost object that tells successes from errors, and counts as known; not looked for
  ///     where there is an envelope, whose other members are nobody's.
  ///   - unknown: gets the paths of JSON members that were dropped; `$` for a whole body without JSON, where the message
  ///     is a `google.protobuf.Empty`.
  ///   - wire: the message's bytes are appended; after an error it may hold a part of them.
  /// - Throws: `internal`; what exactly does not fit is in the log detail.
  package func decodeResponse(
    status: Int, contentType: Span<UInt8>?, body content: Span<UInt8>, envelope: String?, codec other: JSONCodec? = nil,
    marker: String? = nil, unknown: inout [String], into wire: inout ByteBuffer
  ) throws(RPCError) {
    let codec = other ?? codec
    let isBodyless = status == 204 || status == 205
    switch response {
    case .raw:
      if !isBodyless { try HTTPBody.write(contentType, content, into: &wire) }
    case .rawField(let field):
      if isBodyless { return }
      wire.append(tag: UInt32(bitPattern: schema.messages[output].fields[field].number), .lengthDelimited)
      let start = wire.beginLengthDelimited()
      try HTTPBody.write(contentType, content, into: &wire)
      wire.endLengthDelimited(start)
    case .message, .field:
      if isBodyless { return }
      if let contentType, ProtobufMediaType(contentType) != nil {
        return try decodeProtobuf(content, codec, into: &wire)
      }
      if content.isEmpty { return }
      if isMereText(contentType, content) {
        unknown.append("$")
        return
      }
      if let contentType, !MediaType.isJSON(contentType) {
        let detail = "content-type \(String(repairing: contentType)), status \(status)"
        throw RPCError(
          .internal, "the backend's answer is neither JSON nor protobuf", logDetail: detail,
          misfit: RPCError.Misfit(path: "", reason: detail))
      }
      if envelope == nil, let blanked = blanking(marker, in: content) {
        return try decodeJSON(blanked.span, codec, unknown: &unknown, into: &wire)
      }
      let range = try unwrap(content, envelope)
      try decodeJSON(content.extracting(range), codec, unknown: &unknown, into: &wire)
    }
  }

  private func decodeProtobuf(
    _ content: Span<UInt8>, _ codec: JSONCodec, into wire: inout ByteBuffer
  ) throws(RPCError) {
    var outcome = DecodingOutcome()
    do throws(JSONError) {
      if case .field(let field) = response {
        try codec.checkField(content, message: output, field: field, outcome: &outcome, into: &wire)
      } else {
        try codec.check(content, message: output, outcome: &outcome, into: &wire)
      }
    } catch {
      throw misfit(error)
    }
  }

  /// Where the JSON of the message, or of its one field, lies in an answer.
  package func unwrap(_ content: Span<UInt8>, _ envelope: String?) throws(RPCError) -> Range<Int> {
    guard let envelope else { return 0..<content.count }
    let found: Range<Int>?
    do throws(JSONFault) {
      found = try Envelope.unwrap(content, member: envelope)
    } catch {
      throw RPCError(
        .internal, "the backend's answer is no JSON object", logDetail: "envelope \(envelope)",
        misfit: RPCError.Misfit(path: "", reason: "a JSON object expected"))
    }
    guard let found else {
      throw RPCError(
        .internal, "the backend's answer lacks its envelope", logDetail: "no member \(envelope)",
        misfit: RPCError.Misfit(path: "", reason: "no member \(envelope)"))
    }
    return ASCII.equal(content.extracting(found), "null") ? 0..<0 : found
  }

  private func decodeJSON(
    _ json: Span<UInt8>, _ codec: JSONCodec, unknown: inout [String], into wire: inout ByteBuffer
  ) throws(RPCError) {
    if json.isEmpty { return }
    var outcome = DecodingOutcome()
    do throws(JSONError) {
      if case .field(let field) = response {
        try codec.decodeField(json, message: output, field: field, outcome: &outcome, into: &wire)
      } else {
        try codec.decode(json, message: output, outcome: &outcome, into: &wire)
      }
    } catch {
      throw misfit(error)
    }
    unknown += outcome.unknownFields.map(inMessage)
  }

  private func misfit(_ error: JSONError) -> RPCError {
    RPCError(
      .internal, "the backend's answer does not fit its type", logDetail: error.message,
      misfit: RPCError.Misfit(path: inMessage(error.path), reason: error.reason))
  }

  /// A path of the answer's JSON as one of the message: of a single field's JSON it begins with that.
  private func inMessage(_ path: String) -> String {
    guard case .field(let field) = response else { return path }
    let name = schema.messages[output].fields[field].jsonName
    return path.isEmpty || path.hasPrefix("[") ? name + path : "\(name).\(path)"
  }
}
