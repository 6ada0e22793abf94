import Bytes
import Configuration
import HTTPModel
import REST
import RPC

/// What a request is for; found once, from its head alone.
enum RouteDecision {
  /// An RPC face of a route.
  case procedure(route: Int, ProcedureRequest)
  /// A REST face; the captures are in the router's scratch until the next request.
  case rest(route: Int, binding: Int)
  /// A REST face, by a path that a lenient backend may take for another one.
  case ambiguous(route: Int, binding: Int)
  case fallback(upstream: Int)
  /// A browser's question whether it may use a face of a route: that of the binding, else the RPC one.
  case preflight(route: Int, binding: Int?)
  /// No route, and the answer that says so.
  case refused(RPCError)
}

/// Matches requests against a snapshot. One for each loop, because it keeps scratch space.
final class Router {
  // Unchecked, as all of this file that says so (decision 52): who is lent them calls nobody.
  /// Ranges into the request's path, one for each capture of the matched template.
  @exclusivity(unchecked) private(set) var captures: [Range<Int>] = []
  /// Arrays for the captures of the next requests.
  @exclusivity(unchecked) private var spareCaptures: [[Range<Int>]] = []
  private static let maximumSpare = 64
  /// Takes the forms of paths that are not plain.
  let spelling = PathSpelling()

  /// Hands ``captures`` over, until they come back with ``give(_:)``.
  func takeCaptures() -> [Range<Int>] {
    if captures.isEmpty { return [] }
    var taken = spareCaptures.popLast() ?? []
    swap(&taken, &captures)
    return taken
  }

  /// Takes an array back. Lent, for one that two variables refer to would be emptied into new memory.
  func give(_ captures: inout [Range<Int>]) {
    var given: [Range<Int>] = []
    swap(&given, &captures)
    guard given.capacity > 0, spareCaptures.count < Self.maximumSpare else { return }
    given.removeAll(keepingCapacity: true)
    spareCaptures.append(given)
  }

  func route(_ head: RequestHead, in snapshot: Snapshot) -> RouteDecision {
    head.withPath { path in
      head.authority.withSpan { authority in route(head, path, authority, snapshot) }
    }
  }

  private func route(
    _ head: RequestHead, _ path: Span<UInt8>, _ authority: Span<UInt8>, _ snapshot: Snapshot
  ) -> RouteDecision {
    if head.method == .options, snapshot.answersPreflights, Preflight.isOne(head),
      let decision = preflight(head, path, authority, snapshot)
    {
      return decision
    }
    // Its answer is the request as it arrived (RFC 9110 section 9.3.8), with the credentials that the gateway has for the
    // backend and that no caller may see.
    if head.method == .trace {
      return .refused(RPCError(.unimplemented, "TRACE is not served", httpStatus: 501))
    }
    var allowed: [String] = []
    var refusedProcedure: RouteDecision?
    for group in snapshot.groups where group.serves(authority) {
      if let index = group.procedures.route(for: path) {
        let request = ProcedureRequest.classify(head, allowsGet: snapshot.routes[index].allowsGet)
        let decision = RouteDecision.procedure(route: index, request)
        switch request {
        case .methodNotAllowed, .unsupportedMediaType: refusedProcedure = refusedProcedure ?? decision
        default: return decision
        }
      }
      switch group.trie.match(method: head.method, path: path, captures: &captures) {
      case .matched(let target):
        let (route, binding) = group.targets[target]
        if PathVariants.mayDiffer(path), spelling.isAmbiguous(head.method, path, authority, snapshot, of: route) {
          return .ambiguous(route: route, binding: binding)
        }
        return .rest(route: route, binding: binding)
      case .methodNotAllowed(let methods): allowed += methods
      case .notFound: break
      }
    }
    if let refusedProcedure { return refusedProcedure }
    if let decision = withoutSlash(head.method, path, authority, snapshot) { return decision }
    return unmatched(head, path, authority, snapshot, allowed: allowed)
  }

