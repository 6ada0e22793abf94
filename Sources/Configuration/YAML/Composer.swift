import Diagnostics

/// Bounds on one file, so that no input can exhaust stack, memory or time.
struct DocumentLimits: Sendable {
  /// Of one file.
  var bytes = 4 << 20
  /// Levels of lists and mappings, through aliases too.
  var depth = 48
  /// Values of one file, those behind an alias counted at each use: an alias bomb ends here.
  var nodes = 200_000
}

/// Builds the tree of one file from its events.
///
/// A syntax error or a limit ends the file; repeated keys, tags and keys that are no text are noted and skipped.
struct Composer: ~Copyable {
  private let events: EventStream
  private let limits: DocumentLimits
  private var anchors: [String: Node] = [:]
  private var nodes = 0
  private(set) var faults: [Diagnostic] = []

  /// The root of the only document; nil when the file could not be read to its end.
  static func compose(
    _ bytes: [UInt8], file: String, limits: DocumentLimits = DocumentLimits()
  ) -> (root: Node?, faults: [Diagnostic]) {
    let top = SourcePosition(file: file, line: 1, column: 1)
    if bytes.count > limits.bytes {
      let fault = Diagnostic(
        at: top, "the file is larger than \(limits.bytes) bytes", cure: "split it with `include:`")
      return (nil, [fault])
    }
    if let offset = TextPlace.firstInvalidByte(in: bytes) {
      let place = TextPlace.position(of: offset, in: bytes, file: file)
      return (nil, [Diagnostic(at: place, "not UTF-8", cure: "save the file as UTF-8")])
    }
    do throws(Diagnostic) {
      var composer = Composer(try EventStream(bytes, file: file), limits)
      do throws(Diagnostic) {
        let root = try composer.document(emptyAt: top)
        return (root, composer.faults)
      } catch {
        return (nil, composer.faults + [error])
      }
    } catch {
      return (nil, [error])
    }
  }

  private init(_ events: consuming EventStream, _ limits: DocumentLimits) {
    self.events = events
    self.limits = limits
  }

  private mutating func document(emptyAt top: SourcePosition) throws(Diagnostic) -> Node {
    _ = try events.next()
    guard case .documentStart = try events.next().kind else { return .empty(at: top) }
    let root = try node(try events.next(), depth: 1)
    _ = try events.next()
    let after = try events.next()
    if case .documentStart = after.kind {
      throw Diagnostic(
        at: after.position, "a second document begins here", cure: "write one document in a file; use `include:`")
    }
    return root
  }

  private mutating func node(_ event: YAMLEvent, depth: Int) throws(Diagnostic) -> Node {
    if depth > limits.depth { throw tooDeep(event.position) }
    if let tag = event.tag, !Self.coreTags.contains(tag) {
      faults.append(
        Diagnostic(at: event.position, "the tag \(quoted(tag)) is not known here", cure: "write the value without it"))
    }
    var result: Node
    switch event.kind {
    case .alias(let name): return try alias(name, at: event.position, depth: depth)
    case .scalar(let text, let isPlain, let offset):
      let isText = !isPlain || event.tag?.hasSuffix(":str") == true
      result = Node(
        content: .scalar(.init(text: text, isPlain: !isText, offset: offset)), position: event.position)
      try count(1, at: event.position)
    case .sequenceStart: result = try sequence(event, depth: depth)
    case .mappingStart: result = try mapping(event, depth: depth)
    default: throw Diagnostic(at: event.position, "not valid YAML: a value is missing")
    }
    if let anchor = event.anchor { anchors[anchor] = result }
    return result
  }

  private mutating func sequence(_ start: YAMLEvent, depth: Int) throws(Diagnostic) -> Node {
    try count(1, at: start.position)
    var result = Node(content: .sequence([]), position: start.position)
    var elements: [Node] = []
    while true {
      let event = try events.next()
      if case .sequenceEnd = event.kind { break }
      let element = try node(event, depth: depth + 1)
      result.include(element)
      elements.append(element)
    }
    result.content = .sequence(elements)
    return result
  }

