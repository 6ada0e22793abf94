import Bytes
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// A call whose two sides agree: heads are cleaned and forwarded, bodies pass as they are.
enum PassThrough {
  /// The caller's request as it goes upstream. The head's own fields are used, so nothing is copied.
  static func request(
    for call: Call, to upstream: UpstreamConfiguration.BackendProtocol, over http: UpstreamConfiguration.HTTPVersion
  ) -> UpstreamRequest {
    let head = call.head
    let fields = head.fields
    let request = call.worker.takeRequest()
    request.passing = fields
    request.method = head.method
    request.framing = call.face.request == .connectGet && call.route != nil ? .none : call.requestFraming
    request.isIdempotent = head.method.isIdempotent || call.route.map { $0.plan.type.idempotency != .unknown } ?? false
    writeTarget(of: call, towards: upstream, into: &request.target)
    fields.remove(.host)
    switch upstream {
    case .rest:
      // The legacy service sees the authority that it always saw.
      request.authority.append(head.authority)
    case .connect:
      fields.remove(.connectTimeoutMs)
      if let left = call.millisecondsLeft { fields.append(.connectTimeoutMs, decimal: left) }
    case .grpc, .grpcWeb:
      fields.remove(.grpcTimeout)
      if let left = call.millisecondsLeft { GRPCTimeout.write(milliseconds: left, into: fields) }
    }
    // A body would be in the way of the tunnel's bytes; HTTP/1.0 has no Upgrade (RFC 9110 section 7.8).
    if call.options.upgradeToWebSocket, head.method == .get, upstream == .rest, !call.hasRequestBody,
      head.version == .http11, http == .one
    {
      fields.append(.connection, "upgrade")
      fields.append(.upgrade, "websocket")
      request.upgrades = true
    }
    // The one hop-by-hop wish that HTTP/2 knows, and that gRPC servers insist on.
    if call.options.acceptsTrailers, http == .two { fields.append(.te, "trailers") }
    if call.plans.snapshot.configuration.via { fields.append(.via, via(head.version)) }
    return request
  }

  /// The version is that of the message that came (RFC 9110 section 7.6.3).
  private static func via(_ version: HTTPVersion) -> StaticString {
    switch version {
    case .http10: "1.0 turnout"
    case .http11: "1.1 turnout"
    case .http2: "2 turnout"
    }
  }

  private static func writeTarget(
    of call: Call, towards upstream: UpstreamConfiguration.BackendProtocol, into target: inout ByteBuffer
  ) {
    let prefix = call.route?.plan.settings.prefix.utf8.count ?? 0
    let strips = prefix > 0 && (upstream.isRPC || call.route?.plan.settings.stripPrefix == true)
    let from = strips ? Swift.min(prefix, call.head.target.count) : 0
    if call.face.request == .connectGet, upstream == .connect, call.route != nil {
      target.append(call.head.target, Swift.min(from, call.head.pathEnd)..<call.head.pathEnd)
      // It was read before the call got here.
      if (try? ConnectGetTarget.write(call, into: &target)) != nil { return }
      target.removeAll()
    }
    target.append(call.head.target, from..<call.head.target.count)
  }

  /// Cleans an upstream's answer for the caller. Hop-by-hop fields were removed when it was read.
  static func prepareReply(_ head: ResponseHead, for call: Call) {
    if call.plans.snapshot.configuration.via { head.fields.append(.via, via(head.version)) }
    if call.face.request == .connectGet { head.fields.vary(by: "Accept-Encoding") }
  }

  /// What a REST backend's status says of the call; nil: it went well.
  static func outcome(ofStatus status: Int) -> Code? {
    // What is not modified, or moved elsewhere, is no failure of a call that passes through.
    status < 400 ? nil : StatusTable.code(ofRESTStatus: status)
  }
}
