import Bytes
import Configuration
import EventLoops
import HTTPModel

/// The fields that tell upstreams who called: read from proxies that are trusted, written anew in any case.
///
/// What a client says of itself never passes, in whatever spelling. Of the two families (`X-Forwarded-*` and
/// `Forwarded`) the one that is not in use is taken out, since nobody in front vouches for it.
enum ForwardedFields {
  private static let extended: FieldNames = [.xForwardedFor, .xForwardedHost, .xForwardedPort, .xForwardedProto]

  /// Rewrites the fields of a request.
  ///
  /// - Returns: the client's address where it is not the peer's.
  static func rewrite(_ head: RequestHead, from origin: ConnectionOrigin, _ worker: Worker) -> SocketAddress? {
    let plan = origin.plan
    let fields = head.fields
    let isTrusted = !plan.trustsNobody && plan.trusts(origin.address)
    worker.plans.snapshot.guardedNames.clean(fields, forwarded: plan.forwarded != .off, isTrusted: isTrusted)
    if plan.forwarded == .off { return nil }
    let mayHaveThem = fields.mayContain(extended) || fields.mayContain([.forwarded])
    if !mayHaveThem || !isTrusted {
      if mayHaveThem { removeForeign(fields, origin, worker) }
      append(head, origin, worker)
      return nil
    }
    return goOn(head, origin, worker)
  }

  // MARK: From a client

  private static func removeForeign(_ fields: FieldBlock, _ origin: ConnectionOrigin, _ worker: Worker) {
    if fields.contains(.xForwardedFor) || fields.contains(.forwarded), origin.plan.warnsNow() {
      worker.log(
        .info,
        "the fields that tell of \(origin.address.host)'s own clients are replaced: it is in no `trusted` range of "
          + "its listener")
    }
    remove(extended, from: fields)
    fields.remove(.forwarded)
  }

  private static func remove(_ names: FieldNames, from fields: FieldBlock) {
    var index = 0
    while let found = fields.nextIndex(in: names, from: index) {
      fields.remove(at: found)
      index = found + 1
    }
  }

  private static func append(_ head: RequestHead, _ origin: ConnectionOrigin, _ worker: Worker) {
    let fields = head.fields
    if origin.plan.forwarded != .standard {
      let (address, port) = (origin.text, origin.portText)
      fields.append(.xForwardedFor, address.span)
      fields.append(.xForwardedProto, scheme(origin.plan))
      appendHost(head)
      fields.append(.xForwardedPort, port.span)
    }
    if origin.plan.forwarded != .x {
      worker.scratch.removeAll()
      writeElement(head, origin, into: &worker.scratch)
      worker.scratch.withSpan { fields.append(.forwarded, $0) }
    }
  }

  // MARK: From a proxy

  private static func goOn(_ head: RequestHead, _ origin: ConnectionOrigin, _ worker: Worker) -> SocketAddress? {
    let (fields, plan) = (head.fields, origin.plan)
    var client: SocketAddress?
    if plan.forwarded != .standard {
      let chain = ForwardedChain.client(in: fields, ForwardedForList.self, from: origin.address, plan)
      if chain.place != nil { client = chain.address }
      worker.scratch.removeAll()
      copy(.xForwardedFor, fields, from: chain.place, into: &worker.scratch)
      worker.scratch.append(origin.text)
      fields.remove(.xForwardedFor)
      worker.scratch.withSpan { fields.append(.xForwardedFor, $0) }
      let hasScheme = keeps(.xForwardedProto, fields, isName)
      if !hasScheme { fields.append(.xForwardedProto, scheme(plan)) }
      if !keeps(.xForwardedHost, fields, isAuthority) { appendHost(head) }
      // Ours would not go with a scheme of theirs.
      if !keeps(.xForwardedPort, fields, isNumber), !hasScheme {
        let port = origin.portText
        fields.append(.xForwardedPort, port.span)
      }
    } else {
      remove(extended, from: fields)
    }
    if plan.forwarded != .x {
      let chain = ForwardedChain.client(in: fields, ForwardedElements.self, from: origin.address, plan)
      if chain.place != nil, client == nil { client = chain.address }
      worker.scratch.removeAll()
      copy(.forwarded, fields, from: chain.place, into: &worker.scratch)
      writeElement(head, origin, into: &worker.scratch)
      fields.remove(.forwarded)
      worker.scratch.withSpan { fields.append(.forwarded, $0) }
    } else {
      fields.remove(.forwarded)
    }
    return client
  }

  /// What of a list counts, with a comma behind it.
  private static func copy(
    _ name: FieldName, _ fields: FieldBlock, from place: ForwardedPlace?, into list: inout ByteBuffer
  ) {
    guard let place else { return }
    for field in place.field..<fields.indices.upperBound {
      let entry = fields.entry(at: field)
      guard entry.name == name, !entry.isRemoved else { continue }
      let start = field == place.field ? place.offset : 0
      fields.withValue(at: field) { value in
        let rest = ForwardedChain.trimmed(value, start..<value.count)
        if !rest.isEmpty {
          list.append(value.extracting(rest))
          list.append(", ")
        }
      }
    }
  }

  /// Whether a proxy's field stands: there is one, and it is well formed. Any other is taken out.
  private static func keeps(_ name: FieldName, _ fields: FieldBlock, _ isGood: (UInt8) -> Bool) -> Bool {
    if fields.count(of: name) == 1, let index = fields.firstIndex(of: name) {
      let stands = fields.withValue(at: index) { value in
        for byte in value.indices where !isGood(value[byte]) { return false }
        return !value.isEmpty
      }
      if stands { return true }
    }
    fields.remove(name)
    return false
  }

  private static func isName(_ byte: UInt8) -> Bool { ASCII.isAlphanumeric(byte) || "+-.".utf8.contains(byte) }
  private static func isNumber(_ byte: UInt8) -> Bool { ASCII.isDigit(byte) }

  /// What an authority is made of, without a user (RFC 3986 section 3.2).
  private static func isAuthority(_ byte: UInt8) -> Bool {
    ASCII.isAlphanumeric(byte) || "-._~%:[]!$&'()*+;=".utf8.contains(byte)
  }

  // MARK: Parts

  private static func scheme(_ plan: ListenerPlan) -> StaticString { plan.isSecure ? "https" : "http" }

  private static func appendHost(_ head: RequestHead) {
    if head.authority.isEmpty { return }
    head.authority.withSpan { head.fields.append(.xForwardedHost, $0) }
  }

  /// `for=192.0.2.1;host="example.com:8080";proto=https`
  private static func writeElement(_ head: RequestHead, _ origin: ConnectionOrigin, into list: inout ByteBuffer) {
    if origin.address.isIPv6 {
      list.append("for=\"[")
      list.append(origin.text)
      list.append("]\"")
    } else {
      list.append("for=")
      list.append(origin.text)
    }
    head.authority.withSpan { authority in
      if authority.isEmpty { return }
      for index in authority.indices where !isAuthority(authority[index]) { return }
      let isToken = FieldSyntax.isToken(authority)
      if isToken { list.append(";host=") } else { list.append(";host=\"") }
      list.append(authority)
      if !isToken { list.append("\"") }
    }
    list.append(";proto=")
    list.append(scheme(origin.plan))
  }
}
