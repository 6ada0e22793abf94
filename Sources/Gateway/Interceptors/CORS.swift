import Bytes
import Configuration
import HTTPModel

/// `cors`: lets scripts of other origins call (Fetch Standard, CORS protocol), REST and Connect alike.
///
/// Preflights are answered here; what an upstream says of origins does not count. Refusals of the gateway carry the
/// fields too, so that a script can read them.
struct CORS: Interceptor {
  /// What Connect and gRPC-Web clients send.
  private static let protocolHeaders = [
    "Content-Type", "Connect-Protocol-Version", "Connect-Timeout-Ms", "X-User-Agent", "Grpc-Timeout", "X-Grpc-Web",
  ]
  /// What gRPC-Web clients read.
  private static let protocolExposed = ["Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin"]

  private let origins: [[UInt8]]
  private let patterns: [OriginPattern]
  private let allowsAny: Bool
  private let credentials: Bool
  private let methods: String
  private let headers: String
  /// Empty: none.
  private let exposed: String
  private let maximumAge: String
  private let allowsPrivateNetwork: Bool

  init(_ configuration: CORSConfiguration) {
    origins = configuration.origins.filter { !$0.contains("*") }.map { Array($0.utf8) }
    patterns = configuration.origins.filter { $0.contains("*") }.map { OriginPattern($0) }
    allowsPrivateNetwork = configuration.privateNetwork
    let isConnect = configuration.preset == .connect
    allowsAny = configuration.allowsAnyOrigin
    credentials = configuration.credentials
    methods = Self.list(configuration.methods)
    headers = Self.list((isConnect ? Self.protocolHeaders : ["Content-Type"]) + configuration.headers)
    exposed = Self.list(
      (isConnect ? Self.protocolExposed : [])
        + configuration.expose.flatMap { $0 == "*" ? [$0] : [$0, "Trailer-\($0)"] })
    maximumAge = "\(configuration.maxAge.components.seconds)"
  }

  private static func list(_ names: [String]) -> String {
    var known: Set<String> = []
    return names.filter { known.insert($0.lowercased()).inserted }.joined(separator: ", ")
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    answers(call) ? .answer(status: 204) : .proceed
  }

  /// A preflight for what some route or the fallback takes; what nobody takes is refused as ever.
  private func answers(_ call: Call) -> Bool {
    (call.route != nil || call.fallbackUpstream != nil) && Preflight.isOne(call.head)
  }

  func onReply(_ call: Call, _ fields: FieldBlock) {
    removeForeign(fields)
    let isPreflight = answers(call)
    if let index = call.head.fields.firstIndex(of: .origin), allows(call.head.fields, index) {
      if allowsAny, !credentials {
        fields.append("access-control-allow-origin", "*")
      } else {
        let origin = call.head.fields.text(at: index)
        fields.append("access-control-allow-origin", origin)
      }
      if credentials { fields.append("access-control-allow-credentials", "true") }
      if isPreflight {
        let isProcedure = call.face.kind != .rest
        fields.append("access-control-allow-methods", isProcedure ? "GET, POST" : methods)
        fields.append("access-control-allow-headers", headers)
        fields.append("access-control-max-age", maximumAge)
        if allowsPrivateNetwork, Preflight.isForPrivateNetwork(call.head) {
          fields.append("access-control-allow-private-network", "true")
        }
      } else if !exposed.isEmpty {
        fields.append("access-control-expose-headers", exposed)
      }
    }
    addVary(fields, isPreflight)
  }

  private func allows(_ fields: FieldBlock, _ index: Int) -> Bool {
    if allowsAny { return true }
    return fields.withValue(at: index) { origin in
      for known in origins where ASCII.equal(known.span, origin) { return true }
      for pattern in patterns where pattern.matches(origin) { return true }
      return false
    }
  }

  private func removeForeign(_ fields: FieldBlock) {
    for index in fields.indices where fields.entry(at: index).name == .other && !fields.entry(at: index).isRemoved {
      let isForeign = fields.withName(at: index) { name in
        name.count > 15 && ASCII.equalIgnoringCase(name.extracting(0..<15), "access-control-")
      }
      if isForeign { fields.remove(at: index) }
    }
  }

  /// Caches must not give the answer for one origin to another (Fetch Standard, CORS protocol and HTTP caches); there
  /// is nothing to tell apart when every origin gets the same.
  private func addVary(_ fields: FieldBlock, _ isPreflight: Bool) {
    if isPreflight {
      fields.append(.vary, "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
      if allowsPrivateNetwork { fields.append(.vary, "Access-Control-Request-Private-Network") }
    } else if !allowsAny || credentials {
      fields.append(.vary, "Origin")
    }
  }
}

/// What a browser asks before a call that is not a simple one.
enum Preflight {
  private static let requestMethod = Array("access-control-request-method".utf8)
  private static let privateNetwork = Array("access-control-request-private-network".utf8)

  static func isOne(_ head: RequestHead) -> Bool {
    head.method == .options && head.fields.contains(.origin) && method(of: head) != nil
  }

  /// Whether the page is of a wider network than the address (Private Network Access).
  static func isForPrivateNetwork(_ head: RequestHead) -> Bool {
    guard let index = head.fields.firstIndex(of: privateNetwork.span) else { return false }
    return head.fields.withValue(at: index) { ASCII.equal($0, "true") }
  }

  /// The method that is asked for.
  static func method(of head: RequestHead) -> HTTPMethod? {
    guard let index = head.fields.firstIndex(of: requestMethod.span) else { return nil }
    return head.fields.withValue(at: index) { FieldSyntax.isToken($0) ? HTTPMethod($0) : nil }
  }
}
