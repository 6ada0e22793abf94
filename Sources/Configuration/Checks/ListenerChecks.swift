import Diagnostics

/// Addresses that cannot be bound together.
enum ListenerChecks {
  static func run(_ configuration: GatewayConfiguration, _ context: LoadContext) {
    let extra = [configuration.admin?.address, configuration.probes].compactMap { $0 }
    var seen: [SocketAddressConfiguration] = []
    for address in configuration.listeners.map(\.address) + extra where address.port != 0 {
      if let first = seen.first(where: { clash($0, address) }) {
        let place = "\(first.position.file):\(first.position.line):\(first.position.column)"
        let what =
          first == address
          ? "the address \(quoted(address.text)) is given twice, first at \(place)"
          : "the address \(quoted(address.text)) is covered by \(quoted(first.text)) at \(place), or covers it"
        context.error(address.position, what, cure: "use another port")
      } else {
        seen.append(address)
      }
    }
  }

  /// A socket for all addresses takes the port of each one; that for all IPv6 addresses takes IPv4 too.
  private static func clash(_ left: SocketAddressConfiguration, _ right: SocketAddressConfiguration) -> Bool {
    guard left.port == right.port else { return false }
    return left.host == right.host || covers(left.host, right.host) || covers(right.host, left.host)
  }

  private static func covers(_ wide: String, _ host: String) -> Bool {
    wide == "::" || (wide == "0.0.0.0" && !host.contains(":"))
  }
}
