import Configuration
import EventLoops

/// What makes an entry of `endpoints:` the same after a reload.
struct EndpointIdentity: Hashable {
  var upstream: String
  var target = EndpointConfiguration.Target.address
  /// A name, a literal, or a path.
  var host: String
  var port: UInt16
  var http: UpstreamConfiguration.HTTPVersion
  /// Of its TLS; empty without.
  var security: [UInt8] = []
}

/// Where connections of one endpoint go.
enum EndpointPlace: Hashable {
  case address(SocketAddress)
  case unixSocket(path: String)

  var text: String {
    switch self {
    case .address(let address): address.text
    case .unixSocket(let path): "unix:\(path)"
    }
  }
}

/// One server, as a name or a service record tells of it.
struct EndpointServer: Hashable {
  var place: EndpointPlace
  /// What its certificate is for.
  var host: String
  /// For the Host field.
  var authority: String
  var priority = 0
  var weight = 1

  /// Whether only the weight may differ.
  func isSame(as other: EndpointServer) -> Bool {
    place == other.place && authority == other.authority && priority == other.priority
  }
}
