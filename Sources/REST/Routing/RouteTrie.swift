package import HTTPModel

/// All path templates in flat arrays: which route a request is for.
///
/// Segment by segment a literal goes before `*` and `*` before `**`, with backtracking: a branch that has no binding
/// for the method hides no sibling that has one. Each node is visited at most once for a request.
package final class RouteTrie: Sendable {
  package enum Outcome: Sendable, Equatable {
    case matched(target: Int)
    /// The path is known, the method is not; `allow` is sorted and has HEAD where GET is bound.
    case methodNotAllowed(allow: [String])
    case notFound
  }

  struct Node: Sendable {
    /// Into `edges`, sorted by label.
    let edges: Range<Int>
    /// -1 for none.
    let wildcard: Int
    let endpoints: Range<Int>
    let deepEndpoints: Range<Int>
  }

  struct Edge: Sendable {
    /// Into `labels`.
    let label: Range<Int>
    let node: Int
    /// Whether the label has no `%`: a segment with the same bytes has no escape then, and is the same.
    let isPlain: Bool
  }

  struct Endpoint: Sendable {
    /// Into `labels`; empty for none.
    let verb: Range<Int>
    /// Nil for any.
    let method: HTTPMethod?
    let target: Int
    let captures: Range<Int>
  }

  /// The segments of one capture; with `reachesEnd` all that come, `count` says nothing then.
  struct CaptureSpan: Sendable {
    let first: Int
    let count: Int
    let reachesEnd: Bool
  }

  struct Tables {
    var nodes: [Node] = []
    var edges: [Edge] = []
    var endpoints: [Endpoint] = []
    var captures: [CaptureSpan] = []
    var labels: [UInt8] = []

    mutating func addLabel(_ bytes: [UInt8]) -> Range<Int> {
      let start = labels.count
      labels += bytes
      return start..<labels.count
    }
  }

  let nodes: [Node]
  let edges: [Edge]
  let endpoints: [Endpoint]
  let captures: [CaptureSpan]
  let labels: [UInt8]

  init(_ tables: Tables) {
    nodes = tables.nodes
    edges = tables.edges
    endpoints = tables.endpoints
    captures = tables.captures
    labels = tables.labels
  }

  /// Finds the route of a request.
  ///
  /// - Parameters:
  ///   - path: not decoded, without the query; `%2F` splits nothing.
  ///   - captures: emptied, then filled with one range into `path` for each capture in template order. Keep the array
  ///     from request to request: then nothing is allocated.
  package func match(method: HTTPMethod, path: Span<UInt8>, captures: inout [Range<Int>]) -> Outcome {
    captures.removeAll(keepingCapacity: true)
    guard !path.isEmpty, path[0] == UInt8(ascii: "/") else { return .notFound }
    var walk = Walk(method: method, dataEnd: path.count)
    if let found = enter(path, &walk) {
      fill(&captures, of: endpoints[found], path, to: walk.dataEnd)
      return .matched(target: endpoints[found].target)
    }
    guard walk.metPath else { return .notFound }
    walk.isCollecting = true
    _ = enter(path, &walk)
    return .methodNotAllowed(allow: walk.sortedAllow)
  }

  /// Whether any method is bound at this path.
  package func describes(_ path: Span<UInt8>) -> Bool {
    guard !path.isEmpty, path[0] == UInt8(ascii: "/") else { return false }
    var walk = Walk(method: .get, dataEnd: path.count)
    return enter(path, &walk) != nil || walk.metPath
  }

  /// Fills in where the captures of a matched template lie. `**` comes last, so segment n of the template is segment n
  /// of the path.
  private func fill(_ ranges: inout [Range<Int>], of endpoint: Endpoint, _ path: Span<UInt8>, to end: Int) {
    var segment = 0
    var start = min(1, end)
    for capture in captures[endpoint.captures] {
      while segment < capture.first {
        start = min(segmentEnd(path, from: start, to: end) + 1, end)
        segment += 1
      }
      guard !capture.reachesEnd else {
        ranges.append(start..<end)
        return
      }
      let lower = start
      var upper = start
      for _ in 0..<capture.count {
        upper = segmentEnd(path, from: start, to: end)
        start = min(upper + 1, end)
        segment += 1
      }
      ranges.append(lower..<upper)
    }
  }

  @inline(__always)
  func segmentEnd(_ path: Span<UInt8>, from start: Int, to end: Int) -> Int {
    var index = start
    while index < end, path[index] != UInt8(ascii: "/") { index &+= 1 }
    return index
  }
}
