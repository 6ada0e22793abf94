import HTTPModel

/// Collects templates; ``build()`` makes the flat form that serves.
package struct RouteTrieBuilder {
  private struct Draft {
    var literals: [[UInt8]: Int] = [:]
    var wildcard: Int?
    /// Of templates that end here.
    var endpoints: [DraftEndpoint] = []
    /// Of templates that end in `**` after this node.
    var deepEndpoints: [DraftEndpoint] = []
  }

  private struct DraftEndpoint {
    let method: HTTPMethod?
    let verb: [UInt8]
    let target: Int
    let captures: [RouteTrie.CaptureSpan]
  }

  private var drafts = [Draft()]

  package init() {}

  /// Adds a template for one method.
  ///
  /// - Parameters:
  ///   - method: a method token, or `*` for any that no other template at this place names.
  ///   - target: what ``RouteTrie/match(method:path:captures:)`` answers.
  /// - Returns: the target of an equivalent template with this method, in which case nothing was added.
  package mutating func insert(method: String, template: PathTemplate, target: Int) -> Int? {
    var node = 0
    var isDeep = false
    for segment in template.segments {
      switch segment {
      case .literal(let literal): node = child(of: node, literal: literal.bytes)
      case .wildcard: node = wildcard(of: node)
      case .deepWildcard: isDeep = true
      }
    }
    let key = method == "*" ? nil : HTTPMethod(method)
    let verb = template.verb?.bytes ?? []
    let present = isDeep ? drafts[node].deepEndpoints : drafts[node].endpoints
    if let other = present.first(where: { $0.method == key && $0.verb == verb }) { return other.target }
    let spans = template.captures.map { capture in
      let isOpen = isDeep && capture.segments.upperBound == template.segments.count
      return RouteTrie.CaptureSpan(
        first: capture.segments.lowerBound, count: capture.segments.count, reachesEnd: isOpen)
    }
    let endpoint = DraftEndpoint(method: key, verb: verb, target: target, captures: spans)
    if isDeep { drafts[node].deepEndpoints.append(endpoint) } else { drafts[node].endpoints.append(endpoint) }
    return nil
  }

  private mutating func child(of node: Int, literal: [UInt8]) -> Int {
    if let known = drafts[node].literals[literal] { return known }
    drafts.append(Draft())
    drafts[node].literals[literal] = drafts.count - 1
    return drafts.count - 1
  }

  private mutating func wildcard(of node: Int) -> Int {
    if let known = drafts[node].wildcard { return known }
    drafts.append(Draft())
    drafts[node].wildcard = drafts.count - 1
    return drafts.count - 1
  }

  /// The immutable form.
  package consuming func build() -> RouteTrie {
    var tables = RouteTrie.Tables()
    for draft in drafts {
      let firstEdge = tables.edges.count
      for (literal, node) in draft.literals.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        let isPlain = !literal.contains(UInt8(ascii: "%"))
        tables.edges.append(RouteTrie.Edge(label: tables.addLabel(literal), node: node, isPlain: isPlain))
      }
      let edges = firstEdge..<tables.edges.count
      let endpoints = Self.add(draft.endpoints, to: &tables)
      let deep = Self.add(draft.deepEndpoints, to: &tables)
      tables.nodes.append(
        RouteTrie.Node(edges: edges, wildcard: draft.wildcard ?? -1, endpoints: endpoints, deepEndpoints: deep))
    }
    return RouteTrie(tables)
  }

  private static func add(_ endpoints: [DraftEndpoint], to tables: inout RouteTrie.Tables) -> Range<Int> {
    let first = tables.endpoints.count
    for endpoint in endpoints {
      let firstCapture = tables.captures.count
      tables.captures += endpoint.captures
      tables.endpoints.append(
        RouteTrie.Endpoint(
          verb: tables.addLabel(endpoint.verb), method: endpoint.method, target: endpoint.target,
          captures: firstCapture..<tables.captures.count))
    }
    return first..<tables.endpoints.count
  }
}
