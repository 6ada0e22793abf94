import Bytes
import Compression
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import RPC

/// A gRPC service, asked over HTTP/2.
final class GRPCBackend: GRPCReplying {
  let route: Route
  let codec: MessageCodec

  init(route: Route, codec: MessageCodec) {
    self.route = route
    self.codec = codec
  }

  var replies: GRPCReplies { GRPCReplies(isWeb: false, codec: codec) }

  func bodyLimit(_ message: Int) -> Int { message + EnvelopeHead.size }

  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError) {
    let message = try payload.kept(in: codec, call)
    try writeRequest(call, coding: message.coding, into: request)
    request.envelope = GRPCRequests.envelope(of: message)
    request.body = message
    // Whole as the body is, gRPC clients announce no length.
    request.framing = .chunked
  }
}

extension GRPCBackend {
  var dialect: EnvelopeDialect? { .grpc }

  func writeRequest(_ call: Call, coding: ContentCoding, into request: UpstreamRequest) throws(RPCError) {
    try GRPCRequests.writeRequestHead(call, route, codec.grpcContentType, codec, coding, into: request)
    request.fields.append(.te, "trailers")
  }
}
