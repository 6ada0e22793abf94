import Bytes
import Configuration
import HTTPModel

/// Where callers put their token.
struct TokenPlace: Sendable {
  enum Outcome {
    case none
    case found([UInt8])
    /// It is there, and not as it should be: two of them, or of another scheme.
    case unusable(String)
  }

  private let place: JWTConfiguration.Place
  private let name: [UInt8]

  init(_ place: JWTConfiguration.Place) {
    self.place = place
    switch place {
    case .bearer: name = Array("authorization".utf8)
    case .header(let name), .cookie(let name), .query(let name): self.name = Array(name.utf8)
    }
  }

  var isQuery: Bool { if case .query = place { true } else { false } }

  /// Calls the body with the one token, where it lies in a field of its own: without a copy.
  ///
  /// - Returns: nil when it has to be looked for by ``find(in:)``.
  func withBearer<Result>(_ head: RequestHead, _ body: (Span<UInt8>) -> Result) -> Result? {
    guard case .bearer = place, let index = head.fields.firstIndex(of: .authorization),
      head.fields.nextIndex(of: .authorization, from: index + 1) == nil
    else { return nil }
    return head.fields.withValue(at: index) { value -> Result? in
      guard let token = Self.bearer(value) else { return nil }
      return body(token)
    }
  }

  /// The token of a request. One in the query is taken out of it: a strict backend would not know it, and logs would.
  func find(in head: RequestHead) -> Outcome {
    switch place {
    case .bearer, .header: return inField(head.fields)
    case .cookie: return inCookie(head.fields).map { .found($0) } ?? .none
    case .query: return QueryParameter.take(name, from: head).map { .found($0) } ?? .none
    }
  }

  /// Takes the token away from the backend.
  func strip(_ head: RequestHead) {
    switch place {
    case .bearer, .header: head.fields.remove(named: name.span)
    case .cookie: CookieFields.remove(name, from: head.fields)
    case .query: _ = QueryParameter.take(name, from: head)
    }
  }

  private func inField(_ fields: FieldBlock) -> Outcome {
    guard let index = fields.firstIndex(of: name.span) else { return .none }
    for other in fields.indices where other > index && !fields.entry(at: other).isRemoved {
      let isSame = fields.withName(at: other) { ASCII.equalIgnoringCase($0, name.span) }
      if isSame { return .unusable("the token comes twice") }
    }
    return fields.withValue(at: index) { value in
      if let token = Self.bearer(value) { return .found(token.indices.map { token[$0] }) }
      if case .header = place { return .found(value.indices.map { value[$0] }) }
      return .unusable("the credentials are of another scheme than Bearer")
    }
  }

  private func inCookie(_ fields: FieldBlock) -> [UInt8]? { CookieFields.value(of: name, in: fields) }

  /// What follows `Bearer ` (RFC 6750 section 2.1).
  @_lifetime(copy value)
  private static func bearer(_ value: Span<UInt8>) -> Span<UInt8>? {
    guard value.count > 7, value[6] == UInt8(ascii: " "), ASCII.equalIgnoringCase(value.extracting(0..<6), "bearer")
    else { return nil }
    var start = 7
    while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
    return value.extracting(start..<value.count)
  }
}
