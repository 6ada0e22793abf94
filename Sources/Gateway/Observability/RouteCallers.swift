import Bytes
import Configuration
import EventLoops
import HTTPModel
import Migration
import RPC
import Synchronization

/// The callers of one route on one loop, by face. Locked, for the admin endpoint reads what the loop writes; the lock is
/// free nearly always.
final class RouteCallers: Sendable {
  struct Tables {
    var rest = CallerTable()
    var rpc = CallerTable()
  }

  let tables = Mutex(Tables())
}

/// The fields that say who calls. An object, for each call looks at it.
final class CallerFields: Sendable {
  /// A field that is looked for: by its bytes only where its name is not known.
  private struct Name: Sendable {
    let known: FieldName
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
      known = FieldName(bytes.span)
      self.bytes = bytes
    }

    func index(in fields: FieldBlock) -> Int? {
      known == .other ? fields.firstIndex(of: bytes.span) : fields.firstIndex(of: known)
    }
  }

  private let agent: Name
  private let version: Name?

  init(_ configuration: CallersConfiguration) {
    agent = Name(configuration.agentHeader)
    version = configuration.versionHeader.map { Name($0) }
  }

  func agentIndex(in fields: FieldBlock) -> Int? { agent.index(in: fields) }
  func versionIndex(in fields: FieldBlock) -> Int? { version?.index(in: fields) }
}

/// The callers of all routes, kept over reloads under the procedure's name.
final class CallerRegistry: Sendable {
  private let routes = Mutex<[String: [Int: RouteCallers]]>([:])

  /// What a loop counts a route's callers in.
  func callers(of procedure: String, loop: Int) -> RouteCallers {
    routes.withLock { routes in
      if let known = routes[procedure]?[loop] { return known }
      let callers = RouteCallers()
      routes[procedure, default: [:]][loop] = callers
      return callers
    }
  }

  /// Lets go what belongs to other procedures than these.
  func keep(only procedures: Set<String>) {
    let gone = routes.withLock { routes in
      let gone = routes.filter { !procedures.contains($0.key) }
      for procedure in gone.keys { routes[procedure] = nil }
      return gone
    }
    withExtendedLifetime(gone) {}
  }

  /// Procedures that are known.
  var procedures: [String] { routes.withLock { Array($0.keys) } }

  /// The tables of all loops.
  func tables(of procedure: String) -> [RouteCallers.Tables] {
    let all = routes.withLock { routes in routes[procedure].map { Array($0.values) } ?? [] }
    return all.map { callers in callers.tables.withLock { $0 } }
  }
}

extension Worker {
  /// Bytes of a name and of a version that are kept.
  private static let maximumAgent = 48
  private static let maximumVersion = 32

  /// Counts who made a call of a described route, once the call has got past its interceptors; where nobody could read
  /// it, nothing is counted.
  func countCaller(_ call: Call) {
    guard let route = call.route, call.decision != nil else { return }
    // Not a copy of the whole configuration: each of its parts would be counted, for each call.
    let snapshot = call.plans.snapshot
    guard let names = snapshot.callers else { return }
    let callers = callers(of: route)
    let fields = call.head.fields
    let agent = names.agentIndex(in: fields)
    let version = names.versionIndex(in: fields)
    let now = WallClock.nowCoarse().seconds
    withText(fields, agent) { agent in
      withText(fields, version) { said in
        let key = latestAgent.key(agent, said) { Self.key($0, $1) }
        callers.tables.withLock { tables in
          if call.face.kind == .rest {
            tables.rest.record(key, at: now) { Self.caller(agent, said, snapshot) }
          } else {
            tables.rpc.record(key, at: now) { Self.caller(agent, said, snapshot) }
          }
        }
      }
    }
  }

  private func callers(of route: RouteState) -> RouteCallers {
    if let known = route.counters.callers { return known }
    let callers = shared.callers.callers(of: route.plan.name, loop: index)
    route.counters.callers = callers
    return callers
  }

  /// Calls the body with the name of a program and its version.
  private static func withNames<R>(
    _ agent: Span<UInt8>, _ said: Span<UInt8>, _ body: (_ name: Span<UInt8>, _ version: Span<UInt8>) -> R
  ) -> R {
    let product = AgentProduct(agent)
    let name = agent.extracting(prefix(product.name, maximumAgent))
    let version =
      said.isEmpty
      ? agent.extracting(prefix(product.version, maximumVersion)) : said.extracting(0..<min(said.count, maximumVersion))
    return body(name, version)
  }

  /// The value of a field, or nothing.
  private func withText(_ fields: FieldBlock, _ index: Int?, _ body: (Span<UInt8>) -> Void) {
    guard let index else { return body([UInt8]().span) }
    fields.withValue(at: index, body)
  }

  private static func prefix(_ range: Range<Int>, _ most: Int) -> Range<Int> {
    range.lowerBound..<min(range.upperBound, range.lowerBound + most)
  }

  /// SipHash with the process's own seed: nobody outside can make two callers one.
  private static func key(_ agent: Span<UInt8>, _ said: Span<UInt8>) -> UInt64 {
    withNames(agent, said) { name, version in
      var hasher = Hasher()
      name.withUnsafeBytes { hasher.combine(bytes: $0) }
      hasher.combine(name.count)
      version.withUnsafeBytes { hasher.combine(bytes: $0) }
      return UInt64(truncatingIfNeeded: hasher.finalize())
    }
  }

  /// The names as operators read them. What an interceptor put there from a secret is not shown.
  private static func caller(
    _ agent: Span<UInt8>, _ said: Span<UInt8>, _ snapshot: Snapshot
  ) -> CallerName {
    let caller = withNames(agent, said) { CallerName(agent: text($0), version: text($1)) }
    let configuration = snapshot.configuration
    let isSecret = configuration.holdsSecret(caller.agent) || configuration.holdsSecret(caller.version)
    return isSecret ? CallerName(agent: "", version: "") : caller
  }

  /// Visible ASCII; any other byte is a question mark.
  private static func text(_ bytes: Span<UInt8>) -> String {
    var text = ""
    for index in bytes.indices {
      let isVisible = (0x21...0x7E).contains(bytes[index])
      text.unicodeScalars.append(isVisible ? Unicode.Scalar(bytes[index]) : "?")
    }
    return text
  }
}
