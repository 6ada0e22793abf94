import Bytes
import Compression
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import RPC

/// A gRPC-Web service, asked in the binary form over any version of HTTP.
struct GRPCWebBackend: Backend {
  let route: Route
  let codec: MessageCodec

  var stream: (any StreamBackend)? { self }
  private var replies: GRPCReplies { GRPCReplies(isWeb: true, codec: codec) }

  func bodyLimit(_ message: Int) -> Int { message + EnvelopeReader.maximumEnd + 2 * EnvelopeHead.size }

  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError) {
    let message = try payload.kept(in: codec, call)
    writeRequest(call, coding: message.coding, into: request)
    request.envelope = GRPCRequests.envelope(of: message)
    request.body = message
    request.framing = .length(message.buffer.count + EnvelopeHead.size)
  }

  func decodeReply(
    _ call: Call, _ head: ResponseHead, body: Span<UInt8>, trailers: FieldBlock, into payload: Payload
  ) throws(RPCError) {
    try replies.read(call, head, body, trailers: trailers, into: payload)
  }
}

extension GRPCWebBackend: StreamBackend {
  var dialect: EnvelopeDialect { .grpcWeb }

  func writeRequest(_ call: Call, coding: ContentCoding, into request: UpstreamRequest) {
    GRPCRequests.writeRequestHead(call, route, codec.grpcWebContentType, codec, coding, into: request)
    request.fields.append("x-grpc-web", "1")
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
