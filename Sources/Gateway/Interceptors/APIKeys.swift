import Bytes
import Configuration
import HTTPModel
import Policies
import RPC

/// `api_key`: lets only callers through that present one of the keys. No upstream sees the key.
struct APIKeys: AuthenticatingInterceptor {
  private let keys: KeyTable
  /// Nil: there are only those of the configuration.
  private let file: HashedKeyPlan?
  private let header: [UInt8]?
  private let parameter: [UInt8]?

  init(_ configuration: APIKeyConfiguration, file: HashedKeyPlan?) {
    self.file = file
    keys = KeyTable(configuration.keys)
    header = configuration.header.map { Array($0.utf8) }
    parameter = configuration.query.map { Array($0.utf8) }
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    var presented: [UInt8]?
    if let parameter { presented = QueryParameter.take(parameter, from: call.head) }
    if let header, let key = takeHeader(header, from: call.head.fields) { presented = key }
    guard let presented else {
      call.worker.countAuthRefused("api_key", "none")
      return .refuse(refusal("an API key is needed"))
    }
    if keys.contains(presented.span) {
      call.apiKey = presented
      return .proceed
    }
    if let owner = file?.owner(of: presented, call) {
      // All keys of one owner share their limits.
      call.apiKey = owner.isEmpty ? presented : owner
      return .proceed
    }
    call.worker.countAuthRefused("api_key", "unknown")
    return .refuse(refusal("the API key is not valid"))
  }

  var onPublicRoutes: (any Interceptor)? {
    CredentialStripping { [header, parameter] head in
      if let parameter { _ = QueryParameter.take(parameter, from: head) }
      if let header { head.fields.remove(named: header.span) }
    }
  }

  private func takeHeader(_ name: [UInt8], from fields: FieldBlock) -> [UInt8]? {
    guard let index = fields.firstIndex(of: name.span) else { return nil }
    let value = fields.withValue(at: index) { value in value.indices.map { value[$0] } }
    fields.remove(named: name.span)
    return value
  }

  /// RFC 9110 section 11.6.1 wants a challenge with each 401.
  private func refusal(_ message: String) -> RPCError {
    RPCError(.unauthenticated, message, headers: [("www-authenticate", "ApiKey realm=\"api\"")])
  }
}

/// A parameter of a query.
enum QueryParameter {
  /// Takes all parameters of a name out of the target.
  ///
  /// - Returns: the value of the first, decoded; nil when there is none, or when it is not well encoded.
  static func take(_ name: [UInt8], from head: RequestHead) -> [UInt8]? {
    var kept: [Range<Int>] = []
    var first: [UInt8]?
    var wasFound = false
    head.withQuery { query in
      var start = 0
      while start < query.count {
        var end = start
        while end < query.count, query[end] != UInt8(ascii: "&") { end += 1 }
        let part = start..<end
        start = end + 1
        var equals = part.lowerBound
        while equals < end, query[equals] != UInt8(ascii: "=") { equals += 1 }
        guard let found = decoded(query.extracting(part.lowerBound..<equals)), found == name else {
          kept.append(part)
          continue
        }
        if !wasFound { first = decoded(query.extracting(min(equals + 1, end)..<end)) }
        wasFound = true
      }
    }
    if wasFound { rewrite(head, keeping: kept) }
    return first
  }

  private static func decoded(_ text: Span<UInt8>) -> [UInt8]? {
    var bytes = ByteBuffer()
    guard PercentCoding.decode(text, as: .query, into: &bytes) == nil else { return nil }
    return bytes.withSpan { span in span.indices.map { span[$0] } }
  }

  private static func rewrite(_ head: RequestHead, keeping parts: [Range<Int>]) {
    var target = ByteBuffer(minimumCapacity: head.target.count)
    target.append(head.target, 0..<head.pathEnd)
    for (index, part) in parts.enumerated() {
      if index == 0 { target.append("?") } else { target.append("&") }
      let offset = head.pathEnd + 1
      target.append(head.target, offset + part.lowerBound..<offset + part.upperBound)
    }
    swap(&head.target, &target)
  }
}
