package import Bytes
import ProtoJSON
import ProtobufSchema
package import RPC

extension RESTBinding {
  /// Whether the request's body is an HttpBody, so that its bytes end a message that can be begun without them.
  package var readsRaw: Bool {
    switch body {
    case .rawWhole, .rawField: true
    case .none, .whole, .field: false
    }
  }

  /// Makes the beginning of the request message of a raw body whose length is known: the message is whole when the
  /// body's bytes are behind it. Only where ``readsRaw``.
  ///
  /// - Parameters:
  ///   - path: as in ``decodeRequest(path:captures:query:contentType:body:unknown:into:)``, and so are the others.
  ///   - length: bytes of the body, more than 0.
  /// - Throws: `invalid_argument` naming the field.
  package func beginRawRequest(
    path: Span<UInt8>, captures: [Range<Int>], query: Span<UInt8>, contentType: Span<UInt8>?, length: Int,
    into wire: inout ByteBuffer
  ) throws(RPCError) {
    var tree = MessageTree(schema, message: input)
    _ = try readPath(path, captures, boundInBody: false, into: &tree)
    try readQuery(query, into: &tree)
    if let field = body.field, let sibling = tree.sibling(of: field) { throw bodyConflict(field, sibling, query) }
    // The raw field last, whatever its number: nothing may follow the bytes.
    try write(&tree, query, into: &wire)
    guard let field = body.field else { return try HTTPBody.begin(contentType, length: length, into: &wire) }
    var head = ByteBuffer()
    try HTTPBody.begin(contentType, length: length, into: &head)
    wire.append(tag: UInt32(bitPattern: schema.messages[input].fields[field].number), .lengthDelimited)
    wire.append(varint: UInt64(head.count) + UInt64(length))
    wire.append(head)
  }
}

extension RESTBinding {
  /// Appends the raw bytes of a message that is not the first of a client's stream to a REST backend.
  ///
  /// - Parameter target: path and query of the first one. One that holds more than raw bytes has to say the same.
  /// - Returns: the content type; nil when it has no raw bytes.
  /// - Throws: `invalid_argument` for one that would have to be another request.
  package func encodeFurtherRequest(
    _ wire: Span<UInt8>, target: Span<UInt8>, into content: inout ByteBuffer
  ) throws(RPCError) -> String? {
    guard let field = body.field else { return try writeRaw(wire, 0..<wire.count, into: &content) }
    if try holdsOnly(field, wire) { return try writeRaw(wire, field: field, of: input, into: &content) }
    var own = ByteBuffer()
    var type: String?
    try encodeRequest(wire, target: &own, body: &content, contentType: &type)
    guard ASCII.equal(own.span, target) else {
      throw RPCError(.invalidArgument, "its fields make another path or query than those of the first message")
    }
    return type
  }

  private func holdsOnly(_ field: Int, _ wire: Span<UInt8>) throws(RPCError) -> Bool {
    let number = UInt32(bitPattern: schema.messages[input].fields[field].number)
    var reader = WireReader(wire, 0..<wire.count)
    do throws(WireError) {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        guard tag.number == number else { return false }
        try reader.skip(tag)
      }
      return true
    } catch { throw Self.malformed(error) }
  }
}
