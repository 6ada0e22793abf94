package import Diagnostics

/// The services that the gateway answers itself where `answer: gateway` says so: those that every gRPC server may have.
package enum GatewayService: String, Sendable, CaseIterable {
  /// Whether the gateway takes calls (gRPC health checking protocol).
  case health = "grpc.health.v1.Health"
  /// What it serves (gRPC server reflection protocol).
  case reflection = "grpc.reflection.v1.ServerReflection"
  case reflectionAlpha = "grpc.reflection.v1alpha.ServerReflection"

  package var isReflection: Bool { self != .health }
}

extension UpstreamConfiguration {
  /// The name under which the gateway is an upstream of its own services.
  static let gatewayName = "gateway"

  /// The gateway itself as an upstream: it speaks gRPC, over no wire.
  package static func gateway(_ position: SourcePosition) -> UpstreamConfiguration {
    var upstream = UpstreamConfiguration(name: gatewayName, position: position, protocol: .grpc, endpoints: [])
    upstream.http = .two
    upstream.isGateway = true
    return upstream
  }
}