  private mutating func mapping(_ start: YAMLEvent, depth: Int) throws(Diagnostic) -> Node {
    try count(1, at: start.position)
    var result = Node(content: .mapping([]), position: start.position)
    var entries: [Node.Entry] = []
    var places: [String: SourcePosition] = [:]
    var merged: [Node] = []
    while true {
      let event = try events.next()
      if case .mappingEnd = event.kind { break }
      let key = try node(event, depth: depth + 1)
      let value = try node(try events.next(), depth: depth + 1)
      result.include(value)
      guard case .scalar(let scalar) = key.content else {
        faults.append(Diagnostic(at: event.position, "a key is \(key.kindName)", cure: "write a name"))
        continue
      }
      if scalar.isPlain, scalar.text == "<<" {
        merged.append(value)
      } else if let first = places[scalar.text] {
        faults.append(.givenTwice(scalar.text, at: event.position, first: first))
      } else {
        places[scalar.text] = event.position
        entries.append(Node.Entry(key: scalar.text, keyPosition: event.position, value: value))
      }
    }
    for value in merged { merge(value, into: &entries, &places) }
    result.content = .mapping(entries)
    return result
  }

  /// `<<: *name`: adds what the mapping does not say itself; of several the first wins.
  private mutating func merge(
    _ value: Node, into entries: inout [Node.Entry], _ places: inout [String: SourcePosition]
  ) {
    switch value.content {
    case .mapping(let more):
      for entry in more where places[entry.key] == nil {
        places[entry.key] = entry.keyPosition
        entries.append(entry)
      }
    case .sequence(let elements):
      for element in elements {
        guard case .mapping = element.content else {
          faults.append(
            Diagnostic(at: element.position, "`<<` merges \(element.kindName)", cure: "name mappings only"))
          continue
        }
        merge(element, into: &entries, &places)
      }
    case .scalar:
      faults.append(
        Diagnostic(at: value.position, "`<<` merges \(value.kindName)", cure: "name a mapping, as in `<<: *base`"))
    }
  }

  private mutating func alias(_ name: String, at position: SourcePosition, depth: Int) throws(Diagnostic) -> Node {
    guard let node = anchors[name] else {
      let near = Nearest.match(name, in: anchors.keys.sorted())
      throw Diagnostic(
        at: position, "no anchor \(quoted(name)) is set before this place",
        cure: near.map { "did you mean \(quoted("*" + $0))?" } ?? "set it with \(quoted("&" + name))")
    }
    if depth + node.height - 1 > limits.depth { throw tooDeep(position) }
    try count(node.weight, at: position)
    return node
  }

  private mutating func count(_ more: Int, at position: SourcePosition) throws(Diagnostic) {
    nodes &+= more
    if nodes > limits.nodes {
      throw Diagnostic(
        at: position, "more than \(limits.nodes) values, aliases counted at each use",
        cure: "use fewer aliases or split the file")
    }
  }

  private func tooDeep(_ position: SourcePosition) -> Diagnostic {
    Diagnostic(at: position, "nested deeper than \(limits.depth) levels", cure: "nothing here needs that many")
  }

  private static let coreTags: Set<String> = Set(
    ["str", "int", "float", "bool", "null", "seq", "map"].map { "tag:yaml.org,2002:\($0)" } + ["!"])
}

extension Node {
  /// Counts a child in.
  fileprivate mutating func include(_ child: Node) {
    weight &+= child.weight
    height = max(height, child.height + 1)
  }
}

extension Diagnostic {
  static func givenTwice(_ key: String, at position: SourcePosition, first: SourcePosition) -> Diagnostic {
    Diagnostic(
      at: position, "\(quoted(key)) is given twice, first at \(first.file):\(first.line):\(first.column)",
      cure: "keep one of them")
  }
}
