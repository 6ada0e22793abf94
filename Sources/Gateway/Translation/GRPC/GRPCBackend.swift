import Bytes
import Compression
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import RPC

/// A gRPC service, asked over HTTP/2.
struct GRPCBackend: Backend {
  let route: Route
  let codec: MessageCodec

  var stream: (any StreamBackend)? { self }
  private var replies: GRPCReplies { GRPCReplies(isWeb: false, codec: codec) }

  func bodyLimit(_ message: Int) -> Int { message + EnvelopeHead.size }

  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError) {
    let message = try payload.kept(in: codec, call)
    writeRequest(call, coding: message.coding, into: request)
    request.envelope = GRPCRequests.envelope(of: message)
    request.body = message
    // Whole as the body is, gRPC clients announce no length.
    request.framing = .chunked
  }

  func decodeReply(
    _ call: Call, _ head: ResponseHead, body: Span<UInt8>, trailers: FieldBlock, into payload: Payload
  ) throws(RPCError) {
    try replies.read(call, head, body, trailers: trailers, into: payload)
  }
}

extension GRPCBackend: StreamBackend {
  var dialect: EnvelopeDialect { .grpc }

  func writeRequest(_ call: Call, coding: ContentCoding, into request: UpstreamRequest) {
    GRPCRequests.writeRequestHead(call, route, codec.grpcContentType, codec, coding, into: request)
    request.fields.append(.te, "trailers")
  }

  func readHead(_ call: Call, _ head: ResponseHead) throws(RPCError) -> StreamBeginning {
    try replies.readHead(call, head)
  }

  func readFailure(_ call: Call, _ head: ResponseHead, _ body: Span<UInt8>, trailers: FieldBlock) -> RPCError {
    replies.readFailure(call, head, body, trailers: trailers)
  }

  func readEnd(_ call: Call, _ end: Span<UInt8>?, head: FieldBlock?, trailers: FieldBlock) -> RPCError? {
    replies.readEnd(call, end, head: head, trailers: trailers)
  }
}
