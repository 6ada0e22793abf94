import Bytes
import Configuration
import EventLoops
import HTTPModel
import Redis

/// What tells callers apart for limits, ready to be asked.
struct LimitKeys: Sendable {
  private enum Part: Sendable {
    case client
    case route
    case header([UInt8])
    case claim(String)
    case apiKey
  }

  private let parts: [Part]

  init(_ key: LimitKey) {
    parts = key.parts.map { part in
      switch part {
      case .client: .client
      case .route: .route
      case .header(let name): .header(Array(name.utf8))
      case .claim(let name): .claim(name)
      case .apiKey: .apiKey
      }
    }
  }

  /// The hash of a call's key. The process's hash has a secret seed, so nobody can make keys that meet.
  func hash(of call: Call) -> UInt64 {
    if parts.isEmpty { return 0 }
    var hasher = Hasher()
    for part in parts { Self.combine(part, of: call, into: &hasher) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// A call's key as a part of a name that replicas share: what may be a secret, as its digest.
  func text(of call: Call) -> String {
    if parts.isEmpty { return "all" }
    return parts.map { Self.text($0, of: call) }.joined(separator: ":")
  }

  private static func text(_ part: Part, of call: Call) -> String {
    func address() -> String { "client=\(call.clientAddress?.network.host ?? "")" }
    switch part {
    case .client: return address()
    case .route: return "route=\(call.route?.plan.procedure ?? "")"
    case .header(let name):
      guard let index = call.head.fields.firstIndex(of: name.span) else { return address() }
      return "header=\(call.head.fields.withValue(at: index) { RedisDigest.of($0) })"
    case .claim(let name):
      guard let value = call.claim(name) else { return address() }
      return "claim=\(RedisDigest.of(Array(value.utf8).span))"
    case .apiKey:
      guard let key = call.apiKey else { return address() }
      return "key=\(RedisDigest.of(key.span))"
    }
  }

  private static func combine(_ part: Part, of call: Call, into hasher: inout Hasher) {
    switch part {
    case .client: hasher.combine(call.clientAddress?.network)
    case .route: hasher.combine(call.route?.plan.procedure ?? "")
    case .header(let name):
      guard let index = call.head.fields.firstIndex(of: name.span) else { return combineAddress(of: call, &hasher) }
      hasher.combine(true)
      call.head.fields.withValue(at: index) { value in
        hasher.combine(value.count)
        value.withUnsafeBytes { hasher.combine(bytes: $0) }
      }
    case .claim(let name):
      guard let value = call.claim(name) else { return combineAddress(of: call, &hasher) }
      hasher.combine(true)
      hasher.combine(value)
    case .apiKey:
      guard let key = call.apiKey else { return combineAddress(of: call, &hasher) }
      hasher.combine(true)
      hasher.combine(key)
    }
  }

  /// In place of what the caller lacks; told apart from every value of that.
  private static func combineAddress(of call: Call, _ hasher: inout Hasher) {
    hasher.combine(false)
    hasher.combine(call.clientAddress?.network)
  }
}
