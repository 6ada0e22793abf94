import Configuration
import HTTPModel

/// The names of fields that the gateway writes, or takes out, on a request's way: backends believe them because nobody
/// else can send them. In another spelling they would pass by those who care for them, and some servers read `X_Real_Ip`
/// as `X-Real-IP`; so a field whose name has a `_`, and is one of these names otherwise, is taken out of every request.
///
/// The usual spelling is the business of whoever writes the field. But for the mark of a copy, which nobody takes out of
/// calls that are none: backends leave copies out of what they count, so a client must not be able to say that it is one.
struct GuardedNames: Sendable {
  private let names: [[UInt8]]

  init(_ configuration: GatewayConfiguration) {
    var names: Set<String> = []
    for interceptor in configuration.allInterceptors {
      switch interceptor {
      case .headers(let changes): names.formUnion(Self.names(changes.request))
      case .requestID: names.insert("x-request-id")
      case .accessLog, .apiKey, .rateLimit, .concurrency, .tracing, .cors, .jwt, .externalAuth, .clientCertificate:
        // Those that say who calls are ``IdentityFields``.
        break
      }
    }
    for upstream in configuration.upstreams {
      names.formUnion(Self.names(upstream.headers))
      switch upstream.credentials {
      case .fixed(let field)?: names.insert(field.name)
      case .file(_, let header, _)?: names.insert(header)
      case .oauth2?, nil: break
      }
    }
    for service in configuration.services {
      let settings = [service.settings] + service.methods.map(\.settings)
      names.formUnion(settings.compactMap { $0.override?.header })
    }
    // A name without a hyphen has no other spelling.
    self.names = names.filter { $0.contains("-") }.sorted().map { Array($0.utf8) }
  }

  private static func names(_ changes: HeaderChangesConfiguration) -> [String] {
    (changes.set + changes.add).map(\.name) + changes.remove
  }

  /// Takes the other spellings out, the mark of copies in any, and what else a client that is not trusted says of who is
  /// in front of it.
  ///
  /// - Parameters:
  ///   - forwarded: whether the fields that tell who called are the gateway's.
  ///   - isTrusted: whether the peer may have set them.
  func clean(_ fields: FieldBlock, forwarded: Bool, isTrusted: Bool) {
    var index = 0
    while let found = suspect(in: fields, from: index, forwarded: forwarded, isTrusted: isTrusted) {
      let isTaken = fields.withName(at: found) { name in
        if Self.marksCopies(name) || forwarded && Self.tellsOfClients(name) { return true }
        return names.contains { FieldSpelling.isSame($0.span, name) }
      }
      if isTaken { fields.remove(at: found) }
      index = found + 1
    }
  }

  /// The next field that is looked at more closely: in nearly every request there is none.
  private func suspect(in fields: FieldBlock, from start: Int, forwarded: Bool, isTrusted: Bool) -> Int? {
    fields.withFields { lines, entries in
      for index in start..<max(start, entries.count) {
        // The known names are spelt as they should be.
        guard entries[index].name == .other, !entries[index].isRemoved else { continue }
        let name = lines.extracting(entries[index].nameBytes)
        if FieldSpelling.hasUnderscore(name) || Self.marksCopies(name) { return index }
        if !isTrusted, forwarded, Self.tellsOfClients(name) { return index }
      }
      return nil
    }
  }

  private static func marksCopies(_ name: Span<UInt8>) -> Bool {
    name.count == Shadow.mark.utf8CodeUnitCount && FieldSpelling.begins(name, with: Shadow.mark)
  }

  /// `X-Real-IP`, and all of `X-Forwarded-…`.
  private static func tellsOfClients(_ name: Span<UInt8>) -> Bool {
    FieldSpelling.begins(name, with: "x-forwarded-")
      || name.count == 9 && FieldSpelling.begins(name, with: "x-real-ip")
  }
}
