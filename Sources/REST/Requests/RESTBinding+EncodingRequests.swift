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
  ///   - target: path and query are appended, escaped, in one fixed order.
  ///   - body: the content is appended.
  ///   - contentType: of the body; nil when there is no body.
  /// - Throws: `invalid_argument` for a value that fits no URL (empty, dot segments, another shape than the
  ///   template's), or that has no place in the request; the rule's own fault where it has no reverse at all.
  package func encodeRequest(
    _ wire: Span<UInt8>, target: inout ByteBuffer, body content: inout ByteBuffer, contentType: inout String?
  ) throws(RPCError) {
    contentType = nil
    if let reverseFault { throw RPCError(.unimplemented, reverseFault) }
    let start = target.count
    try writePath(wire, into: &target)
    switch body {
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
      if let range = try find(field, in: input, wire) { contentType = try writeRaw(wire, range, into: &content) }
    }
    if target.count - start > Self.maximumTarget {
      throw RPCError(.invalidArgument, "the request would need a URL of more than \(Self.maximumTarget) bytes")
    }
  }

  private func writeQuery(_ wire: Span<UInt8>, into target: inout ByteBuffer) throws(RPCError) {
    var query = QueryWriter(self)
    try query.collect(wire)
    try query.write(wire, into: &target)
  }

  /// The last value of a top-level field.
  func find(_ field: Int, in message: Int, _ wire: Span<UInt8>) throws(RPCError) -> Range<Int>? {
    var found: Range<Int>?
    do throws(WireError) {
      try WireSearch.last([field][...], of: message, in: schema, wire, 0..<wire.count, found: &found)
    } catch { throw Self.malformed(error) }
    return found
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
