import Bytes
import ProtobufSchema
package import RPC

extension ComparisonPlan {
  /// Compares the JSON of an answer as the rest side wrote it with the JSON that the gateway writes of the same message:
  /// what a REST caller will find spelt otherwise.
  ///
  /// Not different are: the order of members, blanks, escapes in texts, and numbers written otherwise, as 1.0 and 1. Members
  /// that the schema lacks are not looked at. Fields that the rules ignore are left out.
  ///
  /// - Parameters:
  ///   - old: the rest side's, without its envelope.
  ///   - new: the gateway's.
  ///   - field: the number of the message's field that the JSON is of; nil: it is of the whole message.
  ///   - keepsValues: whether differences show texts themselves.
  /// - Throws: for what is no JSON.
  package func compareSpelling(
    old: Span<UInt8>, new: Span<UInt8>, field: UInt32? = nil, keepsValues: Bool
  ) throws(JSONFault) -> [Difference] {
    guard let whole = messages.first else { return [] }
    var run = SpellingRun(self, keepsValues: keepsValues)
    if let field {
      guard let position = position(of: field, in: whole) else { return [] }
      let index = Int(whole.fieldsStart) + position
      if !fields[index].isIgnored { try run.field(index, old, new, at: run.path(of: index, in: "")) }
    } else {
      try run.value(old, new, .message(whole.form == .plain ? 0 : nil), at: "")
    }
    return run.list.all
  }
}

/// One walk over two JSON texts of one message.
struct SpellingRun {
  /// What a value is of.
  enum Place {
    /// Index into ``ComparisonPlan/messages``; nil for one whose members the schema does not name.
    case message(Int?)
    /// One value of a field, index into ``ComparisonPlan/fields``.
    case one(Int)
    /// The whole of a map, by the field of its values.
    case map(Int)
    case list(Int)
  }

  let plan: ComparisonPlan
  let keepsValues: Bool
  var list = DifferenceList()
  private var scanned = 0
  private var known: [Int: Names] = [:]

  /// Bytes that are passed over; beyond, the walk ends. What is deep is passed over once for each level.
  private static let maximumScanned = 32 << 20

  init(_ plan: ComparisonPlan, keepsValues: Bool) {
    self.plan = plan
    self.keepsValues = keepsValues
  }

  private var isOver: Bool { list.isFull || scanned > Self.maximumScanned }

  func path(of index: Int, in path: String) -> String {
    let name = plan.fields[index].isHidden ? "" : plan.names[index]
    let all = path.isEmpty || name.isEmpty ? path + name : "\(path).\(name)"
    return plan.fields[index].cardinality == .singular ? all : all + "[]"
  }

  /// The value of a whole field.
  mutating func field(_ index: Int, _ old: Span<UInt8>, _ new: Span<UInt8>, at path: String) throws(JSONFault) {
    let field = plan.fields[index]
    switch field.cardinality {
    case .singular: try value(old, new, .one(index), at: path)
    case .repeated: try value(old, new, .list(index), at: path)
    case .map:
      let entry = Int(field.node)
      let value = plan.messages.indices.contains(entry) ? Int(plan.messages[entry].valueField) : -1
      try self.value(old, new, plan.fields.indices.contains(value) ? .map(value) : .message(nil), at: path)
    }
  }

  mutating func value(_ old: Span<UInt8>, _ new: Span<UInt8>, _ place: Place, at path: String) throws(JSONFault) {
    if isOver { return }
    scanned += old.count + new.count
    let (left, right) = (JSONShape(old), JSONShape(new))
    switch (left, right) {
    case (.object, .object): try members(old, new, place, at: path)
    case (.array, .array): try elements(old, new, place, at: path)
    default:
      if left == right, try JSONShape.areSame(old, new, left) { return }
      list.add(Difference(.form, at: path, rest: try shown(old, place), rpc: try shown(new, place)))
    }
  }

  // MARK: Lists

