import HTTPModel
import REST

/// What must hold for any texts as path templates and request paths: a template that is printed is read as the same,
/// and the trie finds what trying all templates finds.
///
/// One per line, told apart by its first letter: `G`, `P`, `H` and `*` begin a template for GET, POST, HEAD and any
/// method; `g`, `p` and `h` a request's path.
package struct TemplateCheck {
  /// Templates that were accepted, and requests that met one.
  package private(set) var accepted = 0
  package private(set) var matched = 0
  package private(set) var fault: String?
  private var entries: [SlowMatcher.Entry] = []

  package init(_ input: [UInt8]) {
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 40)
    for line in lines {
      guard let method = Self.method(line[line.startIndex], requests: false) else { continue }
      add(String(decoding: line.dropFirst(), as: UTF8.self), method)
    }
    var builder = RouteTrieBuilder()
    var kept: [SlowMatcher.Entry] = []
    for entry in entries where builder.insert(method: entry.method, template: entry.template, target: kept.count) == nil
    {
      kept.append(entry)
    }
    let matcher = SlowMatcher(kept)
    let trie = builder.build()
    for line in lines where fault == nil {
      guard let method = Self.method(line[line.startIndex], requests: true) else { continue }
      request(Array(line.dropFirst()), method, trie, matcher)
    }
  }

  private static func method(_ letter: UInt8, requests: Bool) -> String? {
    switch (letter, requests) {
    case (UInt8(ascii: "G"), false), (UInt8(ascii: "g"), true): "GET"
    case (UInt8(ascii: "P"), false), (UInt8(ascii: "p"), true): "POST"
    case (UInt8(ascii: "H"), false), (UInt8(ascii: "h"), true): "HEAD"
    case (UInt8(ascii: "*"), false): "*"
    default: nil
    }
  }

  // MARK: Templates

  private mutating func add(_ text: String, _ method: String) {
    do throws(TemplateError) {
      let template = try PathTemplate.parse(text)
      accepted += 1
      entries.append(SlowMatcher.Entry(method: method, template: template))
      let printed = Self.print(template)
      let again = try PathTemplate.parse(printed)
      if again.segments != template.segments || again.verb != template.verb
        || !again.captures.elementsEqual(template.captures, by: Self.isSame)
      {
        fault = "\(text.debugDescription) is printed as \(printed.debugDescription), which means something else"
      }
    } catch {
      if error.column < 1 || error.column > text.unicodeScalars.count + 1 || error.message.isEmpty {
        fault = "\(text.debugDescription) is refused without a place: \(error)"
      }
      if entries.last?.template.text == text { fault = "\(text.debugDescription) printed is refused: \(error)" }
    }
  }

  private static func isSame(_ one: PathTemplate.Capture, _ other: PathTemplate.Capture) -> Bool {
    one.fieldPath == other.fieldPath && one.segments == other.segments && one.isMultiSegment == other.isMultiSegment
  }

  private static func print(_ template: PathTemplate) -> String {
    var text = ""
    for (index, segment) in template.segments.enumerated() {
      let capture = template.captures.first { $0.segments.contains(index) }
      text += "/"
      if let capture, capture.segments.lowerBound == index { text += "{\(capture.fieldPath)=" }
      switch segment {
      case .literal(let literal): text += literal.text
      case .wildcard: text += "*"
      case .deepWildcard: text += "**"
      }
      if let capture, capture.segments.upperBound == index + 1 { text += "}" }
    }
    return text + (template.verb.map { ":\($0.text)" } ?? "")
  }

  // MARK: Requests

  private mutating func request(_ path: [UInt8], _ method: String, _ trie: RouteTrie, _ matcher: SlowMatcher) {
    var ranges: [Range<Int>] = []
    let outcome = trie.match(method: HTTPMethod(method), path: path.span, captures: &ranges)
    let all = matcher.matches(path)
    let able = all.filter { matcher.service($0.index, method) > 0 && !matcher.isHidden($0, among: all) }
    let asked = "\(method) \(text(path)) against \(matcher.entries.map { "\($0.method) \($0.template.text)" })"
    switch outcome {
    case .notFound:
      if let missed = all.first { fault = "\(asked): not found, but \(missed) fits" }
    case .methodNotAllowed(let allow):
      if all.isEmpty { fault = "\(asked): 405, but nothing fits" }
      if let missed = able.first { fault = "\(asked): 405, but \(missed) fits" }
      if allow.contains(method) || allow != allow.sorted() { fault = "\(asked): 405 with Allow \(allow)" }
    case .matched(let target):
      matched += 1
      guard let found = able.first(where: { $0.index == target }) else {
        fault = "\(asked): \(target) is found, but does not fit"
        return
      }
      if ranges.map({ Array(path[$0]) }) != found.captures {
        fault = "\(asked): captures \(ranges), expected \(found.captures.map(text))"
      }
      func key(_ match: SlowMatcher.Match) -> [Int] { match.rank + [matcher.service(match.index, method)] }
      if let better = able.first(where: { key(found).lexicographicallyPrecedes(key($0)) }) {
        fault = "\(asked): \(found) is found, but \(better) goes before it"
      }
    }
  }
}
