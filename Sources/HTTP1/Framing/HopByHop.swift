import Bytes
public import HTTPModel

/// Removes the fields that are for one connection only (RFC 9110 section 7.6.1).
public enum HopByHop {
  private static let names: FieldNames = [
    .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .contentLength, .upgrade,
    .http2Settings,
    .proxyAuthenticate, .proxyAuthorization, .expect,
  ]

  /// Removes Connection, the fields that it names, and all others that never go on: Keep-Alive, Proxy-Connection, TE,
  /// Trailer, Transfer-Encoding, Content-Length (framing is written anew), Upgrade, HTTP2-Settings,
  /// Proxy-Authenticate, Proxy-Authorization, Expect.
  ///
  /// Do it on the peer's own head, before anything is added, so that Connection cannot name what the gateway adds. Host
  /// stays even if it is named: the authority was read already and is written anew.
  ///
  /// - Returns: what the removed fields said.
  public static func remove(from fields: FieldBlock) -> ConnectionOptions {
    var options = ConnectionOptions()
    var upgrades = false
    var toWebSocket = false
    var next = fields.nextIndex(in: names, from: 0)
    while let index = next {
      // Marked before the names are removed that it holds: it may name itself.
      fields.remove(at: index)
      switch fields.entry(at: index).name {
      case .connection:
        fields.withValue(at: index) { value in
          HeaderList.forEach(value) { option in
            read(option, &options, &upgrades, removingFrom: fields)
          }
        }
      case .upgrade:
        if lists(fields, index, "websocket") { toWebSocket = true }
      case .te:
        if lists(fields, index, "trailers") { options.acceptsTrailers = true }
      case .expect:
        if lists(fields, index, "100-continue") { options.expectsContinue = true }
      default:
        break
      }
      next = fields.nextIndex(in: names, from: index &+ 1)
    }
    options.upgradeToWebSocket = upgrades && toWebSocket
    return options
  }

  /// Sets what an option says, or removes the field that it names.
  private static func read(
    _ option: Span<UInt8>, _ options: inout ConnectionOptions, _ upgrades: inout Bool, removingFrom fields: FieldBlock
  ) {
    if ASCII.equalIgnoringCase(option, "close") {
      options.close = true
    } else if ASCII.equalIgnoringCase(option, "keep-alive") {
      options.keepAlive = true
    } else if ASCII.equalIgnoringCase(option, "upgrade") {
      upgrades = true
    } else if !option.isEmpty {
      let name = FieldName(option)
      // Those that are removed anyway must still be read by the loop.
      if name == .host || names.contains(name) { return }
      fields.remove(named: option)
    }
  }

  private static func lists(_ fields: FieldBlock, _ index: Int, _ wanted: StaticString) -> Bool {
    fields.withValue(at: index) { HeaderList.has(wanted, in: $0) }
  }
}
