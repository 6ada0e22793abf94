import Bytes
import Configuration
import Diagnostics
import HTTP1
import HTTPModel
import TransportSecurity

/// A server that the gateway itself asks, and what for: part of a plan, shared by all loops.
final class InternalOrigin: Sendable {
  /// What the request is for, in metrics and logs.
  enum Purpose: String {
    case keySet = "key_set"
    case token
    case externalAuth = "external_auth"
    case traces
  }

  let purpose: Purpose
  let resource: RemoteResource
  /// How its connections are made; its name is for metrics and logs.
  let configuration: UpstreamConfiguration
  /// Nil: without TLS.
  let security: UpstreamSecurity?

  /// Connections of one loop to one origin: a slow one must not take all descriptors.
  private static let maximumConnections = 64
  private static let maximumIdle = 4

  init(_ resource: RemoteResource, for purpose: Purpose, security: UpstreamSecurity?) {
    self.purpose = purpose
    self.resource = resource
    self.security = security
    var configuration = UpstreamConfiguration(
      name: "\(purpose.rawValue):\(resource.origin)", position: resource.position, protocol: .rest,
      endpoints: [resource.endpoint])
    configuration.maxConnections = Self.maximumConnections
    configuration.maxIdleConnections = Self.maximumIdle
    self.configuration = configuration
  }

  /// Reads the files of its TLS.
  ///
  /// - Returns: nil when one cannot be used; and all faults and warnings.
  static func make(
    _ resource: RemoteResource, for purpose: Purpose, _ files: CredentialFiles
  ) -> (origin: InternalOrigin?, diagnostics: [Diagnostic]) {
    guard resource.endpoint.isSecure else {
      return (InternalOrigin(resource, for: purpose, security: nil), [])
    }
    let tls = resource.tls ?? UpstreamTLSConfiguration(position: resource.position)
    let (security, diagnostics) = SecurityCompiler.client(tls, protocols: ApplicationProtocols.ofUpstream(.one), files)
    return (security.map { InternalOrigin(resource, for: purpose, security: $0) }, diagnostics)
  }

  /// A request for the resource, without a body.
  func request(_ method: HTTPMethod = .get) -> UpstreamRequest {
    let request = UpstreamRequest()
    request.method = method
    request.target.append(text: resource.target)
    request.isIdempotent = method.isSafe
    request.fields.append(.userAgent, "turnout")
    return request
  }

  /// A request for the resource that sends something.
  ///
  /// - Parameter isIdempotent: whether it does no harm to send it twice, when a kept connection ends under it.
  func request(
    _ method: HTTPMethod, _ body: consuming ByteBuffer, contentType: String, isIdempotent: Bool = false
  ) -> UpstreamRequest {
    let request = self.request(method)
    let payload = Payload()
    payload.buffer = body
    request.fields.append(.contentType, contentType)
    request.framing = .length(payload.buffer.count)
    request.body = payload
    request.isIdempotent = isIdempotent
    return request
  }
}