  /// The REST face of a path with one slash more at its end, if the route takes that for the same.
  private func withoutSlash(
    _ method: HTTPMethod, _ path: Span<UInt8>, _ authority: Span<UInt8>, _ snapshot: Snapshot
  ) -> RouteDecision? {
    guard snapshot.acceptsTrailingSlashes, path.count > 2, path[path.count - 1] == UInt8(ascii: "/") else { return nil }
    let shorter = path.extracting(first: path.count - 1)
    for group in snapshot.groups where group.serves(authority) {
      guard case .matched(let target) = group.trie.match(method: method, path: shorter, captures: &captures) else {
        continue
      }
      let (route, binding) = group.targets[target]
      // The route that has the path decides, not one behind it.
      guard snapshot.routes[route].settings.acceptsTrailingSlash else { return nil }
      return spelling.isAmbiguous(method, path, authority, snapshot, of: route)
        ? .ambiguous(route: route, binding: binding) : .rest(route: route, binding: binding)
    }
    return nil
  }

  /// The face that the call itself would have, if its route answers preflights.
  private func preflight(
    _ head: RequestHead, _ path: Span<UInt8>, _ authority: Span<UInt8>, _ snapshot: Snapshot
  ) -> RouteDecision? {
    guard let method = Preflight.method(of: head) else { return nil }
    for group in snapshot.groups where group.serves(authority) {
      if let index = group.procedures.route(for: path) {
        return snapshot.routes[index].answersPreflights ? .preflight(route: index, binding: nil) : nil
      }
      if case .matched(let target) = group.trie.match(method: method, path: path, captures: &captures) {
        let (route, binding) = group.targets[target]
        return snapshot.routes[route].answersPreflights ? .preflight(route: route, binding: binding) : nil
      }
    }
    if case .rest(let route, let binding) = withoutSlash(method, path, authority, snapshot),
      snapshot.routes[route].answersPreflights
    {
      return .preflight(route: route, binding: binding)
    }
    return nil
  }

  /// No route: the fallback, unless a lenient backend behind it could read the path as one of a described route.
  private func unmatched(
    _ head: RequestHead, _ path: Span<UInt8>, _ authority: Span<UInt8>, _ snapshot: Snapshot, allowed: [String]
  ) -> RouteDecision {
    if let fallback = snapshot.fallback {
      if spelling.meetsRoute(path, authority, snapshot) {
        return .refused(
          RPCError(
            .notFound,
            "no route for this spelling of the path; write it without doubled or trailing slashes, dot segments, "
              + "parameters, and escaped slashes", httpStatus: 404))
      }
      if meetsRouteInCapitals(head.method, path, authority, snapshot) {
        return .refused(
          RPCError(
            .unimplemented, "the method \(head.method.name) is not known; methods are written in capitals",
            httpStatus: 501))
      }
      return .fallback(upstream: fallback.upstream)
    }
    if !allowed.isEmpty {
      let methods = Set(allowed).sorted()
      return .refused(
        RPCError(
          .unimplemented, "\(head.method.name) is not allowed here; allowed: \(methods.joined(separator: ", "))",
          httpStatus: 405, headers: [("allow", methods.joined(separator: ", "))]))
    }
    return .refused(RPCError(.notFound, "no route for \(head.method.name) on this path", httpStatus: 404))
  }

  /// Whether a backend that does not look at the case of methods would take this for a call of a described route
  /// (RFC 9110 section 9.1: it matters).
  private func meetsRouteInCapitals(
    _ method: HTTPMethod, _ path: Span<UInt8>, _ authority: Span<UInt8>, _ snapshot: Snapshot
  ) -> Bool {
    guard case .other(let name) = method else { return false }
    let capitals = HTTPMethod(name.uppercased())
    guard capitals != method else { return false }
    for group in snapshot.groups where group.serves(authority) {
      if case .matched = group.trie.match(method: capitals, path: path, captures: &captures) { return true }
      if capitals == .post || capitals == .get, group.procedures.route(for: path) != nil { return true }
    }
    return false
  }
}
