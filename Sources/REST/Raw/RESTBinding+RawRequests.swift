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
