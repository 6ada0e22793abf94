import Bytes
import HTTPModel

extension RouteTrie {
  /// What one walk through the trie looks for and has met.
  struct Walk {
    let method: HTTPMethod
    /// Where the verb's colon is, or the end of the path.
    var dataEnd: Int
    /// Whether some template fits the path, whatever its method.
    var metPath = false
    /// On the second walk, for `Allow`.
    var isCollecting = false
    var allow: [String] = []

    init(method: HTTPMethod, dataEnd: Int) {
      self.method = method
      self.dataEnd = dataEnd
    }

    var sortedAllow: [String] {
      var names = Set(allow)
      if names.contains("GET") { names.insert("HEAD") }
      return names.sorted()
    }
  }

  /// - Returns: the index of the endpoint.
  func enter(_ path: Span<UInt8>, _ walk: inout Walk) -> Int? {
    // "/" has no segment: only `/**` fits.
    if path.count == 1 { return choose(nodes[0].deepEndpoints, verb: nil, path, &walk).endpoint }
    return descend(0, from: 1, path, &walk)
  }

  /// Matches the segments from an offset on; recursion is as deep as the longest template.
  private func descend(_ index: Int, from start: Int, _ path: Span<UInt8>, _ walk: inout Walk) -> Int? {
    let node = nodes[index]
    let end = segmentEnd(path, from: start, to: path.count)
    // An empty segment fits nothing, `**` included.
    guard end > start else { return nil }
    if end < path.count {
      if let child = child(of: node, path, start..<end), let found = descend(child, from: end + 1, path, &walk) {
        return found
      }
      if node.wildcard >= 0, let found = descend(node.wildcard, from: end + 1, path, &walk) { return found }
    } else {
      let colon = lastColon(path, start..<end)
      if let colon, let child = child(of: node, path, start..<colon),
        let found = finish(child, verbAt: colon, path, &walk)
      {
        return found
      }
      if let child = child(of: node, path, start..<end), let found = finish(child, verbAt: nil, path, &walk) {
        return found
      }
      if node.wildcard >= 0 {
        let open = nodes[node.wildcard]
        if let found = read(open.endpoints, colon: colon, path, &walk) { return found }
        if let found = read(open.deepEndpoints, colon: colon, path, &walk) { return found }
      }
    }
    guard !node.deepEndpoints.isEmpty, let last = lastSegment(path, from: start) else { return nil }
    return read(node.deepEndpoints, colon: lastColon(path, last..<path.count), path, &walk)
  }

  /// The templates that end at a node, those that go on with `**` of no segment after the others.
  private func finish(_ index: Int, verbAt colon: Int?, _ path: Span<UInt8>, _ walk: inout Walk) -> Int? {
    let node = nodes[index]
    return choose(node.endpoints, verb: colon, path, &walk).endpoint
      ?? choose(node.deepEndpoints, verb: colon, path, &walk).endpoint
  }

  /// The last raw colon begins a verb where exactly that verb is declared; else it belongs to the segment.
  private func read(_ range: Range<Int>, colon: Int?, _ path: Span<UInt8>, _ walk: inout Walk) -> Int? {
    if let colon {
      let asVerb = choose(range, verb: colon, path, &walk)
      if asVerb.isDeclared { return asVerb.endpoint }
    }
    return choose(range, verb: nil, path, &walk).endpoint
  }

  /// The endpoint for the walk's method: its own, GET for HEAD, then one for any method.
  private func choose(
    _ range: Range<Int>, verb colon: Int?, _ path: Span<UInt8>, _ walk: inout Walk
  ) -> (isDeclared: Bool, endpoint: Int?) {
    var declared = false
    var second: Int?
    var any: Int?
    for index in range {
      let endpoint = endpoints[index]
      if let colon {
        guard !endpoint.verb.isEmpty, order(path, colon + 1..<path.count, endpoint.verb) == 0 else { continue }
      } else if !endpoint.verb.isEmpty {
        continue
      }
      declared = true
      walk.metPath = true
      if walk.isCollecting, let method = endpoint.method { walk.allow.append(method.name) }
      guard let method = endpoint.method else {
        any = index
        continue
      }
      if method == walk.method {
        walk.dataEnd = colon ?? path.count
        return (true, index)
      }
      if method == .get, walk.method == .head { second = index }
    }
    let found = second ?? any
    if found != nil { walk.dataEnd = colon ?? path.count }
    return (declared, found)
  }

  // MARK: Bytes

  private func child(of node: Node, _ path: Span<UInt8>, _ segment: Range<Int>) -> Int? {
    var low = node.edges.lowerBound
    var high = node.edges.upperBound
    while low < high {
      let middle = (low + high) / 2
      let edge = edges[middle]
      if edge.isPlain, Self.isSame(path.extracting(segment), labels, edge.label) { return edge.node }
      let order = order(path, segment, edge.label)
      if order == 0 { return edge.node }
      if order < 0 { high = middle } else { low = middle + 1 }
    }
    return nil
  }

  private static func isSame(_ segment: Span<UInt8>, _ labels: borrowing [UInt8], _ label: Range<Int>) -> Bool {
    ASCII.equal(segment, labels.span.extracting(label))
  }

  /// Compares a segment, decoded on the way, with a label: negative, zero or positive as in sorting.
  private func order(_ path: Span<UInt8>, _ segment: Range<Int>, _ label: Range<Int>) -> Int {
    var index = segment.lowerBound
    var at = label.lowerBound
    while index < segment.upperBound {
      guard at < label.upperBound else { return 1 }
      var byte = path[index]
      index &+= 1
      if byte == UInt8(ascii: "%"), segment.upperBound &- index >= 2,
        let high = ASCII.hexadecimalValue(path[index]), let low = ASCII.hexadecimalValue(path[index &+ 1])
      {
        byte = high << 4 | low
        index &+= 2
      }
      let other = labels[at]
      at &+= 1
      if byte != other { return byte < other ? -1 : 1 }
    }
    return at == label.upperBound ? 0 : -1
  }

  /// The last raw colon with something before and behind it.
  private func lastColon(_ path: Span<UInt8>, _ segment: Range<Int>) -> Int? {
    var index = segment.upperBound &- 2
    if path[segment.upperBound &- 1] == UInt8(ascii: ":") { return nil }
    while index > segment.lowerBound {
      if path[index] == UInt8(ascii: ":") { return index }
      index &-= 1
    }
    return nil
  }

  /// Where the last segment begins; nil when one from `start` on is empty.
  private func lastSegment(_ path: Span<UInt8>, from start: Int) -> Int? {
    var last = start
    var index = start
    while index < path.count {
      if path[index] == UInt8(ascii: "/") {
        if index == last { return nil }
        last = index &+ 1
      }
      index &+= 1
    }
    return last < path.count ? last : nil
  }
}