  private mutating func elements(
    _ old: Span<UInt8>, _ new: Span<UInt8>, _ place: Place, at path: String
  ) throws(JSONFault) {
    var inner = Place.message(nil)
    if case .list(let field) = place { inner = .one(field) }
    var left = JSONScanner(old)
    var right = JSONScanner(new)
    try left.expect(UInt8(ascii: "["))
    try right.expect(UInt8(ascii: "["))
    var (isFirst, isOthersFirst) = (true, true)
    while !isOver {
      let (hasLeft, hasRight) = (try left.nextElement(&isFirst), try right.nextElement(&isOthersFirst))
      guard hasLeft, hasRight else {
        if hasLeft != hasRight {
          list.add(Difference(.form, at: path, rest: try shown(old, place), rpc: try shown(new, place)))
        }
        return
      }
      let (mine, other) = (try left.valueRange(), try right.valueRange())
      try value(old.extracting(mine), new.extracting(other), inner, at: path)
    }
  }

  // MARK: Objects

  private mutating func members(
    _ old: Span<UInt8>, _ new: Span<UInt8>, _ place: Place, at path: String
  ) throws(JSONFault) {
    var left: [String: Range<Int>] = [:]
    var scanner = JSONScanner(new)
    try scanner.expect(UInt8(ascii: "{"))
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) { left[name] = try scanner.valueRange() }
    let message = self.message(in: place)
    let names = message.map { self.names(of: $0) } ?? Names()
    var other = JSONScanner(old)
    try other.expect(UInt8(ascii: "{"))
    isFirst = true
    while let name = try other.nextMember(&isFirst) {
      let range = try other.valueRange()
      if isOver { return }
      if message != nil {
        guard let index = names.fields[name] else { continue }
        let spelling = names.spellings[index]?.first { left[$0] != nil }
        let found = spelling.flatMap { left.removeValue(forKey: $0) }
        if plan.fields[index].isIgnored { continue }
        let inside = self.path(of: index, in: path)
        guard let spelling, let found else {
          list.add(Difference(.form, at: inside, rest: try shown(old.extracting(range), whole(index))))
          continue
        }
        if spelling != name { list.add(Difference(.name, at: inside, rest: .text(name), rpc: .text(spelling))) }
        try field(index, old.extracting(range), new.extracting(found), at: inside)
      } else {
        let inner = self.inner(of: place)
        guard let found = left.removeValue(forKey: name) else {
          list.add(Difference(.form, at: path, rest: try shown(old.extracting(range), inner)))
          continue
        }
        try value(old.extracting(range), new.extracting(found), inner, at: path)
      }
    }
    for (name, range) in left.sorted(by: { $0.key < $1.key }) {
      var (inside, inner) = (path, self.inner(of: place))
      if message != nil {
        guard let index = names.fields[name], !plan.fields[index].isIgnored else { continue }
        (inside, inner) = (self.path(of: index, in: path), whole(index))
      }
      list.add(Difference(.form, at: inside, rpc: try shown(new.extracting(range), inner)))
    }
  }

  /// The message whose fields an object's members are, index into ``ComparisonPlan/messages``.
  private func message(in place: Place) -> Int? {
    switch place {
    case .message(let index): return index
    case .one(let field):
      let node = Int(plan.fields[field].node)
      return plan.fields[field].form == .plain && plan.messages.indices.contains(node) ? node : nil
    case .map, .list: return nil
    }
  }

  /// What the members of an object are that are no fields: the values of a map, or parts of the same value.
  private func inner(of place: Place) -> Place {
    if case .map(let value) = place { .one(value) } else { place }
  }

  private func whole(_ field: Int) -> Place { plan.fields[field].cardinality == .repeated ? .list(field) : .one(field) }

  /// The names of a message's fields, both ways.
  private struct Names {
    var fields: [String: Int] = [:]
    var spellings: [Int: [String]] = [:]
  }

  /// Made once for each message that is met.
  private mutating func names(of message: Int) -> Names {
    if let names = known[message] { return names }
    var proto: [UInt32: String] = [:]
    for field in plan.schema.messages[Int(plan.messages[message].message)].fields {
      proto[UInt32(bitPattern: field.number)] = field.name
    }
    var names = Names()
    for index in plan.messages[message].fields {
      var both = [plan.names[index]]
      if let name = proto[plan.fields[index].number], name != both[0] { both.append(name) }
      names.spellings[index] = both
      for name in both where names.fields[name] == nil { names.fields[name] = index }
    }
    known[message] = names
    return names
  }
}
