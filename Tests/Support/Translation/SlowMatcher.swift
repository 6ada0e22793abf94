import Bytes
package import REST

/// Which template a request path is for, found by trying all of them: the judge of the route trie.
///
/// The rules are those of the design: segment by segment a literal before `*` before `**`; the last colon begins a verb
/// where a template of that place declares it; a place without the method hides nothing.
package struct SlowMatcher {
  package struct Entry {
    package let method: String
    package let template: PathTemplate
  }

  package struct Match: Equatable {
    package let index: Int
    /// The raw text of each capture.
    package let captures: [[UInt8]]
    let rank: [Int]
    let usesVerb: Bool
  }

  package let entries: [Entry]

  package init(_ entries: [Entry]) {
    self.entries = entries
  }

  /// All templates that fit the path, whatever their method.
  package func matches(_ path: [UInt8]) -> [Match] {
    guard path.first == UInt8(ascii: "/") else { return [] }
    return entries.indices.compactMap { fit($0, path) }
  }

  /// Whether a template serves a method: its own, GET for HEAD, any for all. The higher the better, 0 for no.
  package func service(_ index: Int, _ method: String) -> Int {
    let own = entries[index].method
    if own == method { return 3 }
    return own == "GET" && method == "HEAD" ? 2 : own == "*" ? 1 : 0
  }

  /// Whether a match is hidden because a template of the same shape declares the verb that the path ends with.
  package func isHidden(_ match: Match, among matches: [Match]) -> Bool {
    guard !match.usesVerb, match.rank.last.map({ $0 < 60 }) ?? false else { return false }
    return matches.contains { other in
      other.usesVerb && shape(entries[other.index].template) == shape(entries[match.index].template)
    }
  }

  private func shape(_ template: PathTemplate) -> [[UInt8]] {
    template.segments.map { segment in
      switch segment {
      case .literal(let literal): [0] + literal.bytes
      case .wildcard: [1]
      case .deepWildcard: [2]
      }
    }
  }

  /// The ranks of the path's segments; the last one's tells the order of the ends of templates too.
  private func fit(_ index: Int, _ path: [UInt8]) -> Match? {
    let template = entries[index].template
    var parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
    if path.count == 1 { parts = [] }
    guard !parts.contains([]) else { return nil }
    if let verb = template.verb {
      guard let last = parts.popLast(), let (data, suffix) = Self.cut(last), Self.decode(suffix) == verb.bytes else {
        return nil
      }
      parts.append(data)
    }
    let isDeep = template.segments.last == .deepWildcard
    let fixed = template.segments.count - (isDeep ? 1 : 0)
    guard parts.count == fixed || (isDeep && parts.count > fixed) else { return nil }
    var rank: [Int] = []
    for (segment, part) in zip(template.segments.prefix(fixed), parts) {
      guard case .literal(let literal) = segment else {
        rank.append(40)
        continue
      }
      guard Self.decode(part) == literal.bytes else { return nil }
      rank.append(60)
    }
    if parts.count > fixed {
      rank.append(20)
    } else if !rank.isEmpty {
      // Behind a literal the verb comes first, then what ends here; behind `*` it is the other way.
      let endsHere = isDeep ? 0 : 1
      let hasVerb = template.verb == nil ? 0 : 1
      rank[rank.count - 1] += rank[rank.count - 1] == 60 ? hasVerb * 2 + endsHere : endsHere * 2 + hasVerb
    }
    if parts.count > fixed, template.verb != nil { rank[rank.count - 1] += 1 }
    let captures = template.captures.map { capture in
      let upper = capture.segments.upperBound == template.segments.count ? parts.count : capture.segments.upperBound
      guard capture.segments.lowerBound < upper else { return [UInt8]() }
      return Array(parts[capture.segments.lowerBound..<upper].joined(separator: [UInt8(ascii: "/")]))
    }
    return Match(index: index, captures: captures, rank: rank, usesVerb: template.verb != nil)
  }

  /// What stands before and behind the last colon that has something on both sides.
  private static func cut(_ segment: [UInt8]) -> (data: [UInt8], suffix: [UInt8])? {
    guard segment.last != UInt8(ascii: ":"), let colon = segment.lastIndex(of: UInt8(ascii: ":")), colon > 0 else {
      return nil
    }
    return (Array(segment[..<colon]), Array(segment[(colon + 1)...]))
  }

  /// A malformed escape is itself.
  private static func decode(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = Character(Unicode.Scalar(bytes[index + 1])).hexDigitValue,
        let low = Character(Unicode.Scalar(bytes[index + 2])).hexDigitValue
      {
        result.append(UInt8(high * 16 + low))
        index += 3
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }
}
