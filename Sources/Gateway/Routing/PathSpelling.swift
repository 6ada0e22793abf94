import Bytes
import HTTPModel
import REST
import RPC

/// What a path may mean to a backend that normalises it: a caller must not get to a route by another one's face, past
/// what guards it (decision 61).
final class PathSpelling {
  private var scratch = PathScratch()
  private var captures: [Range<Int>] = []

  /// The answer to a REST caller.
  static let refusal = RPCError(
    .invalidArgument,
    "a backend may take this spelling of the path for another path; write it without dot segments, and without "
      + "escaped slashes, backslashes and parameters where they lead to another method")

  /// Whether the REST side of a route may take a path of the route for something else: there is a dot segment in it,
  /// whoever sees it, or one of its forms is a path of another route.
  func isAmbiguous(
    _ method: HTTPMethod, _ path: Span<UInt8>, _ authority: Span<UInt8>, _ snapshot: Snapshot, of route: Int
  ) -> Bool {
    guard snapshot.routes[route].restUpstream != nil, PathVariants.mayDiffer(path) else { return false }
    if PathVariants.holdsDotSegment(path, scratch: &scratch) { return true }
    return PathVariants.anyForm(of: path, scratch: &scratch) {
      isOfAnother($0, method, authority, snapshot, than: route)
    }
  }

  /// Whether a path that was written for the REST side of a route is one of another route, as it is or in one of its
  /// forms: the values in it are the caller's.
  func leaves(_ target: Span<UInt8>, _ request: UpstreamRequest, _ call: Call, _ route: Route) -> Bool {
    let snapshot = call.plans.snapshot
    let end = target.indices.first { target[$0] == UInt8(ascii: "?") } ?? target.count
    let path = target.extracting(0..<end)
    return call.head.authority.withSpan { authority in
      isOfAnother(path, request.method, authority, snapshot, than: route.index)
        || isAmbiguous(request.method, path, authority, snapshot, of: route.index)
    }
  }

  /// Whether the first route that has the path is not this one.
  private func isOfAnother(
    _ path: Span<UInt8>, _ method: HTTPMethod, _ authority: Span<UInt8>, _ snapshot: Snapshot, than route: Int
  ) -> Bool {
    for group in snapshot.groups where group.serves(authority) {
      if let found = group.procedures.route(for: path) { return found != route }
      if case .matched(let target) = group.trie.match(method: method, path: path, captures: &captures) {
        // Two upstreams may be one server under two names.
        return group.targets[target].route != route
      }
    }
    return false
  }

  /// Whether a path that no route has is one of a route in one of its forms, whatever the method.
  func meetsRoute(_ path: Span<UInt8>, _ authority: Span<UInt8>, _ snapshot: Snapshot) -> Bool {
    guard !snapshot.groups.isEmpty, PathVariants.mayDiffer(path) else { return false }
    return PathVariants.anyForm(of: path, scratch: &scratch) { form in
      snapshot.groups.contains { group in
        group.serves(authority) && (group.trie.describes(form) || group.procedures.route(for: form) != nil)
      }
    }
  }
}
