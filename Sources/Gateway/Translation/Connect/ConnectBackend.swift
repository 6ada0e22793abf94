import Bytes
import Compression
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import RPC

/// A Connect service, asked by unary POST.
final class ConnectBackend: Backend {
  let route: Route
  let codec: MessageCodec

  init(route: Route, codec: MessageCodec) {
    self.route = route
    self.codec = codec
  }

  var stream: (any StreamBackend)? { self }

  var carriesBareMessages: Bool { codec == .proto }

  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError) {
    let message = try payload.kept(in: codec, call)
    request.method = .post
    request.target.append(route.target)
    request.isIdempotent = route.type.idempotency != .unknown
    let fields = request.fields
    MetadataCarrying.copyRequest(call.head.fields, to: fields)
    fields.append(.contentType, codec.unaryContentType)
    fields.append(.connectProtocolVersion, "1")
    if let left = call.millisecondsLeft { fields.append(.connectTimeoutMs, decimal: left) }
    if message.coding != .identity { fields.append(.contentEncoding, message.coding.rawValue) }
    if let codings = call.codingsToPass(codec) { fields.append(.acceptEncoding, codings) }
    request.framing = .length(message.buffer.count)
    request.body = message
  }

  func decodeReply(
    _ call: Call, _ head: ResponseHead, body: Span<UInt8>, trailers: FieldBlock, into payload: Payload
  ) throws(RPCError) {
    call.replyMetadata.append(contentsOf: head.fields)
    Metadata.splitTrailers(call.replyMetadata, into: call.replyTrailers)
    let isExpected = matches(head, codec.unaryContentType)
    let coding = body.isEmpty ? .identity : try call.replyCoding(head)
    guard head.status == 200 else { throw try Self.error(call, head, body, coding) }
    guard isExpected else {
      throw RPCError(
        Self.code(ofType: head, likeOurs: "application/"), "the upstream's answer is not \(codec.unaryContentType)",
        httpStatus: 502, logDetail: String(repairing: body.extracting(0..<min(body.count, 256))),
        misfit: RPCError.Misfit(path: "", reason: "\(codec.unaryContentType) expected"))
    }
    payload.codec = codec
    payload.coding = coding
    payload.buffer.append(body)
  }

  /// The error that an answer with another status than 200 is.
  static func error(
    _ call: Call, _ head: ResponseHead, _ body: Span<UInt8>, _ coding: ContentCoding
  ) throws(RPCError) -> RPCError {
    var plain = ByteBuffer()
    if coding == .identity { plain.append(body) } else { try call.decompressReply(body, as: coding, into: &plain) }
    let isJSON = head.fields.firstIndex(of: .contentType).map { index in
      head.fields.withValue(at: index) { MediaType.matches($0, "application/json") }
    }
    if isJSON == true { return ConnectErrorBody.read(plain.span, status: head.status) }
    return RPCError(
      Code(inferredFromStatus: head.status), "the upstream answered with status \(head.status)",
      logDetail: plain.withSpan { String(repairing: $0.extracting(0..<min($0.count, 256))) })
  }

  /// The code of an answer whose content type is another. One that begins like the expected comes from a service that
  /// speaks Connect and is at fault; of anything else nothing is known (Connect's runtimes).
  static func code(ofType head: ResponseHead, likeOurs prefix: String) -> Code {
    (head.fields.text(of: .contentType) ?? "").lowercased().hasPrefix(prefix) ? .internal : .unknown
  }

  private func matches(_ head: ResponseHead, _ type: StaticString) -> Bool {
    guard let index = head.fields.firstIndex(of: .contentType) else { return false }
    return head.fields.withValue(at: index) { MediaType.matches($0, type) }
  }
}
