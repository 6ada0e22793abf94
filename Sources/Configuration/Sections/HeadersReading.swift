import Diagnostics

/// Names of fields.
enum HeaderName {
  /// RFC 9110 section 5.6.2.
  static func isToken(_ name: some StringProtocol) -> Bool {
    !name.isEmpty && name.utf8.count <= 256
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  /// What says how a message is framed, coded or routed: the gateway writes it, nobody else.
  private static let reserved: Set<String> = [
    "connection", "content-encoding", "content-length", "content-type", "expect", "host", "http2-settings",
    "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]
  private static let reservedPrefixes = ["connect-", "grpc-", "trailer-connect-", "trailer-grpc-"]

  /// - Parameter name: In lower case.
  static func isReserved(_ name: String) -> Bool {
    reserved.contains(name) || reservedPrefixes.contains { name.hasPrefix($0) }
  }
}

extension RootReader {
  func headers(_ node: Node) -> HeadersConfiguration? {
    guard let map = MappingReader(node, Sections.headers, context) else { return nil }
    var result = HeadersConfiguration()
    if let node = map[.request] { result.request = headerChanges(node) }
    if let node = map[.response] { result.response = headerChanges(node) }
    return result
  }

  /// What is sent in these opens doors.
  private static let secretHeaders: Set<String> = ["authorization", "proxy-authorization", "cookie"]

  /// One field of a mapping of values by name.
  func headerField(_ entry: Node.Entry) -> HeaderChangesConfiguration.Field? {
    guard let name = headerName(entry.key, at: entry.keyPosition, shown: quoted(entry.key)),
      let value = headerValue(entry.value)
    else { return nil }
    return .init(name: name, value: value)
  }

  func headerChanges(_ node: Node) -> HeaderChangesConfiguration {
    var result = HeaderChangesConfiguration()
    guard let map = MappingReader(node, Sections.headerChanges, context) else { return result }
    var places: [String: SourcePosition] = [:]
    for entry in map[.set].flatMap({ context.mapping($0, "values by header name") }) ?? [] {
      guard let name = headerName(entry.key, at: entry.keyPosition, shown: quoted(entry.key)) else { continue }
      if let first = places[name] {
        context.report(.givenTwice(name, at: entry.keyPosition, first: first))
        continue
      }
      places[name] = entry.keyPosition
      guard let value = headerValue(entry.value) else { continue }
      if Self.secretHeaders.contains(name) {
        context.keep(secret: value, writtenAt: context.isSecret(value) ? nil : entry.value.position)
      }
      result.set.append(.init(name: name, value: value))
    }
    for entry in map[.add].flatMap({ context.mapping($0, "values by header name") }) ?? [] {
      guard let name = headerName(entry.key, at: entry.keyPosition, shown: quoted(entry.key)) else { continue }
      var values = [entry.value]
      if case .sequence(let elements) = entry.value.content { values = elements }
      for node in values { headerValue(node).map { result.add.append(.init(name: name, value: $0)) } }
    }
    for node in map[.remove].flatMap({ context.list($0, "header names") }) ?? [] {
      guard let name = headerName(node) else { continue }
      if let first = places[name.value] {
        context.error(
          node.position, "\(name.shown) is set and removed, set at \(first.file):\(first.line):\(first.column)",
          cure: "`set` takes the place of what was there; leave it out here")
      } else {
        result.remove.append(name.value)
      }
    }
    return result
  }

  /// The name of a header that tells backends who calls, in lower case. Callers never send it: it would be taken away.
  func identityHeader(_ node: Node) -> Text? {
    guard let name = headerName(node) else { return nil }
    guard !Self.secretHeaders.contains(name.value) else {
      context.error(
        node.position, "\(name.shown) carries the credentials of callers, and would be taken away from them",
        cure: "use another name, as `x-user-id`")
      return nil
    }
    return name
  }

  /// A header's name in lower case.
  ///
  /// - Parameter isMetadata: Whether it is to be written, so that the names of framing are refused.
  func headerName(_ node: Node, isMetadata: Bool = true) -> Text? {
    guard var text = context.name(node, "a header's name") else { return nil }
    let name = headerName(text.value, at: node.position, shown: text.shown, isMetadata: isMetadata)
    guard let name else { return nil }
    text.value = name
    return text
  }

  private func headerName(
    _ name: String, at position: SourcePosition, shown: String, isMetadata: Bool = true
  ) -> String? {
    guard HeaderName.isToken(name) else {
      context.error(position, "\(shown) is not a header's name", cure: "use letters, digits and `-`")
      return nil
    }
    let lower = name.lowercased()
    guard !HeaderName.isReserved(lower) else {
      context.error(
        position, "\(shown) belongs to the protocol between two hops, not to the metadata of a call",
        cure: isMetadata ? "leave it out; the gateway writes it" : "use another name")
      return nil
    }
    return lower
  }

  /// RFC 9110 section 5.5: no control characters, no blanks at the ends.
  func headerValue(_ node: Node) -> String? {
    guard let text = context.text(node, "a header's value") else { return nil }
    let bytes = text.value.utf8
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      context.error(node.position, "\(text.shown) has a control character", cure: "a header's value is one line")
      return nil
    }
    let blanks: [UInt8] = [0x20, 0x09]
    if let first = bytes.first, let last = bytes.last, blanks.contains(first) || blanks.contains(last) {
      context.error(node.position, "\(text.shown) begins or ends with a blank", cure: "remove it")
      return nil
    }
    guard bytes.count <= 8192 else {
      context.error(node.position, "the value is longer than 8192 bytes", cure: "no server takes it; shorten it")
      return nil
    }
    return text.value
  }
}
