import Bytes
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import RPC

/// What an endpoint is asked to find out how it is, and how its answer is read: a path, or `grpc.health.v1.Health/Check`
/// in the protocol of the upstream.
struct HealthQuestion {
  private enum Form {
    case path(String, [ClosedRange<Int>])
    case check(UpstreamConfiguration.BackendProtocol, service: String)
  }

  private let form: Form

  init(_ configuration: HealthCheckConfiguration, _ upstream: UpstreamConfiguration) {
    switch configuration.question {
    case .path(let path): form = .path(path, configuration.statuses)
    case .grpc(let service): form = .check(upstream.protocol, service: service)
    }
  }

  func request(host: String?) -> UpstreamRequest {
    let request = UpstreamRequest()
    if let host { request.authority.append(text: host) }
    request.fields.append("user-agent", "turnout-health-check")
    switch form {
    case .path(let path, _):
      request.target.append(text: path)
      request.fields.append("accept", "*/*")
    case .check(let kind, let service): write(kind, service, into: request)
    }
    request.isIdempotent = true
    return request
  }

  private func write(
    _ kind: UpstreamConfiguration.BackendProtocol, _ service: String, into request: UpstreamRequest
  ) {
    request.method = .post
    request.target.append("/grpc.health.v1.Health/Check")
    let message = Payload()
    // HealthCheckRequest: service = 1.
    if !service.isEmpty {
      message.buffer.append(0x0A)
      var length = service.utf8.count
      while length >= 0x80 {
        message.buffer.append(UInt8(truncatingIfNeeded: length) | 0x80)
        length >>= 7
      }
      message.buffer.append(UInt8(truncatingIfNeeded: length))
      message.buffer.append(text: service)
    }
    request.body = message
    switch kind {
    case .rest, .connect:
      request.framing = .length(message.buffer.count)
      request.fields.append("content-type", "application/proto")
      request.fields.append("connect-protocol-version", "1")
    case .grpc, .grpcWeb:
      request.envelope = EnvelopeHead(flags: 0, length: message.buffer.count)
      request.framing = .length(EnvelopeHead.size + message.buffer.count)
      request.fields.append("content-type", kind == .grpc ? "application/grpc" : "application/grpc-web")
      if kind == .grpc { request.fields.append("te", "trailers") }
    }
  }

  /// What is wrong with an answer; nil for a good one.
  func fault(_ head: ResponseHead, _ body: Span<UInt8>, _ trailers: FieldBlock) -> String? {
    switch form {
    case .path(_, let statuses):
      return statuses.contains { $0.contains(head.status) } ? nil : "status \(head.status)"
    case .check(let kind, _):
      guard head.status == 200 else { return "status \(head.status)" }
      if kind == .connect || kind == .rest { return Self.fault(inMessage: body) }
      for fields in [head.fields, trailers] {
        if let code = GRPCStatus.code(in: fields) { return "gRPC status \(code.name)" }
      }
      guard body.count >= EnvelopeHead.size, body[0] == 0 else { return "no message" }
      let length = Int(body[1]) << 24 | Int(body[2]) << 16 | Int(body[3]) << 8 | Int(body[4])
      guard length <= body.count - EnvelopeHead.size else { return "half a message" }
      return Self.fault(inMessage: body.extracting(EnvelopeHead.size..<EnvelopeHead.size + length))
    }
  }

  /// HealthCheckResponse: status = 1, of which 1 is SERVING.
  private static func fault(inMessage bytes: Span<UInt8>) -> String? {
    var status: UInt64 = 0
    var reader = WireReader(bytes)
    do {
      while let tag = try reader.nextTag() {
        if tag.number == 1, tag.type == .varint { status = try reader.readVarint() } else { try reader.skip(tag) }
      }
    } catch {
      return "an answer that is no message"
    }
    switch status {
    case 1: return nil
    case 2: return "NOT_SERVING"
    case 3: return "SERVICE_UNKNOWN"
    default: return "UNKNOWN"
    }
  }
}
