import Bytes
import ProtobufSchema
package import RPC

/// Which forms the bodies of a binding have.
extension RESTBinding {
  /// Whether the answer has a protobuf form: whole messages, and fields that hold one. A scalar, a list and a map alone
  /// have none, and what is raw has its own type.
  package var hasProtobufAnswer: Bool {
    switch response {
    case .message: true
    case .field(let field): Self.holdsMessage(schema.messages[output].fields[field])
    case .raw, .rawField: false
    }
  }

  /// Whether protobuf is spoken with callers at all; their errors can be protobuf then.
  package var speaksProtobuf: Bool { bodyTypes.contains(.protobuf) }

  /// Whether an answer has the content type of what it holds, whatever the caller accepts.
  package var answersRaw: Bool {
    switch response {
    case .message, .field: false
    case .raw, .rawField: true
    }
  }

  /// Refuses a caller who reads protobuf only where there is none, before anybody is asked.
  package static let notAcceptable = RPCError(
    .invalidArgument, "the answers of this route are application/json only", httpStatus: 406)

  /// The form of the request's body; nil when there is none.
  ///
  /// - Throws: with status 415 when the route does not read it; the field `accept-post` then says what it reads.
  func bodyType(_ contentType: Span<UInt8>?, isEmpty: Bool) throws(RPCError) -> BodyType? {
    switch body {
    case .none, .rawWhole, .rawField: return nil
    case .whole, .field: break
    }
    guard !isEmpty else {
      // An empty message is written as no bytes; whoever says that they are protobuf means one.
      guard case .field = body, let contentType, BodyType(contentType: contentType) == .protobuf,
        readableTypes.contains(.protobuf)
      else { return nil }
      return .protobuf
    }
    var type = BodyType?.some(.json)
    if let contentType { type = BodyType(contentType: contentType) }
    if let type, readableTypes.contains(type) { return type }
    let names = readableTypes.map { "\($0.mediaType)" }.joined(separator: ", ")
    throw RPCError(
      .invalidArgument, "this route reads \(names)", httpStatus: 415,
      headers: [(name: httpMethod == "PATCH" ? "accept-patch" : "accept-post", value: names)])
  }
}
