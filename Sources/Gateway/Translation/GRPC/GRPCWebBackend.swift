import Bytes
import Compression
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import RPC

/// A gRPC-Web service, asked in the binary form over any version of HTTP.
final class GRPCWebBackend: GRPCReplying {
  let route: Route
  let codec: MessageCodec

  init(route: Route, codec: MessageCodec) {
    self.route = route
    self.codec = codec
  }

  var replies: GRPCReplies { GRPCReplies(isWeb: true, codec: codec) }

  func bodyLimit(_ message: Int) -> Int { message + EnvelopeReader.maximumEnd + 2 * EnvelopeHead.size }

  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError) {
    let message = try payload.kept(in: codec, call)
    try writeRequest(call, coding: message.coding, into: request)
    request.envelope = GRPCRequests.envelope(of: message)
    request.body = message
    request.framing = .length(message.buffer.count + EnvelopeHead.size)
  }
}

extension GRPCWebBackend {
  var dialect: EnvelopeDialect? { .grpcWeb }

  func writeRequest(_ call: Call, coding: ContentCoding, into request: UpstreamRequest) throws(RPCError) {
    try GRPCRequests.writeRequestHead(call, route, codec.grpcWebContentType, codec, coding, into: request)
    request.fields.append("x-grpc-web", "1")
  }
}
