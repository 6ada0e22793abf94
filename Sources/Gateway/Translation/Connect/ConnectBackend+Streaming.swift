import Bytes
import Compression
import HTTPModel
import ProtobufSchema
import RPC

/// Streams of Connect: one envelope for each message, and the status in the last.
extension ConnectBackend: StreamBackend {
  var dialect: EnvelopeDialect? { .connect }

  func writeRequest(_ call: Call, coding: ContentCoding, into request: UpstreamRequest) {
    request.target.append(route.target)
    request.isIdempotent = route.type.idempotency != .unknown
    let fields = request.fields
    MetadataCarrying.copyRequest(call.head.fields, to: fields)
    fields.append(.contentType, codec.streamingContentType)
    fields.append(.connectProtocolVersion, "1")
    if let left = call.millisecondsLeft { fields.append(.connectTimeoutMs, decimal: left) }
    if coding != .identity { fields.append(.connectContentEncoding, coding.rawValue) }
    if let codings = call.codingsToPass(codec) { fields.append(.connectAcceptEncoding, codings) }
  }

  func readHead(_ call: Call, _ head: ResponseHead) throws(RPCError) -> StreamBeginning {
    call.replyMetadata.append(contentsOf: head.fields)
    guard head.status == 200 else { return .failure }
    guard let index = head.fields.firstIndex(of: .contentType),
      head.fields.withValue(at: index, { MediaType.matches($0, codec.streamingContentType) })
    else { throw Self.wrongType(head, codec) }
    return .messages(try call.replyMessageCoding(head, .connectContentEncoding))
  }

  private static func wrongType(_ head: ResponseHead, _ codec: MessageCodec) -> RPCError {
    RPCError(
      code(ofType: head, likeOurs: "application/connect+"),
      "the upstream's answer is not \(codec.streamingContentType)", logDetail: head.fields.text(of: .contentType) ?? "")
  }

  func readFailure(_ call: Call, _ head: ResponseHead, _ body: Span<UInt8>, trailers: FieldBlock) -> RPCError {
    do throws(RPCError) {
      return try Self.error(call, head, body, body.isEmpty ? .identity : try call.replyCoding(head))
    } catch {
      return error
    }
  }

  func readEnd(_ call: Call, _ end: Span<UInt8>?, head: FieldBlock?, trailers: FieldBlock) -> RPCError? {
    guard let end else { return RPCError(.internal, "the upstream's stream has no end") }
    return ConnectEndOfStream.read(end, trailers: call.replyTrailers).error
  }
}
