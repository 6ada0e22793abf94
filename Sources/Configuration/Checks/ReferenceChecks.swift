import Diagnostics

extension RootReader {
  /// What may stand where an upstream is named.
  enum WantedProtocol {
    case any
    case rest
    case rpc
  }

  /// Whether the upstream exists and speaks what its side needs.
  func check(_ name: Reference, is wanted: WantedProtocol, for role: String) {
    let isSecret = context.isSecret(name.name)
    let shown = isSecret ? "from outside the file" : quoted(name.name)
    guard let found = upstreamProtocols[name.name] else {
      if context.isIncomplete { return }
      let names = upstreamProtocols.keys.sorted()
      let near = isSecret ? nil : context.nearest(name.name, in: names)
      let all =
        names.isEmpty ? "name it under `upstreams:`" : "the upstreams are \(listed(names.prefix(40).map { $0 }))"
      context.error(
        name.position, "\(role) names an upstream \(shown), which is not given",
        cure: near.map { "did you mean \(quoted($0))?" } ?? all)
      return
    }
    // A protocol that could not be read was reported where it stands.
    guard let found, wanted != .any, found.isRPC != (wanted == .rpc) else { return }
    let fitting = configuration.upstreams.filter { $0.protocol.isRPC == (wanted == .rpc) }.map(\.name)
    let (other, needed) =
      wanted == .rest
      ? ("`rpc`", "`protocol: rest`") : ("`rest`", "`protocol: connect`, `grpc` or `grpc-web`")
    context.error(
      name.position,
      "\(role) needs an upstream with \(needed), and "
        + "\(isSecret ? "the one \(shown)" : shown) has `protocol: \(found.rawValue)`",
      cure: fitting.isEmpty ? "name it under \(other)" : "name \(listed(fitting.prefix(10).map { $0 }, "or"))")
  }
}
