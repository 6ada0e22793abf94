import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import REST
import RPC
import Tokens

/// What `external_auth` asks of its service, shared by all loops.
final class ExternalAuthPlan: Sendable {
  let configuration: ExternalAuthConfiguration
  let origin: InternalOrigin
  private let forwarded: [[UInt8]]
  private let toUpstream: [[UInt8]]
  private let toClient: [String]

  init(_ configuration: ExternalAuthConfiguration, _ origin: InternalOrigin) {
    self.configuration = configuration
    self.origin = origin
    forwarded = configuration.forwardedHeaders.map { Array($0.utf8) }
    toUpstream = configuration.upstreamHeaders.map { Array($0.utf8) }
    toClient = configuration.clientHeaders
  }

  /// The question about a call.
  func request(for call: Call) -> UpstreamRequest {
    let isPost = configuration.method == .post
    let request = origin.request(isPost ? .post : .get)
    if isPost { request.framing = .length(0) }
    // It only asks.
    request.isIdempotent = true
    let fields = request.fields
    let head = call.head
    fields.append("x-forwarded-method", head.method.name)
    head.target.withSpan { fields.append(Self.uri.span, $0) }
    if !head.authority.isEmpty { head.authority.withSpan { fields.append(Self.host.span, $0) } }
    if let address = call.clientAddress { fields.append("x-forwarded-for", address.host) }
    if let route = call.route?.plan {
      fields.append("x-turnout-procedure", route.name)
      if let binding = call.face.binding {
        fields.append("x-turnout-template", "\(route.bindings[binding].httpMethod) \(route.templates[binding])")
      }
    }
    for name in forwarded { copy(name, from: head.fields, to: fields) }
    if let index = head.fields.firstIndex(of: .xRequestId) { fields.append(from: head.fields, at: index) }
    return request
  }

  private static let uri = Array("x-forwarded-uri".utf8)
  private static let host = Array("x-forwarded-host".utf8)

  private func copy(_ name: [UInt8], from source: FieldBlock, to target: FieldBlock) {
    for index in source.indices where !source.entry(at: index).isRemoved {
      let isWanted = source.withName(at: index) { ASCII.equalIgnoringCase($0, name.span) }
      if isWanted { target.append(from: source, at: index) }
    }
  }

  /// What makes two questions the same.
  func digest(_ request: UpstreamRequest, _ digester: TokenDigester) -> TokenDigest? {
    var text = ByteBuffer()
    for index in request.fields.indices {
      // Each caller has another one.
      if request.fields.entry(at: index).name == .xRequestId { continue }
      request.fields.withName(at: index) { text.append($0) }
      text.append(":")
      request.fields.withValue(at: index) { text.append($0) }
      text.append("\n")
    }
    return digester.digest(text.span)
  }

  /// The fields of a good verdict that the backend is told.
  func identity(_ reply: InternalReply) -> FieldBlock {
    let fields = FieldBlock()
    for name in toUpstream { copy(name, from: reply.fields, to: fields) }
    return fields
  }

  /// Puts what the service says in place of what the caller did.
  func apply(_ identity: FieldBlock, to fields: FieldBlock) {
    for name in toUpstream { fields.remove(named: name.span) }
    fields.append(contentsOf: identity)
  }

  /// What a verdict other than a good one means for the caller; nil: it is none.
  func refusal(_ reply: InternalReply) -> RPCError? {
    var error: RPCError
    switch reply.status {
    case 401: error = RPCError(.unauthenticated, "credentials are needed")
    case 429: error = RPCError(.resourceExhausted, "too many requests")
    case 300..<500: error = RPCError(.permissionDenied, "the call is not allowed")
    default: return nil
    }
    for name in toClient {
      guard let value = reply.fields.text(of: name) else { continue }
      error.headers.append((name: name, value: value))
    }
    // RFC 9110 section 11.6.1 wants a challenge with each 401.
    if reply.status == 401, !error.headers.contains(where: { $0.name == "www-authenticate" }) {
      error.headers.append((name: "www-authenticate", value: "Bearer"))
    }
    error.logDetail = "\(origin.resource.origin) answered with status \(reply.status)"
    return error
  }
}
