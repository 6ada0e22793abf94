package import Bytes
import ProtoJSON
import ProtobufSchema
package import RPC

extension RESTBinding {
  /// Bytes of a target beyond which no backend would read it.
  static let maximumTarget = 65_536

  /// Makes the request to a REST backend.
  ///
  /// - Parameters:
  ///   - wire: the request message.
  ///   - type: the form of the body: JSON or protobuf. What has no protobuf form alone is JSON in any case.
  ///   - target: path and query are appended, escaped, in one fixed order.
  ///   - body: the content is appended.
  ///   - contentType: of the body; nil when there is no body.
  /// - Throws: `invalid_argument` for a value that fits no URL (empty, dot segments, another shape than the
  ///   template's), or that has no place in the request; the rule's own fault where it has no reverse at all.
  package func encodeRequest(
    _ wire: Span<UInt8>, as type: BodyType = .json, target: inout ByteBuffer, body content: inout ByteBuffer,
    contentType: inout String?
  ) throws(RPCError) {
    contentType = nil
    if let reverseFault { throw RPCError(.unimplemented, reverseFault) }
    let start = target.count
    try writePath(wire, into: &target)
    switch try bodyToSend(wire) {
    case .whole where type == .protobuf:
      contentType = try writeProtobuf(wire, input, omitting: variables.map { $0.fieldPath[...] }, into: &content)
    case .field(let field) where type == .protobuf && Self.holdsMessage(schema.messages[input].fields[field]):
      try writeQuery(wire, into: &target)
      contentType = try writeProtobuf(wire, field: field, into: &content)
    case .whole:
      contentType = "application/json"
      do throws(JSONError) {
        try codec.encode(wire, message: input, omitting: variables.map(\.fieldPath), into: &content)
      } catch { throw RPCError.badRequest(field: error.path, error.reason) }
    case .rawWhole: contentType = try writeRaw(wire, 0..<wire.count, into: &content)
    case .none: try writeQuery(wire, into: &target)
    case .field(let field):
      try writeQuery(wire, into: &target)
      contentType = "application/json"
      let inside = variables.filter { $0.fieldPath.first == field }.map { Array($0.fieldPath.dropFirst()) }
      if let mask = try maskedFields(of: field, wire) {
        try writeMasked(mask, inBody: field, wire, omitting: inside, into: &content)
        break
      }
      do throws(JSONError) {
        try codec.encodeField(wire, message: input, field: field, omitting: inside, into: &content)
      } catch { throw RPCError.badRequest(field: error.path, error.reason) }
    case .rawField(let field):
      try writeQuery(wire, into: &target)
      contentType = try writeRaw(wire, field: field, of: input, into: &content)
    }
    if target.count - start > Self.maximumTarget {
      throw RPCError(.invalidArgument, "the request would need a URL of more than \(Self.maximumTarget) bytes")
    }
  }

  /// The body for a message: none where another member of its field's oneof is set, which a body would contradict.
  private func bodyToSend(_ wire: Span<UInt8>) throws(RPCError) -> Body {
    guard case .field(let field) = body, try isReplaced(field, wire) else { return body }
    return .none
  }

  private func isReplaced(_ field: Int, _ wire: Span<UInt8>) throws(RPCError) -> Bool {
    let fields = schema.messages[input].fields
    let oneof = fields[field].oneofIndex
    guard oneof >= 0 else { return false }
    do throws(WireError) {
      for index in fields.indices where fields[index].oneofIndex == oneof {
        var found: Range<Int>?
        try WireSearch.last([index], of: input, in: schema, wire, 0..<wire.count, found: &found)
        if found != nil { return index != field }
      }
    } catch { throw Self.malformed(error) }
    return false
  }

  private func writeQuery(_ wire: Span<UInt8>, into target: inout ByteBuffer) throws(RPCError) {
    var query = QueryWriter(self)
    try query.collect(wire)
    try query.write(wire, into: &target)
  }

  // MARK: Protobuf

  /// Appends a message as it is, without some of its fields.
  private func writeProtobuf(
    _ wire: Span<UInt8>, _ message: Int, omitting paths: [ArraySlice<Int>], into content: inout ByteBuffer
  ) throws(RPCError) -> String {
    var outcome = DecodingOutcome()
    var checked = ByteBuffer()
    do throws(JSONError) {
      try codec.check(wire, message: message, outcome: &outcome, into: &checked)
    } catch { throw RPCError.badRequest(field: error.path, error.reason) }
    do throws(WireError) {
      try WireOmission.copy(
        checked.span, 0..<checked.count, of: message, without: paths, in: schema, into: &content)
    } catch { throw Self.malformed(error) }
    return "\(ProtobufMediaType.x.text)"
  }

  /// Appends the message that a field holds.
  ///
  /// - Returns: the content type; nil when the field is unset.
  private func writeProtobuf(
    _ wire: Span<UInt8>, field: Int, into content: inout ByteBuffer
  ) throws(RPCError) -> String? {
    var merged = ByteBuffer()
    guard try merge(field, of: input, wire, into: &merged) else { return nil }
    let inside = variables.filter { $0.fieldPath.first == field }.map { $0.fieldPath.dropFirst() }
    return try writeProtobuf(
      merged.span, schema.messages[input].fields[field].messageIndex, omitting: inside, into: &content)
  }

  /// Appends the bytes of the message that a top-level field holds.
  ///
  /// - Returns: whether it is set.
  func merge(
    _ field: Int, of message: Int, _ wire: Span<UInt8>, into output: inout ByteBuffer
  ) throws(RPCError) -> Bool {
    do throws(WireError) {
      let parts = try WireSearch.parts(of: field, of: message, in: schema, wire)
      for part in parts { output.append(wire.extracting(part)) }
      return !parts.isEmpty
    } catch { throw Self.malformed(error) }
  }

  // MARK: Raw

  /// Appends the data of the HttpBody that a field holds.
  ///
  /// - Returns: its content type; nil when the field is unset.
  func writeRaw(
    _ wire: Span<UInt8>, field: Int, of message: Int, into content: inout ByteBuffer
  ) throws(RPCError) -> String? {
    let parts: [Range<Int>]
    do throws(WireError) {
      parts = try WireSearch.parts(of: field, of: message, in: schema, wire)
    } catch { throw Self.malformed(error) }
    guard let first = parts.first else { return nil }
    guard parts.count > 1 else { return try writeRaw(wire, first, into: &content) }
    var merged = ByteBuffer()
    for part in parts { merged.append(wire.extracting(part)) }
    return try writeRaw(merged.span, 0..<merged.count, into: &content)
  }

  /// Appends the data of an HttpBody.
  ///
  /// - Returns: its content type.
  func writeRaw(
    _ wire: Span<UInt8>, _ range: Range<Int>, into content: inout ByteBuffer
  ) throws(RPCError) -> String {
    do throws(WireError) {
      let (type, data) = try HTTPBody.read(wire, range)
      content.append(wire.extracting(data))
      return HTTPBody.header(wire.extracting(type))
    } catch { throw Self.malformed(error) }
  }

  static func malformed(_ error: WireError) -> RPCError {
    RPCError(.invalidArgument, "a malformed protobuf message: \(error.reason)")
  }
}
