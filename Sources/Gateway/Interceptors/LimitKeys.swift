import Bytes
import Configuration
import EventLoops
import HTTPModel

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
      guard let key = call.apiKeyHash else { return combineAddress(of: call, &hasher) }
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
