import Bytes
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import RPC

/// A Connect service, asked by unary POST.
struct ConnectBackend: Backend {
  let route: Route
  let upstream: UpstreamConfiguration

  private var codec: MessageCodec { upstream.codec == .json ? .json : .proto }

  var carriesBareMessages: Bool { codec == .proto }

  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError) {
    let message = try payload.converted(to: codec, call)
    request.method = .post
    request.target.append(text: route.procedure)
    request.isIdempotent = route.type.idempotency != .unknown
    MetadataCarrying.copyRequest(call.head.fields, to: request.fields)
    request.fields.append(.contentType, codec.unaryContentType)
    request.fields.append(.connectProtocolVersion, "1")
    if let left = call.millisecondsLeft { request.fields.append(.connectTimeoutMs, decimal: left) }
    request.framing = .length(message.buffer.count)
    request.body = message
  }

  func decodeReply(_ call: Call, _ head: ResponseHead, body: Span<UInt8>, into payload: Payload) throws(RPCError) {
    call.replyMetadata.append(contentsOf: head.fields)
    Metadata.splitTrailers(call.replyMetadata, into: call.replyTrailers)
    let isExpected = matches(head, codec.unaryContentType)
    guard head.status == 200 else {
      if matches(head, "application/json") { throw ConnectErrorBody.read(body, status: head.status) }
      throw RPCError(
        Code(inferredFromStatus: head.status), "the upstream answered with status \(head.status)",
        logDetail: String(repairing: body.extracting(0..<min(body.count, 256))))
    }
    guard isExpected else {
      throw RPCError(
        .internal, "the upstream's answer is not \(codec.unaryContentType)",
        httpStatus: 502, logDetail: String(repairing: body.extracting(0..<min(body.count, 256))))
    }
    payload.codec = codec
    payload.buffer.append(body)
  }

  private func matches(_ head: ResponseHead, _ type: StaticString) -> Bool {
    guard let index = head.fields.firstIndex(of: .contentType) else { return false }
    return head.fields.withValue(at: index) { MediaType.matches($0, type) }
  }
}
